#include "optimize/gradient/train.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "optimize/gradient/lbfgs.hpp"
#include "optimize/gradient/loops.hpp"
#include "optimize/gradient/training_run.hpp"

namespace bregmax::internal {
namespace {

constexpr std::uint64_t kBatchStream = 1;
constexpr int kPatience = 5;     // steps of L-BFGS that gain less than the tolerance before it ends
constexpr Index kAdamwKind = 0;  // in checkpoints
constexpr Index kLbfgsKind = 1;

// How often early stopping looks at the held-out units, and how many looks may fail in a row. AdamW: as shares of the
// planned steps, since the loss often falls last when the rate does.
constexpr int kLooksPerPlan = 40, kFailedLooks = 10;
constexpr int kFailedLooksOfLbfgs = 20;

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
  void skip(int batches) {
    for (int b = 0; b < batches; ++b) next();
  }
  Index size() const { return std::ssize(chosen_); }

 private:
  Index units_;
  std::vector<Index> chosen_;
  Random random_;
};

double stationarity_of(const Vector& parameters, const Vector& gradient, double objective) {
  return parameters.norm() * gradient.norm() / std::max(std::abs(objective), 1e-12);
}

class AdamwRun {
 public:
  AdamwRun(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices, const Vector& start,
           const AdamwPlan& plan, const TrainLimits& limits, const RunControl& control, const TrainExtras& extras)
      : layout_(layout),
        training_(training),
        prices_(prices),
        start_(start),
        plan_(plan),
        run_(limits, plan.steps, extras, fingerprint(extras), control),
        early_stop_(layout, extras.held_out, std::max(1, plan.steps / kLooksPerPlan), kFailedLooks),
        batches_(units_of(training), plan.batch, plan.seed),
        objective_(make_objective<float>(layout, training, prices, batches_.size())),
        parameters_(start.cast<float>()),
        lowest_(parameters_),
        gradient_(layout.size),
        first_(VectorOf<float>::Zero(layout.size)),
        second_(first_) {}

  TrainResult train() {
    const auto state = [this](const std::vector<Index>& = {}) { return OptimiserState{{kAdamwKind}, parts()}; };
    if (run_.restore(state)) {
      run_.require_sound(steps_ >= 0 && steps_ <= plan_.steps);
      batches_.skip(steps_);
    }
    std::optional<Status> end;
    while (!end) {
      end = steps_ >= plan_.steps ? Status::kConverged : run_.end_at(steps_, smoothed_, state);
      if (!end) end = step();
    }
    return finished(*end);
  }

 private:
  std::uint64_t fingerprint(const TrainExtras& extras) const {
    if (!extras.keeps_state()) return 0;
    Checksum sum = checksum_of(layout_, training_, prices_, start_, extras.held_out);
    sum.add(kAdamwKind, plan_.steps, plan_.batch, plan_.rate, plan_.decay, plan_.seed);
    return sum.value();
  }

  std::optional<Status> step() {
    const double loss = objective_->evaluate(parameters_.data(), batches_.next(), gradient_.data());
    if (!std::isfinite(loss) || !gradient_.allFinite()) return Status::kNumericalError;
    keep_lowest(loss);
    const double turn = std::numbers::pi * steps_ / plan_.steps;
    first_power_ *= kFirstMoment;
    second_power_ *= kSecondMoment;
    const AdamStep step = {plan_.rate * 0.5 * (1 + std::cos(turn)), plan_.decay, 1 / (1 - first_power_),
                           1 / (1 - second_power_)};
    step_adam(step, layout_.size, gradient_.data(), first_.data(), second_.data(), parameters_.data());
    ++steps_;
    if (early_stop_.is_due(steps_) && !early_stop_.improves(parameters_)) return Status::kEarlyStopped;
    return std::nullopt;
  }

  // For a run that diverges. The loss of a batch is noisy, so it is averaged over the last steps.
  void keep_lowest(double loss) {
    constexpr double kKept = 0.95;
    constexpr int kEvery = 16;
    if (steps_ == 0) first_loss_ = loss;
    smoothed_ = steps_ == 0 ? loss : kKept * smoothed_ + (1 - kKept) * loss;
    if (steps_ % kEvery != 0 || !(smoothed_ < lowest_loss_)) return;
    lowest_loss_ = smoothed_;
    lowest_ = parameters_;
  }

  // Everything that decides how the run goes on, and what it returns. The batches follow from the number of steps.
  RawParts parts() {
    RawParts parts;
    append(parts, parameters_, first_, second_, lowest_, first_power_, second_power_, smoothed_, first_loss_,
           lowest_loss_, steps_);
    early_stop_.append_to(parts);
    return parts;
  }

  TrainResult finished(Status status) {
    TrainResult result;
    result.status = status;
    result.parameters = parameters_.cast<double>();
    if (early_stop_.is_active()) {
      early_stop_.improves(parameters_);
      if (early_stop_.has_best()) result.parameters = early_stop_.best().cast<double>();
    }
    measure(result);
    const bool fell = status != Status::kNumericalError && smoothed_ <= first_loss_;
    if (!fell || !std::isfinite(result.objective)) take_best_if_diverged(result);
    result.steps = steps_;
    result.seconds = run_.seconds();
    return result;
  }

  void take_best_if_diverged(TrainResult& result) const {
    TrainResult at_start, at_lowest;
    at_start.parameters = start_;
    at_lowest.parameters = lowest_.cast<double>();
    measure(at_start);
    measure(at_lowest);
    if (result.objective <= 2 * at_start.objective + 1) return;
    const TrainResult& best = at_lowest.objective < at_start.objective ? at_lowest : at_start;
    result.parameters = best.parameters;
    result.objective = best.objective;
    result.stationarity = best.stationarity;
    if (is_success(result.status)) result.status = Status::kNumericalError;
  }

