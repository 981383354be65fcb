#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

// What can be proved about a solution from the problem's own data and the dual variables. The code shares with the
// solvers only what an item costs, the definition of the gap and compensated summation.
struct Certificate : Proof {
  // The lower bound holds for every model with a Lipschitz constant up to this. Usually that is the problem's own bound
  // (infinity: every model). Without a bound, and with a lambda of zero or at the level of rounding errors, it is 10
  // times the model's constant.
  double valid_up_to_lipschitz = 0;
};

Certificate certify(const LearningProblem& problem, const Solution& solution);

namespace internal {

// The certificate without the convexity violation, which needs every piece at every row. If the bound does not hold for
// every model, it holds for those with a Lipschitz constant up to `radius`, the problem's own bound or less.
Certificate certify_bounds(const LearningProblem& problem, const Solution& solution, double radius);
// The radius of certify(), relative to the model's Lipschitz constant.
inline constexpr double kCertifiedRadius = 10;

}  // namespace internal
}  // namespace bregmax
