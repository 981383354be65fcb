#include "optimize/gradient/training_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bregmax/core/random.hpp"
#include "core/checks.hpp"

namespace bregmax::internal {
namespace {

constexpr std::string_view kTrainingMark = "bregmax-gradient-checkpoint 1\n";
constexpr std::uint64_t kSampleStream = 2;

void add_to(Checksum& sum, const TrainingItems& training) {
  sum.add(training.rows.rows(), training.rows.cols());
  for (Index i = 0; i < training.rows.rows(); ++i) {
    sum.add_bytes(training.rows.row(i).data(), static_cast<std::size_t>(training.rows.cols()) * sizeof(double));
  }
  sum.add_all(training.class_of_row);
  sum.add_all(training.weights);
  for (const Item& item : training.items) add_to(sum, item);
  sum.add(training.items.size(), training.neighbour_share, training.target_unit);
}

}  // namespace

std::vector<Index> sample_units(Index units, std::uint64_t seed) {
  std::vector<Index> chosen = Random(seed).fork(kSampleStream).permutation(units);
  if (units > kMostSampled) chosen.resize(kMostSampled);
  return chosen;
}

Checksum checksum_of(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                     const Vector& start, const TrainingItems* held_out) {
  Checksum sum;
  sum.add_all(layout.shape.widths);
  sum.add(static_cast<int>(layout.shape.activation), layout.shape.pieces, layout.shape.rank);
  add_to(sum, training);
  sum.add(prices.decay, prices.feature, held_out != nullptr);
  if (held_out != nullptr) add_to(sum, *held_out);
  sum.add_all(start);
  return sum;
}

TrainingRun::TrainingRun(const TrainLimits& limits, int planned, const TrainExtras& extras, std::uint64_t fingerprint,
                         const RunControl& control)
    : limits_(limits), planned_(planned), extras_(extras), fingerprint_(fingerprint), control_(control) {
  if (!extras.checkpoint.empty()) check_checkpoint_target(extras.checkpoint, kTrainingMark);
}

std::optional<Status> TrainingRun::interrupted(int steps, double objective) const {
  if (control_.on_progress) {
    Progress progress{.phase = "learn", .iteration = steps};
    progress.fraction = share_done(steps);
    progress.objective = objective;
    progress.tolerance = limits_.tolerance;
    progress.seconds = earlier_ + seconds();
    control_.report(progress);
  }
  if (control_.stop_requested()) return Status::kStopped;
  if (limits_.time_limit > 0 && seconds() >= limits_.time_limit) return Status::kTimeLimit;
  if (steps >= limits_.max_steps) return Status::kIterationLimit;
  return std::nullopt;
}

// Until the plan or a limit ends the run; NaN where it is not known how many steps that takes.
double TrainingRun::share_done(int steps) const {
  if (planned_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const double of_steps = static_cast<double>(steps) / std::min(planned_, limits_.max_steps);
  const double of_time = limits_.time_limit > 0 ? seconds() / limits_.time_limit : 0;
  return std::clamp(std::max(of_steps, of_time), 0.0, 1.0);
}

void TrainingRun::write(OptimiserState state) {
  double spent = earlier_ + seconds();
  append(state.parts, spent);
  write_checkpoint(extras_.checkpoint, kTrainingMark, fingerprint_, state.shape, state.parts);
  written_ = seconds();
}

bool TrainingRun::restore(const std::function<OptimiserState(const std::vector<Index>& shape)>& state) {
  if (extras_.resume.empty()) return false;
  CheckpointReader reader(extras_.resume, kTrainingMark, fingerprint_);
  OptimiserState found = state(reader.shape());
  if (found.shape != reader.shape()) reader.refuse("it is damaged");
  append(found.parts, earlier_);
  reader.read(found.parts);
  return true;
}

void TrainingRun::require_sound(bool holds) const {
  require(holds, "cannot resume from {}: it is damaged", extras_.resume);
}

template <class Real>
EarlyStop<Real>::EarlyStop(const ParameterLayout& layout, const TrainingItems* held_out, int every, int patience)
    : every_(every), patience_(patience) {
  if (held_out == nullptr) return;
  units_ = sample_units(units_of(*held_out), 0);
  objective_ = make_objective<Real>(layout, *held_out, {}, std::ssize(units_));
  gradient_.setZero(layout.size);
  best_.setZero(layout.size);
}

template <class Real>
bool EarlyStop<Real>::improves(const VectorOf<Real>& parameters) {
  const double loss = objective_->evaluate(parameters.data(), units_, gradient_.data());
  if (loss < lowest_ && parameters.allFinite()) {
    lowest_ = loss;
    best_ = parameters;
    waited_ = 0;
    return true;
  }
  return ++waited_ < patience_;
}

template class EarlyStop<float>;
template class EarlyStop<double>;

}  // namespace bregmax::internal
