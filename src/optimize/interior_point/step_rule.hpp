#pragma once

#include "optimize/interior_point/newton_system.hpp"

namespace bregmax::internal {

// The last step, and the residuals that the proximal terms left after it.
struct LastStep {
  double primal_step = 0, dual_step = 0;
  double longest = 0;             // the longer of the two, as it was taken
  double dual_residual = 0;       // of the primal proximal term
  double convexity_residual = 0;  // of the dual one
};

// Directions and step lengths of an iteration: Mehrotra's predictor and corrector, then Gondzio's centrality
// correctors, of which slacks and multipliers each take the part that makes their step longest.
class StepRule {
 public:
  StepRule(Iterate& iterate, NewtonSystem& newton, const InteriorPointSettings& settings)
      : iterate_(iterate), newton_(newton), settings_(settings) {}

  void predict();  // towards products of 0
  // The target for the products: the longer the steps of the prediction, the lower, but at least least_mu.
  double target_product(double least_mu) const;
  // To products of `target`, corrected by the second-order term of the prediction.
  void correct(double target);
  void center(double target);  // to products of `target`, without a prediction
  // Lengthens the steps by centrality correctors.
  void correct_centrality(double target);
  bool move();  // takes the steps; false: see NewtonSystem::move()

  const LastStep& last() const { return last_; }

 private:
  void accept();
  CorrectionParts choose_parts(const PartRates& rates);
  void set_steps(const StepRates& rates);

  Iterate& iterate_;
  NewtonSystem& newton_;
  const InteriorPointSettings& settings_;
  LastStep last_;
};

}  // namespace bregmax::internal
