#include "core/checks.hpp"
#include "methods/gradient_learner.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"

// The same generator as smooth, on the rows that a network of dense layers makes of the features; both are learned
// together.

namespace bregmax {
namespace {

internal::GradientLearner deep_learner(Index features, const MethodChoices& choices) {
  internal::GradientLearner learner = internal::gradient_learner(choices);
  learner.shape.widths = {features};
  for (int layer = 0; layer < choices.whole("hidden_layers"); ++layer) {
    learner.shape.widths.push_back(choices.whole("width"));
  }
  learner.shape.widths.push_back(choices.whole("outputs"));
  learner.shape.activation = static_cast<Activation>(choices.whole("activation"));
  if (learner.shape.rank == 0) learner.shape.rank = learner.shape.dimension();
  if (learner.shape.rank > learner.shape.dimension()) {
    internal::fail("rank is {}; allowed: at most {}, the outputs of the network", learner.shape.rank,
                   learner.shape.dimension());
  }
  return learner;
}

Learned learn_deep(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                   const RunControl& control) {
  return internal::learn_by_gradients(deep_learner(rows.cols(), choices), rows, supervision, choices, control);
}

double seconds_of_deep(const FitSize& size, const MethodChoices& choices) {
  return internal::predict_seconds(deep_learner(static_cast<Index>(size.features), choices), size);
}

double memory_of_deep(const FitSize& size, const MethodChoices& choices) {
  return internal::predict_memory(deep_learner(static_cast<Index>(size.features), choices), size,
                                  choices.asked.solver.early_stop);
}

}  // namespace

Method internal::deep_method() {
  Method method = {.name = "deep",
                   .summary = "a neural network, and the generator of smooth on what it makes of a row",
                   .from_labels = true,
                   .from_pairs = true,
                   .from_targets = true,
                   .from_comparisons = true,
                   .parameters = {of_shape(whole_parameter("hidden_layers", "of the network", 2, {0, 20})),
                                  of_shape(whole_parameter("width", "of a hidden layer", 256, {1, 100000})),
                                  of_shape(whole_parameter("outputs", "of the network", 32, {1, 10000})),
                                  of_shape(choice_parameter("activation", "of the hidden layers", {"relu", "tanh"}))},
                   .limits = {1e-6, 1'000'000, 0},
                   .resumable = true,
                   .weighs_rows = true,
                   .goes_on = true,
                   .learn = learn_deep,
                   .predicted_seconds = seconds_of_deep,
                   .predicted_memory = memory_of_deep};
  for (MethodParameter& parameter : gradient_parameters(0.002, 0.05, {1e-1, 1e-3}))
    method.parameters.push_back(std::move(parameter));
  return method;
}

}  // namespace bregmax
