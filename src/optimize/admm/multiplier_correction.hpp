#pragma once

#include <functional>

#include "optimize/admm/space.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

// The iterate that multipliers belong to.
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
// and the next round starts from what is left. Targets are not for it: their multipliers follow from the divergences,
// and need none.
class DualCorrection {
 public:
  explicit DualCorrection(AdmmSpace& space);

  // For a set of another size; what was begun is given up.
  void resize_to_set();

  // From the multipliers of an iterate, and those of its copies of the slopes, pieces x features, which stay within
  // their norms.
  void begin(EntryMultipliers multipliers, Matrix slope_multipliers);
  bool has_begun() const { return numbers_.begun != 0; }
  // Goes on until the derivatives are `enough`, or for about `most_steps` steps, each as much work as an iteration.
  // False: stop() came true. It then goes on with the round that was stopped, also from a state that was saved.
  // Afterwards the space is factored with other weights.
  bool go_on(const DualCorrectionPoint& point, double enough, int most_steps, const std::function<bool()>& stop);
  int steps() const { return numbers_.steps; }
  // What it has come to; ends it.
  EntryMultipliers take();

  RawParts raw_state();

 private:
  struct Numbers {
    int begun = 0, round = 0, steps = 0;
  };

  void set_residual();
  double residual_norm() const;
  void set_weights(const DualCorrectionPoint& point);
  bool factor();
  void apply_matrix(const Vector& x, Vector& image);
  int solve(int most_steps, const std::function<bool()>& stop);
  void move();
  double largest_slope_multiplier(Index piece) const;
  Eigen::Map<const Matrix> slopes_of(const Vector& x) const { return {x.data() + z_, pieces_, features_}; }
  Eigen::Map<Matrix> slopes_of(Vector& x) const { return {x.data() + z_, pieces_, features_}; }

  AdmmSpace& space_;
  Index z_, pieces_, features_;
  Numbers numbers_;
  EntryMultipliers multipliers_;
  Matrix slope_multipliers_;

  double proximal_ = 0;
  Vector residual_, x_, preconditioned_, direction_, image_;  // of the unknowns
  Vector of_entry_, convexity_weight_, hinge_weight_;         // of the set
  Vector coupled_weight_, of_coupled_;
  Matrix slope_weight_;
};

}  // namespace bregmax::internal
