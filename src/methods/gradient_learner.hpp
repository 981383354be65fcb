#pragma once

// What the methods smooth and deep have in common.

#include "bregmax/methods/registry.hpp"
#include "optimize/gradient/parameters.hpp"
#include "optimize/gradient/train.hpp"

namespace bregmax::internal {

enum class Optimiser { kAuto, kAdamw, kLbfgs };

struct GradientLearner {
  LearnerShape shape;
  Prices prices;
  double neighbour_share = 0;
  Optimiser optimiser = Optimiser::kAuto;
  AdamwPlan adamw;                          // steps 0: as many as the size of the data asks for
  std::shared_ptr<const Model> start = {};  // to go on from; none: the usual start
};

Learned learn_by_gradients(const GradientLearner& learner, const MatrixView& rows, const MethodSupervision& supervision,
                           const MethodChoices& choices, const RunControl& control);

// Processor seconds of a fit, roughly.
double predict_seconds(const GradientLearner& learner, const FitSize& size);
// Bytes that a fit needs.
double predict_memory(const GradientLearner& learner, const FitSize& size, bool early_stop);

// The parameters of both methods, after those of their own.
std::vector<MethodParameter> gradient_parameters(double rate, double weight_decay, std::vector<double> decays);
// Reads them.
GradientLearner gradient_learner(const MethodChoices& choices);

}  // namespace bregmax::internal
