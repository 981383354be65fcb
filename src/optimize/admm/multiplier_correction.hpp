#pragma once

#include <functional>

#include "optimize/admm/space.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

// The iterate that multipliers belong to.
struct CorrectionPoint {
  const Vector& divergence;         // of the set
  Eigen::Map<const Matrix> slopes;  // pieces x features
};

// Corrects the multipliers of an iterate so that they prove a better bound.
//
// The derivatives of the Lagrangian by the slopes must stay below lambda. If lambda is small, those of an iterate do
// not. Here the multipliers are moved by weighted least squares until the derivatives vanish. A multiplier's weight is
// its distance from its ends over the distance of its constraint from being active, as in an interior point method.
// Moves are cut off at the ends; the next round starts from what is left. Targets need no correction.
class MultiplierCorrection {
 public:
  explicit MultiplierCorrection(AdmmSpace& space);

  // For a set of another size; abandons a correction that has begun.
  void resize_to_set();

  // From the multipliers of an iterate and those of its copies of the slopes (pieces x features).
  void begin(EntryMultipliers multipliers, Matrix slope_multipliers);
  bool has_begun() const { return numbers_.begun != 0; }
  // Continues until the derivatives are at most `enough`, or for about `most_steps` steps, each as much work as an
  // iteration. False: stop() became true; the next call repeats the round that was stopped, also from a saved state.
  // Afterwards the space is factored with other weights.
  bool go_on(const CorrectionPoint& point, double enough, int most_steps, const std::function<bool()>& stop);
  int steps() const { return numbers_.steps; }
  // Returns the result and ends the correction.
  EntryMultipliers take();

  RawParts raw_state();

 private:
  struct Numbers {
    int begun = 0, round = 0, steps = 0;
  };

  void add_to_hinges(const Vector& values, double minus_sign);
  void set_weighted_differences();
  void set_residual();
  double residual_norm() const;
  void set_weights(const CorrectionPoint& point);
  bool factor();
  void apply_matrix(const Vector& x, Vector& image);
  int solve(int most_steps, const std::function<bool()>& stop);
  void move();
  double largest_slope_multiplier(Index piece) const;
  Eigen::Map<const Matrix> slopes_of(const Vector& x) const { return {x.data() + z_, pieces_, features_}; }
  Eigen::Map<Matrix> slopes_of(Vector& x) const { return {x.data() + z_, pieces_, features_}; }

  AdmmSpace& space_;
  Index z_ = space_.offsets(), pieces_ = space_.units().pieces, features_ = space_.units().features;
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
