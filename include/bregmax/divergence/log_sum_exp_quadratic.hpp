#pragma once

#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax {

// phi(x) = ||G x||^2 + T log sum_k exp((<slopes.row(k), x> + offsets(k)) / T): convex for any parameters, and strictly
// convex if G has full rank. With one piece it is Mahalanobis, with G = 0 it is SmoothedMaxAffine.
//
// D(point, reference) = ||G (point - reference)||^2 + the divergence of the pieces; each part is computed without
// cancellation.
class LogSumExpQuadratic final : public SmoothDivergence {
 public:
  // roots: G, any number of rows, also none; temperature > 0.
  LogSumExpQuadratic(Matrix slopes, Vector offsets, double temperature, Matrix roots);

  const Matrix& slopes() const { return pieces_.slopes(); }
  const Vector& offsets() const { return pieces_.offsets(); }
  double temperature() const { return pieces_.temperature(); }
  const Matrix& roots() const { return roots_; }

  // By how much each feature counts: the norm of its column in (slopes less their mean, G); 0: it is not looked at.
  Vector feature_norms() const;
  // The Hessian of phi lies between these: the eigenvalues of 2 G'G, and for the upper one those of the pieces, too.
  double strong_convexity() const;
  double smoothness() const;

  std::string name() const override { return "log_sum_exp_quadratic"; }
  Index dimension() const override { return pieces_.dimension(); }

 protected:
  double generator(const VectorView& point) const override;
  void gradient(const VectorView& reference, VectorSpan out) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;
  void gradients_of_block(const MatrixView& references, MatrixSpan out) const override;
  void divergences_of_block(const MatrixView& points, const VectorView& reference, VectorSpan out) const override;
  bool centering_helps() const override { return true; }

 private:
  SmoothedMaxAffine pieces_;
  Matrix roots_;
};

}  // namespace bregmax
