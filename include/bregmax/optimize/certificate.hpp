#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

// What can be proved about a solution from the problem's own data, by code that shares nothing with the solvers but
// sums of twice the digits.
struct Certificate : Proof {
  // The lower bound holds for every model with a Lipschitz constant up to this: the problem's own bound (infinity:
  // every model), or, where there is none and lambda is zero or too small beside rounding to prove more, 10 times the
  // model's constant.
  double valid_up_to_lipschitz = 0;
};

Certificate certify(const LearningProblem& problem, const Solution& solution);

}  // namespace bregmax
