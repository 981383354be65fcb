#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// The factor, at least 0 and within the problem's bound, that gives a convex model the lowest objective. A model that
// just misses its margins has a loss for each of them; scaled up a little, it has no loss.
double best_scale(const LearningProblem& problem, const AffinePieces& pieces);

}  // namespace bregmax::internal
