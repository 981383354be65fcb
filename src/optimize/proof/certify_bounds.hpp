#pragma once

#include "bregmax/optimize/certificate.hpp"

namespace bregmax::internal {

// The certificate but for the convexity violation, which takes a look at every piece at every row. Where its bound does
// not hold for every model, it holds for those with a Lipschitz constant up to `radius`, the problem's own bound or
// less.
Certificate certify_bounds(const LearningProblem& problem, const Solution& solution, double radius);

// The radius of certify(): a bound that holds only up to some Lipschitz constant holds up to this many times the
// model's own.
inline constexpr double kCertifiedRadius = 10;

}  // namespace bregmax::internal
