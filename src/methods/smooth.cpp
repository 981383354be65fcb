#include <algorithm>

#include "methods/gradient_learner.hpp"
#include "methods/methods.hpp"

// phi(x) = ||G x||^2 + log sum_k exp(<a_k, x> + b_k), learned by gradients. docs/methods.md has the losses.

namespace bregmax {
namespace {

constexpr Index kMostRank = 64;

internal::GradientLearner smooth_learner(Index features, const MethodChoices& choices) {
  internal::GradientLearner learner = internal::gradient_learner(choices);
  learner.shape.widths = {features};
  if (learner.shape.rank == 0) learner.shape.rank = std::min(kMostRank, features);
  return learner;
}

Learned learn_smooth(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                     const RunControl& control) {
  return internal::learn_by_gradients(smooth_learner(rows.cols(), choices), rows, supervision, choices, control);
}

double seconds_of_smooth(const FitSize& size, const MethodChoices& choices) {
  return internal::predict_seconds(smooth_learner(static_cast<Index>(size.features), choices), size);
}

double memory_of_smooth(const FitSize& size, const MethodChoices& choices) {
  return internal::predict_memory(smooth_learner(static_cast<Index>(size.features), choices), size,
                                  choices.asked.solver.early_stop);
}

}  // namespace

Method internal::smooth_method() {
  return {.name = "smooth",
          .summary = "a smooth convex generator (log-sum-exp plus quadratic), learned by gradients in seconds",
          .from_labels = true,
          .from_pairs = true,
          .from_targets = true,
          .from_comparisons = true,
          .parameters = gradient_parameters(0.02, 0, {1, 1e-1, 1e-2, 1e-3, 1e-4}),
          .limits = {1e-6, 1'000'000, 0},
          .fold_tolerance = 1e-6,  // a looser one stops before the pieces bend
          .resumable = true,
          .weighs_rows = true,
          .goes_on = true,
          .learn = learn_smooth,
          .predicted_seconds = seconds_of_smooth,
          .predicted_memory = memory_of_smooth};
}

}  // namespace bregmax
