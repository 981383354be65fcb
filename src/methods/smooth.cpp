#include <algorithm>

#include "methods/gradient_learner.hpp"
#include "methods/methods.hpp"

// phi(x) = ||G x||^2 + log sum_k exp(<a_k, x> + b_k), learned by gradients. docs/methods.md has the losses.

namespace bregmax {
namespace {

constexpr Index kMostRank = 64;

Learned learn_smooth(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                     const RunControl& control) {
  internal::GradientLearner learner = internal::gradient_learner(choices);
  learner.shape.widths = {rows.cols()};
  if (learner.shape.rank == 0) learner.shape.rank = std::min(kMostRank, rows.cols());
  return internal::learn_by_gradients(learner, rows, supervision, choices.limits, control);
}

}  // namespace

Method internal::smooth_method() {
  return {.name = "smooth",
          .summary = "log-sum-exp and quadratic generator, learned by gradients in seconds",
          .from_labels = true,
          .from_pairs = true,
          .from_targets = true,
          .from_comparisons = true,
          .parameters = gradient_parameters(0.02, 0),
          .limits = {1e-6, 1'000'000, 0},
          .learn = learn_smooth};
}

}  // namespace bregmax
