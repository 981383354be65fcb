#pragma once

#include "bregmax/optimize/certificate.hpp"

namespace bregmax::internal {

// The certificate without the convexity violation, which needs every piece at every row. If the bound does not hold for
// every model, it holds for those with a Lipschitz constant up to `radius`, the problem's own bound or less.
Certificate certify_bounds(const LearningProblem& problem, const Solution& solution, double radius);

// The radius of certify(), relative to the model's Lipschitz constant.
inline constexpr double kCertifiedRadius = 10;

}  // namespace bregmax::internal
