#pragma once

#include <optional>

#include "bregmax/divergence/smooth.hpp"

namespace bregmax {

// phi_T(x) = T log sum_k exp((<slopes.row(k), x> + offsets(k)) / T): within T log K above the max-affine generator of
// the same pieces, differentiable, and without its ties. T -> 0 is max-affine.
//
// With q(x) the softmax of the scores at x divided by T, the gradient is slopes^T q(x) and
// D(point, reference) = T KL(q(reference) || q(point)).
class SmoothedMaxAffine final : public SmoothDivergence {
 public:
  SmoothedMaxAffine(Matrix slopes, Vector offsets, double temperature);  // temperature > 0

  const Matrix& slopes() const { return slopes_; }
  const Vector& offsets() const { return offsets_; }
  double temperature() const { return temperature_; }
  Index pieces() const { return slopes_.rows(); }

  std::string name() const override { return "smoothed_max_affine"; }
  Index dimension() const override { return slopes_.cols(); }

 protected:
  double generator(const VectorView& point) const override;
  void gradient(const VectorView& reference, VectorSpan out) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;
  void gradients_of_block(const MatrixView& references, MatrixSpan out) const override;
  void divergences_of_block(const MatrixView& points, const VectorView& reference, VectorSpan out) const override;
  bool centering_helps() const override { return true; }

 private:
  friend class LogSumExpQuadratic;  // which has such pieces

  Matrix slopes_;
  Vector offsets_;
  double temperature_;
};

// The affine pieces of a max-affine divergence, smoothed (temperature > 0) or not; nothing for other divergences.
struct MaxAffinePieces {
  const Matrix& slopes;
  const Vector& offsets;
  double temperature;
};
std::optional<MaxAffinePieces> max_affine_pieces(const Divergence& divergence);
// SmoothedMaxAffine for temperature > 0, MaxAffine for temperature 0. Only the latter has a resolution: smoothed
// divergences of references with nearly the same weights are nearly equal for a reason.
std::shared_ptr<const Divergence> make_max_affine(Matrix slopes, Vector offsets, double temperature,
                                                  double resolution = 0);

}  // namespace bregmax
