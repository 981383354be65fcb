#include "optimize/gradient/train.hpp"

#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "optimize/gradient/lbfgs.hpp"
#include "optimize/gradient/loops.hpp"

namespace bregmax::internal {
namespace {

constexpr std::uint64_t kBatchStream = 1, kSampleStream = 2;
constexpr int kPatience = 5;          // steps of L-BFGS that gain less than the tolerance before it ends
constexpr Index kMostSampled = 1024;  // units that the objective is reported of

// The clock and the limits of a run.
class Watch {
 public:
  Watch(const TrainLimits& limits, int planned, const RunControl& control)
      : limits_(limits), planned_(planned), control_(control) {}

  // Why the run ends after this many steps, or nothing.
  std::optional<Status> end_after(int steps, double objective) const {
    Progress progress{.phase = "learn", .iteration = steps};
    progress.fraction = static_cast<double>(steps) / planned_;
    progress.tolerance = limits_.tolerance;
    progress.objective = objective;
    progress.tolerance = limits_.tolerance;
    progress.seconds = seconds();
    control_.report(progress);
    if (control_.stop_requested()) return Status::kStopped;
    if (limits_.time_limit > 0 && progress.seconds >= limits_.time_limit) return Status::kTimeLimit;
    if (steps >= limits_.max_steps) return Status::kIterationLimit;
    return std::nullopt;
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  const TrainLimits& limits_;
  int planned_;
  const RunControl& control_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Each batch is drawn with repetition. Tables that are smaller than a batch then have different batches, too, and a row
// that is drawn twice keeps the softmax of its class from becoming one-sided.
class Batches {
 public:
  Batches(Index units, Index batch, std::uint64_t seed)
      : units_(units), chosen_(std::min(units, batch)), random_(Random(seed).fork(kBatchStream)) {}
  std::span<const Index> next() {
    for (Index& unit : chosen_) unit = random_.uniform_index(units_);
    return chosen_;
  }
  Index size() const { return std::ssize(chosen_); }

 private:
  Index units_;
  std::vector<Index> chosen_;
  Random random_;
};

std::vector<Index> sample(Index units, std::uint64_t seed) {
  std::vector<Index> chosen = Random(seed).fork(kSampleStream).permutation(units);
  if (units > kMostSampled) chosen.resize(kMostSampled);
  return chosen;
}

// Objective and stationarity at the end, in double precision.
void measure(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices, std::uint64_t seed,
             TrainResult& result) {
  const Index units = training.items.empty() ? training.rows.rows() : std::ssize(training.items);
  const std::vector<Index> units_seen = sample(units, seed);
  const auto objective = make_objective<double>(layout, training, prices, std::ssize(units_seen));
  Vector gradient(layout.size);
  result.objective = objective->evaluate(result.parameters.data(), units_seen, gradient.data());
  result.stationarity = result.parameters.norm() * gradient.norm() / std::max(std::abs(result.objective), 1e-12);
}

}  // namespace

TrainResult train_adamw(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                        const Vector& start, const AdamwPlan& plan, const TrainLimits& limits,
                        const RunControl& control) {
  const ThreadLimit one_thread(1);  // the products of a step are too small for more
  const Watch watch(limits, plan.steps, control);
  const Index units = training.items.empty() ? training.rows.rows() : std::ssize(training.items);
  Batches batches(units, plan.batch, plan.seed);
  const auto objective = make_objective<float>(layout, training, prices, batches.size());
  VectorOf<float> parameters = start.cast<float>(), kept = parameters, gradient(layout.size);
  VectorOf<float> first = VectorOf<float>::Zero(layout.size), second = first;
  TrainResult result;
  AdamStep step;
  double first_power = 1, second_power = 1, smoothed = 0;
  std::optional<Status> end;
  for (; !end && result.steps < plan.steps; ++result.steps) {
    const double loss = objective->evaluate(parameters.data(), batches.next(), gradient.data());
    if (!std::isfinite(loss) || !gradient.allFinite()) {
      end = Status::kNumericalError;
      break;
    }
    kept = parameters;
    smoothed = result.steps == 0 ? loss : 0.95 * smoothed + 0.05 * loss;
    const double turn = std::numbers::pi * result.steps / plan.steps;
    step = {plan.rate * 0.5 * (1 + std::cos(turn)), plan.decay};
    first_power *= kFirstMoment;
    second_power *= kSecondMoment;
    step.first_factor = 1 / (1 - first_power);
    step.second_factor = 1 / (1 - second_power);
    step_adam(step, layout.size, gradient.data(), first.data(), second.data(), parameters.data());
    end = watch.end_after(result.steps + 1, smoothed);
    if (result.steps + 1 == plan.steps) end = Status::kConverged;
  }
  result.status = end.value_or(Status::kConverged);
  result.parameters = (parameters.allFinite() ? parameters : kept).cast<double>();
  measure(layout, training, prices, plan.seed, result);
  result.seconds = watch.seconds();
  return result;
}

TrainResult train_lbfgs(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                        const Vector& start, const TrainLimits& limits, const RunControl& control) {
  const ThreadLimit one_thread(1);
  const Watch watch(limits, limits.max_steps, control);
  const Index units = training.items.empty() ? training.rows.rows() : std::ssize(training.items);
  const auto objective = make_objective<double>(layout, training, prices, units);
  std::vector<Index> all(units);
  std::iota(all.begin(), all.end(), 0);
  const auto function = [&](const Vector& at, VectorSpan gradient) {
    return objective->evaluate(at.data(), all, gradient.data());
  };
  LbfgsState state;
  state.at = start;
  state.gradient.resize(layout.size);
  TrainResult result;
  const auto stationarity = [&] {
    return state.at.norm() * state.gradient.norm() / std::max(std::abs(state.value), 1e-12);
  };
  std::optional<Status> end;
  const auto after_step = [&](const LbfgsState& now) {
    end = stationarity() <= limits.tolerance ? Status::kConverged : watch.end_after(now.iterations, now.value);
    return !end.has_value();
  };
  LbfgsOptions options;
  options.max_iterations = limits.max_steps;
  options.decrease_tolerance = limits.tolerance;
  options.patience = kPatience;
  minimise_lbfgs(function, options, after_step, state);
  result.parameters = state.at;
  result.objective = state.value;
  result.stationarity = stationarity();
  // Without a limit that ended it, no step decreases the objective by more than the tolerance asks for.
  result.status = end.value_or(std::isfinite(state.value) ? Status::kConverged : Status::kNumericalError);
  result.steps = state.iterations;
  result.seconds = watch.seconds();
  return result;
}

}  // namespace bregmax::internal