  // Objective and stationarity in double precision.
  void measure(TrainResult& result) const {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    result.objective = result.stationarity = kNan;
    if (!result.parameters.allFinite()) return;
    const std::vector<Index> units = sample_units(units_of(training_), plan_.seed);
    const auto objective = make_objective<double>(layout_, training_, prices_, std::ssize(units));
    Vector gradient(layout_.size);
    result.objective = objective->evaluate(result.parameters.data(), units, gradient.data());
    result.stationarity = stationarity_of(result.parameters, gradient, result.objective);
  }

  const ParameterLayout& layout_;
  const TrainingItems& training_;
  const Prices& prices_;
  const Vector& start_;
  const AdamwPlan& plan_;
  TrainingRun run_;
  EarlyStop<float> early_stop_;
  Batches batches_;
  std::unique_ptr<Objective<float>> objective_;
  VectorOf<float> parameters_, lowest_, gradient_, first_, second_;
  double first_power_ = 1, second_power_ = 1;
  double smoothed_ = 0, first_loss_ = 0, lowest_loss_ = std::numeric_limits<double>::infinity();
  int steps_ = 0;
};

class LbfgsRun {
 public:
  LbfgsRun(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices, const Vector& start,
           const TrainLimits& limits, const RunControl& control, const TrainExtras& extras)
      : limits_(limits),
        run_(limits, 0, extras,
             extras.keeps_state() ? fingerprint(checksum_of(layout, training, prices, start, extras.held_out)) : 0,
             control),
        early_stop_(layout, extras.held_out, 1, kFailedLooksOfLbfgs),
        all_(units_of(training)),
        objective_(make_objective<double>(layout, training, prices, units_of(training))) {
    std::iota(all_.begin(), all_.end(), 0);
    options_.max_iterations = std::numeric_limits<int>::max();  // the limit is looked at after each step
    options_.decrease_tolerance = limits.tolerance;
    options_.patience = kPatience;
    state_.at = start;
    state_.gradient.resize(layout.size);
    history_.reserve(options_.memory, layout.size);
  }

  TrainResult train() {
    const auto function = [this](const Vector& at, VectorSpan gradient) {
      return objective_->evaluate(at.data(), all_, gradient.data());
    };
    std::optional<Status> end;
    if (run_.restore([this](const std::vector<Index>& shape) { return optimiser_state_of(shape); })) {
      run_.require_sound(state_.at.allFinite() && state_.gradient.allFinite() && state_.iterations >= 0);
      end = interrupted();
    }
    const auto after_step = [&](const LbfgsState&) {
      end = stationarity() <= limits_.tolerance ? Status::kConverged : std::optional<Status>();
      if (!end && early_stop_.is_active() && !early_stop_.improves(state_.at)) end = Status::kEarlyStopped;
      if (!end) end = interrupted();
      return !end.has_value();
    };
    if (!end) minimise_lbfgs(function, options_, after_step, state_, history_);
    TrainResult result;
    // Without a limit that ended it, no step decreases the objective by more than the tolerance asks for.
    result.status = end.value_or(std::isfinite(state_.value) ? Status::kConverged : Status::kNumericalError);
    if (early_stop_.has_best()) {
      state_.at = early_stop_.best();
      evaluate_start(function, state_);
    }
    result.parameters = state_.at;
    result.objective = state_.value;
    result.stationarity = stationarity();
    result.steps = state_.iterations;
    result.seconds = run_.seconds();
    return result;
  }

 private:
  static std::uint64_t fingerprint(Checksum sum) {
    sum.add(kLbfgsKind, LbfgsOptions().memory);
    return sum.value();
  }

  std::optional<Status> interrupted() {
    return run_.end_at(state_.iterations, state_.value, [this] { return optimiser_state(); });
  }
  double stationarity() const { return stationarity_of(state_.at, state_.gradient, state_.value); }

  OptimiserState optimiser_state() {
    OptimiserState found{{kLbfgsKind, history_.known}, {}};
    append(found.parts, state_.at, state_.gradient, state_.value, state_.iterations, state_.evaluations, history_.scale,
           history_.rounds, history_.small_decreases);
    for (int p = 0; p < history_.known; ++p) {
      LbfgsHistory::Pair& pair = history_.pairs[p];
      append(found.parts, pair.step, pair.difference, pair.curvature);
    }
    early_stop_.append_to(found.parts);
    return found;
  }
  OptimiserState optimiser_state_of(const std::vector<Index>& shape) {
    if (shape.size() != 2 || shape[1] < 0 || shape[1] > options_.memory) return {};
    history_.known = static_cast<int>(shape[1]);
    return optimiser_state();
  }

  const TrainLimits& limits_;
  TrainingRun run_;
  EarlyStop<double> early_stop_;
  std::vector<Index> all_;
  std::unique_ptr<Objective<double>> objective_;
  LbfgsOptions options_;
  LbfgsState state_;
  LbfgsHistory history_;
};

}  // namespace

TrainResult train_adamw(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                        const Vector& start, const AdamwPlan& plan, const TrainLimits& limits,
                        const RunControl& control, const TrainExtras& extras) {
  const ThreadLimit one_thread(1);  // the products of a step are too small for more
  return AdamwRun(layout, training, prices, start, plan, limits, control, extras).train();
}

TrainResult train_lbfgs(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                        const Vector& start, const TrainLimits& limits, const RunControl& control,
                        const TrainExtras& extras) {
  const ThreadLimit one_thread(1);
  return LbfgsRun(layout, training, prices, start, limits, control, extras).train();
}

}  // namespace bregmax::internal
