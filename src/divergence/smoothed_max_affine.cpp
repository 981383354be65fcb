#include "bregmax/divergence/smoothed_max_affine.hpp"

#include <algorithm>
#include <cmath>

#include "bregmax/divergence/max_affine.hpp"
#include "core/blas.hpp"
#include "core/products.hpp"
#include "divergence/checks.hpp"
#include "divergence/excess.hpp"

namespace bregmax {
namespace {

// T log sum_k exp(scores(k) / T) without overflow; leaves the terms, scaled by their largest, in `scores`.
double soft_maximum(VectorSpan scores, double temperature) {
  const double largest = scores.maxCoeff();
  scores = ((scores.array() - largest) / temperature).exp();
  return largest + temperature * std::log(scores.sum());
}

// D(point, reference) as a function of the point alone.
class FixedReference {
 public:
  FixedReference(const SmoothedMaxAffine& generator, const VectorView& reference)
      : temperature_(generator.temperature()),
        log_weights_(internal::apply(generator.slopes(), reference) + generator.offsets()) {
    weights_ = log_weights_;
    log_weights_.array() -= soft_maximum(weights_, temperature_);
    weights_ /= weights_.sum();
  }

  // With q = q(reference) and v_k = <a_k - sum_j q_j a_j, point - reference>, D = T log sum_k q_k exp(v_k / T), in
  // which sum_k q_k v_k = 0: a function of the difference of the rows alone. For small v / T that is
  // T log(1 + sum_k q_k excess(v_k / T)) with every term >= 0; else it is a soft maximum, shifted by the largest term
  // so that nothing overflows. growth: <a_k, point - reference>, overwritten.
  double divergence(VectorSpan growth) const {
    growth.array() -= weights_.dot(growth);
    if (growth.cwiseAbs().maxCoeff() <= temperature_) {
      double sum = 0;
      for (Index k = 0; k < growth.size(); ++k) sum += weights_(k) * internal::exp_excess(growth(k) / temperature_);
      return temperature_ * std::log1p(sum);
    }
    growth += log_weights_;
    return std::max(0.0, soft_maximum(growth, temperature_));
  }

 private:
  double temperature_;
  Vector log_weights_, weights_;  // T log q, q
};

Eigen::Map<Vector> row_span(Matrix& matrix, Index row) { return {matrix.row(row).data(), matrix.cols()}; }

}  // namespace

SmoothedMaxAffine::SmoothedMaxAffine(Matrix slopes, Vector offsets, double temperature)
    : slopes_(std::move(slopes)), offsets_(std::move(offsets)), temperature_(temperature) {
  internal::check_pieces(slopes_, offsets_);
  internal::require(temperature_ > 0 && temperature_ <= internal::kLargestEntry,
                    "the temperature is {}; allowed: > 0 and finite (0 is max_affine)", temperature_);
}

double SmoothedMaxAffine::generator(const VectorView& point) const {
  Vector scores = internal::apply(slopes_, point) + offsets_;
  return soft_maximum(scores, temperature_);
}

void SmoothedMaxAffine::gradient(const VectorView& reference, VectorSpan out) const {
  Vector scores = internal::apply(slopes_, reference) + offsets_;
  soft_maximum(scores, temperature_);
  out = internal::apply_transposed(slopes_, scores / scores.sum());
}

double SmoothedMaxAffine::divergence(const VectorView& point, const VectorView& reference) const {
  Vector growth = internal::apply(slopes_, point - reference);
  return FixedReference(*this, reference).divergence(growth);
}

// A MatrixSpan is a view, passed by value as everywhere. NOLINTNEXTLINE(performance-unnecessary-value-param)
void SmoothedMaxAffine::gradients_of_block(const MatrixView& references, MatrixSpan out) const {
  Matrix scores = internal::product_transposed(references, slopes_);
  for (Index r = 0; r < scores.rows(); ++r) {
    auto of_row = row_span(scores, r);
    of_row += offsets_;
    soft_maximum(of_row, temperature_);
    of_row /= of_row.sum();
  }
  internal::gemm(false, false, scores.rows(), slopes_.cols(), slopes_.rows(), 1, scores.data(), scores.cols(),
                 slopes_.data(), slopes_.cols(), 0, out.data(), out.outerStride());
}

void SmoothedMaxAffine::divergences_of_block(const MatrixView& points, const VectorView& reference,
                                             VectorSpan out) const {
  const FixedReference fixed(*this, reference);
  Matrix growth = internal::product_transposed(points.rowwise() - reference.transpose(), slopes_);
  for (Index p = 0; p < growth.rows(); ++p) out(p) = fixed.divergence(row_span(growth, p));
}

std::optional<MaxAffinePieces> max_affine_pieces(const Divergence& divergence) {
  if (const auto* plain = dynamic_cast<const MaxAffine*>(&divergence)) {
    return MaxAffinePieces{plain->slopes(), plain->offsets(), 0};
  }
  const auto* smooth = dynamic_cast<const SmoothedMaxAffine*>(&divergence);
  if (smooth == nullptr) return std::nullopt;
  return MaxAffinePieces{smooth->slopes(), smooth->offsets(), smooth->temperature()};
}

std::shared_ptr<const Divergence> make_max_affine(Matrix slopes, Vector offsets, double temperature,
                                                  double resolution) {
  if (temperature == 0) return std::make_shared<MaxAffine>(std::move(slopes), std::move(offsets), resolution);
  return std::make_shared<SmoothedMaxAffine>(std::move(slopes), std::move(offsets), temperature);
}

}  // namespace bregmax
