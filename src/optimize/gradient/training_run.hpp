#pragma once

// What both optimisers have around their steps: clock, limits, progress, checkpoints, early stopping.

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/checkpoint_file.hpp"
#include "core/progress.hpp"
#include "optimize/gradient/train.hpp"

namespace bregmax::internal {

inline constexpr Index kMostSampled = 1024;  // units that an objective is measured on

inline Index units_of(const TrainingItems& training) {
  return training.items.empty() ? training.rows.rows() : std::ssize(training.items);
}
// Some of the units at random, or all of them.
std::vector<Index> sample_units(Index units, std::uint64_t seed);

// Of everything that both optimisers depend on; each adds its own.
Checksum checksum_of(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices,
                     const Vector& start, const TrainingItems* held_out);

// What a checkpoint holds of an optimiser: the numbers that its sizes follow from, and where all its numbers lie.
struct OptimiserState {
  std::vector<Index> shape;
  RawParts parts;
};

class TrainingRun {
 public:
  // planned: steps; 0: not known.
  TrainingRun(const TrainLimits& limits, int planned, const TrainExtras& extras, std::uint64_t fingerprint,
              const RunControl& control);

  // Why the run ends after this many steps, or nothing. Reports its progress, and writes a checkpoint when one is due.
  template <class State>
  std::optional<Status> end_at(int steps, double objective, const State& state) {
    const std::optional<Status> end = interrupted(steps, objective);
    if (!extras_.checkpoint.empty() && (end || is_due())) write(state());
    return end;
  }

  // Reads a checkpoint, if there is one to resume from. `state` makes room for a shape and says where its numbers lie,
  // or has no shape where it is not one of its optimiser.
  bool restore(const std::function<OptimiserState(const std::vector<Index>& shape)>& state);
  // Throws Error that what was restored makes no sense.
  void require_sound(bool holds) const;
  double seconds() const { return watch_.seconds(); }

 private:
  std::optional<Status> interrupted(int steps, double objective) const;
  double share_done(int steps) const;
  bool is_due() const { return watch_.seconds() - written_ >= extras_.checkpoint_every; }
  void write(OptimiserState state);

  const TrainLimits& limits_;
  int planned_;
  const TrainExtras& extras_;
  std::uint64_t fingerprint_;
  const RunControl& control_;
  Stopwatch watch_;
  double written_ = 0;
  double earlier_ = 0;  // seconds of the runs that this one continues
};

// Ends a run when the loss of held-out units no longer falls, and keeps the parameters with the lowest.
template <class Real>
class EarlyStop {
 public:
  // Looks every so many steps. held_out: nullptr: never ends a run.
  EarlyStop(const ParameterLayout& layout, const TrainingItems* held_out, int every, int patience);

  bool is_active() const { return objective_ != nullptr; }
  bool is_due(int steps) const { return is_active() && steps % every_ == 0; }
  // Whether the run is to go on.
  bool improves(const VectorOf<Real>& parameters);
  bool has_best() const { return lowest_ < std::numeric_limits<double>::infinity(); }
  const VectorOf<Real>& best() const { return best_; }
  void append_to(RawParts& parts) { append(parts, best_, lowest_, waited_); }

 private:
  std::unique_ptr<Objective<Real>> objective_;
  std::vector<Index> units_;
  VectorOf<Real> gradient_, best_;
  double lowest_ = std::numeric_limits<double>::infinity();
  int every_, patience_, waited_ = 0;
};

}  // namespace bregmax::internal
