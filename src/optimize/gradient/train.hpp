#pragma once

#include <cstdint>
#include <string>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/status.hpp"
#include "optimize/gradient/objective.hpp"

namespace bregmax::internal {

struct TrainLimits {
  int max_steps = 0;      // fewer than planned end with kIterationLimit
  double time_limit = 0;  // seconds; 0: none
  double tolerance = 1e-6;
};

// What a run does in addition to its steps. A run that is continued from a checkpoint of the same problem and plan ends
// with the same parameters, bit for bit, as one that was not interrupted. Its limits may differ.
struct TrainExtras {
  const TrainingItems* held_out = nullptr;   // the run ends when their mean loss no longer falls; nullptr: none
  std::string checkpoint = {}, resume = {};  // files; empty: none
  double checkpoint_every = 60;              // seconds; 0: every step

  bool keeps_state() const { return !checkpoint.empty() || !resume.empty(); }
};

struct TrainResult {
  Vector parameters;  // finite; with held-out units those with the lowest loss on them
  Status status = Status::kNumericalError;
  double objective = 0;     // of all units, or of a sample of them
  double stationarity = 0;  // |parameters| |gradient| / |objective| there
  int steps = 0;
  double seconds = 0;
};

// Minibatches by AdamW in single precision: the rate falls from its start to 0 along half a cosine. A run whose loss
// overflows, or that ends far above where it began, has diverged: it ends with kNumericalError, unless a limit ended
// it, and the best parameters that it has seen.
struct AdamwPlan {
  int steps = 400;
  Index batch = 256;
  double rate = 0.02;
  double decay = 0;  // of the weights, apart from the loss
  std::uint64_t seed = 0;
};
TrainResult train_adamw(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                        const Vector& start, const AdamwPlan& plan, const TrainLimits& limits,
                        const RunControl& control, const TrainExtras& extras = {});

// All units at once by L-BFGS in double precision.
TrainResult train_lbfgs(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                        const Vector& start, const TrainLimits& limits, const RunControl& control,
                        const TrainExtras& extras = {});

}  // namespace bregmax::internal
