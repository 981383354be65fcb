#pragma once

#include "optimize/interior_point/newton_system.hpp"
#include "optimize/interior_point/proximal_terms.hpp"

namespace bregmax::internal {

// Directions and step lengths of an iteration: Mehrotra's predictor and corrector, then Gondzio's centrality
// correctors, of which slacks and multipliers each take the part that makes their step longest.
class StepRule {
 public:
  StepRule(Iterate& iterate, NewtonSystem& newton, const InteriorPointSettings& settings)
      : at_(iterate), newton_(newton), settings_(settings) {}

  // Straight at the boundary.
  void predict();
  // What products should become after the prediction: the further that got, the less, but no less than least_mu.
  double target_product(double least_mu) const;
  // To products of `target`, corrected by the second-order term of the prediction.
  void correct(double target);
  // To products of `target`, without a prediction.
  void center(double target);
  // Lengthens the steps by centrality correctors.
  void correct_centrality(double target);
  // Takes the steps; false: they are not finite, and nothing was moved.
  bool move();

  const StepOutcome& last() const { return last_; }

 private:
  void set_steps(const StepRates& rates);
  CorrectionParts choose_parts(const PartRates& rates);
  void accept(const StepRates& rates);

  Iterate& at_;
  NewtonSystem& newton_;
  const InteriorPointSettings& settings_;
  StepOutcome last_;
};

}  // namespace bregmax::internal
