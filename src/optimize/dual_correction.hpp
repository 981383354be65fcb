#pragma once

#include <functional>
#include <optional>

#include "optimize/admm_space.hpp"

namespace bregmax::internal {

// Where the multipliers of an iterate belong to.
struct DualCorrectionPoint {
  const Vector& divergence;         // of the set
  Eigen::Map<const Matrix> slopes;  // pieces x features
};

// Makes the multipliers of an iterate prove more than they would.
//
// They have the right signs, and a Lagrangian whose derivatives by the unknowns are small; but small beside the
// multipliers, not beside lambda, which the derivatives by the slopes must stay below: where lambda is small, a bound
// can only shrink all multipliers until they do, and itself with them. Here the multipliers are moved until the
// derivatives vanish, by least squares. Each multiplier's weight is its distance from its ends over how far its
// constraint is from being active, as in an interior point method. What a move takes beyond an end is cut off there,
// and the next round starts from what is left.
class DualCorrection {
 public:
  explicit DualCorrection(AdmmSpace& space);

  // slope_multipliers: of the copies of the slopes, pieces x features; they stay within their norms. Goes on until the
  // derivatives are `enough`. Returns how many steps it took, each as much work as an iteration, and at most
  // `most_steps`; none: stop() came true. Afterwards the space is factored with other weights.
  std::optional<int> correct(const DualCorrectionPoint& point, Matrix slope_multipliers, double enough, int most_steps,
                             const std::function<bool()>& stop, EntryMultipliers& multipliers);

 private:
  void set_residual(const EntryMultipliers& multipliers, const Matrix& slope_multipliers);
  double residual_norm() const;
  void set_weights(const DualCorrectionPoint& point, const EntryMultipliers& multipliers,
                   const Matrix& slope_multipliers);
  void factor();
  void apply_matrix(const Vector& x, Vector& image);
  int solve(int most_steps, const std::function<bool()>& stop);
  void move(EntryMultipliers& multipliers, Matrix& slope_multipliers);
  Eigen::Map<const Matrix> slopes_of(const Vector& x) const { return {x.data() + z_, pieces_, features_}; }
  Eigen::Map<Matrix> slopes_of(Vector& x) const { return {x.data() + z_, pieces_, features_}; }

  AdmmSpace& space_;
  Index z_, pieces_, features_;
  double proximal_ = 0;
  Vector residual_, x_, preconditioned_, direction_, image_;  // of the unknowns
  Vector of_entry_, convexity_weight_, hinge_weight_;         // of the set
  Vector coupled_weight_, coupled_image_;
  Matrix slope_weight_;
};

}  // namespace bregmax::internal
