#include "bregmax/divergence/smooth.hpp"

#include <algorithm>

#include "core/blas.hpp"
#include "divergence/checks.hpp"
#include "divergence/streaming.hpp"

namespace bregmax {

using internal::as_row;
using internal::check_rows;
using internal::kWorkForThreads;
using internal::row_vector;

namespace {

// The products of a block of points and a block of references stay in the second-level cache.
constexpr Index kBlockPoints = 64;
constexpr Index kBlockReferences = 512;

// What one thread needs to measure a block of points; allocated once.
struct Workspace {
  Matrix shifted;   // the points, measured from the origin
  Matrix products;  // a block of <slope, point>
  Vector heights;   // phi at the points
};

}  // namespace

// Measured from an origin c (the mean of the references) at which phi is also tilted to have slope 0,
//   D(x, y) = D(x, c) - D(y, c) - <g(y) - g(c), x - y>,
// which for c = none reads phi(x) - phi(y) - <g(y), x - y>. Both are point_part + reference_part - <slope, x - c>.
class SmoothReferenceSet final : public ReferenceSet {
 public:
  SmoothReferenceSet(const SmoothDivergence& divergence, const MatrixView& references)
      : divergence_(divergence),
        centered_(divergence.centering_helps() && references.rows() > 0),
        origin_(Vector::Zero(references.cols())),
        slopes_(divergence.gradients(references)),
        reference_part_(references.rows()) {
    if (centered_) {
      origin_ = references.colwise().mean();
      Vector slope_at_origin(origin_.size());
      divergence_.gradient(origin_, slope_at_origin);
      slopes_.rowwise() -= slope_at_origin.transpose();
    }
    for (Index r = 0; r < references.rows(); ++r) {
      reference_part_(r) =
          slopes_.row(r).dot(references.row(r) - origin_.transpose()) - height(row_vector(references, r));
    }
  }

  Index size() const override { return slopes_.rows(); }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    divergence_.check_points(points);
    if (points.cols() != slopes_.cols()) check_rows(points, slopes_.cols(), divergence_.name(), RowRole::kPoint);
    internal::check_output(out, points.rows(), size());
    const bool stream = internal::worth_streaming(out.rows(), out.cols());
    const Index blocks = (points.rows() + kBlockPoints - 1) / kBlockPoints;
    const double work = static_cast<double>(points.size()) * static_cast<double>(size() + 20);
#pragma omp parallel if (blocks > 1 && work > kWorkForThreads)
    {
      Workspace workspace{Matrix(kBlockPoints, points.cols()), Matrix(kBlockPoints, kBlockReferences),
                          Vector(kBlockPoints)};
#pragma omp for schedule(dynamic)
      for (Index block = 0; block < blocks; ++block) {
        const Index begin = block * kBlockPoints;
        const Index count = std::min(kBlockPoints, points.rows() - begin);
        measure_block(points.middleRows(begin, count), workspace, out.middleRows(begin, count), stream);
      }
    }
  }

 private:
  // phi at a row, after the shift and the tilt.
  double height(const VectorView& row) const {
    return centered_ ? divergence_.divergence(row, origin_) : divergence_.generator(row);
  }

  void measure_block(const MatrixView& points, Workspace& workspace, MatrixSpan out, bool stream) const {
    const Index features = points.cols();
    for (Index p = 0; p < points.rows(); ++p) {
      workspace.shifted.row(p) = points.row(p) - origin_.transpose();
      workspace.heights(p) = height(row_vector(points, p));
    }
    double* products = workspace.products.data();
    for (Index begin = 0; begin < size(); begin += kBlockReferences) {
      const Index count = std::min(kBlockReferences, size() - begin);
      internal::gemm(false, true, points.rows(), count, features, -1, workspace.shifted.data(), features,
                     slopes_.data() + begin * features, features, 0, products, count);
      for (Index p = 0; p < points.rows(); ++p) {
        internal::add_and_clamp(products + p * count, reference_part_.data() + begin, workspace.heights(p), count,
                                out.data() + p * out.outerStride() + begin, stream);
      }
    }
    if (stream) internal::finish_streaming();
  }

  const SmoothDivergence& divergence_;
  bool centered_;
  Vector origin_;
  Matrix slopes_;
  Vector reference_part_;
};

void SmoothDivergence::check_domain(const VectorView&, Index, RowRole) const {}

void SmoothDivergence::check_points(const MatrixView& points) const {
  check_rows(points, dimension(), name(), RowRole::kPoint);
  for (Index i = 0; i < points.rows(); ++i) check_domain(row_vector(points, i), i, RowRole::kPoint);
}

void SmoothDivergence::check_references(const MatrixView& references) const {
  check_rows(references, dimension(), name(), RowRole::kReference);
  for (Index i = 0; i < references.rows(); ++i) check_domain(row_vector(references, i), i, RowRole::kReference);
}

Vector SmoothDivergence::generator_values(const MatrixView& points) const {
  check_points(points);
  Vector values(points.rows());
#pragma omp parallel for schedule(static) if (static_cast <double>(points.size()) * 10 > kWorkForThreads)
  for (Index i = 0; i < points.rows(); ++i) values(i) = generator(row_vector(points, i));
  return values;
}

Matrix SmoothDivergence::gradients(const MatrixView& references) const {
  check_references(references);
  Matrix out(references.rows(), references.cols());
#pragma omp parallel for schedule(static) if (static_cast <double>(references.size()) * 10 > kWorkForThreads)
  for (Index i = 0; i < references.rows(); ++i) {
    gradient(row_vector(references, i), Eigen::Map<Vector>(out.data() + i * out.cols(), out.cols()));
  }
  return out;
}

double SmoothDivergence::value(const VectorView& point, const VectorView& reference) const {
  check_points(as_row(point));
  check_rows(as_row(reference), point.size(), name(), RowRole::kReference);
  check_references(as_row(reference));
  return divergence(point, reference);
}

std::unique_ptr<ReferenceSet> SmoothDivergence::prepare(const MatrixView& references) const {
  return std::make_unique<SmoothReferenceSet>(*this, references);
}

}  // namespace bregmax
