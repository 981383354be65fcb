#include "bregmax/divergence/smooth.hpp"

#include <algorithm>

#include "core/blas.hpp"
#include "divergence/checks.hpp"
#include "divergence/point_scores.hpp"
#include "divergence/streaming.hpp"

namespace bregmax {

using internal::check_rows;
using internal::kWorkForThreads;
using internal::PointScores;
using internal::row_vector;

namespace {

// The products of a block of points and a block of references stay in the second-level cache.
constexpr Index kBlockPoints = 64;
constexpr Index kBlockReferences = 512;

// Calls work(first row, number of rows) for blocks of rows, on several threads if there are enough `operations` in all.
template <class Work>
void for_each_block(Index rows, double operations, const Work& work) {
  const Index blocks = (rows + kBlockPoints - 1) / kBlockPoints;
#pragma omp parallel for schedule(dynamic) if (blocks > 1 && operations > kWorkForThreads)
  for (Index block = 0; block < blocks; ++block) {
    work(block * kBlockPoints, std::min(kBlockPoints, rows - block * kBlockPoints));
  }
}

}  // namespace

// Measured from an origin c (the mean of the references) at which phi is also tilted to have slope 0,
//   D(x, y) = D(x, c) - D(y, c) - <g(y) - g(c), x - y>,
// and without an origin phi(x) - phi(y) - <g(y), x - y>. Both are point_part + reference_part - <slope, x - c>.
class SmoothReferenceSet final : public internal::ScoringReferenceSet {
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
    for_each_block(references.rows(), static_cast<double>(references.size()) * 20, [&](Index begin, Index count) {
      reference_part_.segment(begin, count) = -heights(references.middleRows(begin, count));
      for (Index r = begin; r < begin + count; ++r) {
        reference_part_(r) += slopes_.row(r).dot(references.row(r) - origin_.transpose());
      }
    });
    if (references.size() == 0) return;
    largest_part_ = reference_part_.maxCoeff();
    largest_slope_ = slopes_.rowwise().norm().maxCoeff();
  }

  Index size() const override { return slopes_.rows(); }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    check(points);
    internal::check_output(out, points.rows(), size());
    const bool stream = internal::worth_streaming(out.rows(), out.cols());
    const double work = static_cast<double>(points.size()) * static_cast<double>(size() + 20);
    for_each_block(points.rows(), work, [&](Index begin, Index count) {
      measure_block(points.middleRows(begin, count), out.middleRows(begin, count), stream);
    });
  }

  // Scores are D without the point's own part: one GEMM, and nothing else, for each pair.
  PointScores scores_of(const MatrixView& points) const override {
    check(points);
    const auto from_origin = std::make_shared<Matrix>(shifted(points));
    Vector bound(points.rows());
    for (Index p = 0; p < points.rows(); ++p) bound(p) = largest_part_ + largest_slope_ * from_origin->row(p).norm();
    const auto scores = [this, from_origin](Index first, MatrixSpan out) {
      negative_products(*from_origin, first, out);
      out.rowwise() += reference_part_.segment(first, out.cols()).transpose();
    };
    return {scores, heights(points), std::move(bound)};
  }

 private:
  // products(p, r) = -<slope of reference first + r, shifted point p>
  void negative_products(const Matrix& shifted, Index first, MatrixSpan products) const {
    const Index features = slopes_.cols();
    internal::gemm(false, true, shifted.rows(), products.cols(), features, -1, shifted.data(), features,
                   slopes_.data() + first * features, features, 0, products.data(), products.outerStride());
  }

  // The points, measured from the origin.
  Matrix shifted(const MatrixView& points) const { return points.rowwise() - origin_.transpose(); }

  // phi at rows, after the shift and the tilt.
  Vector heights(const MatrixView& rows) const {
    Vector result(rows.rows());
    if (centered_) {
      divergence_.divergences_of_block(rows, origin_, result);
    } else {
      for (Index i = 0; i < rows.rows(); ++i) result(i) = divergence_.generator(row_vector(rows, i));
    }
    return result;
  }

  void check(const MatrixView& points) const {
    divergence_.check_points(points);
    if (points.cols() != slopes_.cols()) check_rows(points, slopes_.cols(), divergence_.name(), RowRole::kPoint);
  }

  void measure_block(const MatrixView& points, MatrixSpan out, bool stream) const {
    const Matrix from_origin = shifted(points);
    const Vector point_part = heights(points);
    Matrix products(points.rows(), std::min(kBlockReferences, size()));
    for (Index begin = 0; begin < size(); begin += kBlockReferences) {
      const Index count = std::min(kBlockReferences, size() - begin);
      negative_products(from_origin, begin, products.leftCols(count));
      for (Index p = 0; p < points.rows(); ++p) {
        internal::add_and_clamp(products.row(p).data(), reference_part_.data() + begin, point_part(p), count,
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
  double largest_part_ = 0, largest_slope_ = 0;  // the slope by its Euclidean norm
};

// A MatrixSpan is a view, passed by value as everywhere. NOLINTNEXTLINE(performance-unnecessary-value-param)
void SmoothDivergence::gradients_of_block(const MatrixView& references, MatrixSpan out) const {
  for (Index r = 0; r < references.rows(); ++r) {
    gradient(row_vector(references, r), Eigen::Map<Vector>(out.row(r).data(), out.cols()));
  }
}

void SmoothDivergence::divergences_of_block(const MatrixView& points, const VectorView& reference,
                                            VectorSpan out) const {
  for (Index p = 0; p < points.rows(); ++p) out(p) = divergence(row_vector(points, p), reference);
}

void SmoothDivergence::check_domain(const VectorView&, Index, RowRole) const {}

void SmoothDivergence::check(const MatrixView& rows, RowRole role) const {
  Divergence::check(rows, role);
  for (Index i = 0; i < rows.rows(); ++i) check_domain(row_vector(rows, i), i, role);
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
  for_each_block(references.rows(), static_cast<double>(references.size()) * 10, [&](Index begin, Index count) {
    gradients_of_block(references.middleRows(begin, count), out.middleRows(begin, count));
  });
  return out;
}

std::unique_ptr<ReferenceSet> SmoothDivergence::prepare(const MatrixView& references) const {
  return std::make_unique<SmoothReferenceSet>(*this, references);
}

}  // namespace bregmax
