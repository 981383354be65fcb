#pragma once

#include "optimize/interior_point/newton_system.hpp"

namespace bregmax::internal {

// The last step, and the residuals that the proximal terms left after it.
struct LastStep {
  double primal_to_boundary =
      0;                     // the primal step that reaches the first constraint; the one taken is a little shorter
  double longest = 0;        // the longer of the primal and the dual step, as they were taken
  double dual_residual = 0;  // of the primal proximal term
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
  double primal_ = 0, dual_ = 0;  // steps of the accepted direction that reach the first constraint
  LastStep last_;
};

}  // namespace bregmax::internal
