#include "optimize/gradient/lbfgs.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace bregmax::internal {
namespace {

constexpr double kSufficientDecrease = 1e-4;
constexpr double kCurvature = 0.9;
constexpr int kLineSearchEvaluations = 30;

// The approximation of the inverse Hessian by the last pairs (step, gradient difference).
class InverseHessian {
 public:
  explicit InverseHessian(LbfgsHistory& history) : history_(history) {}

  void clear() { history_.known = 0; }
  bool empty() const { return history_.known == 0; }

  // A pair without curvature would make the approximation indefinite; it is left out.
  void add(const Vector& step, const Vector& difference) {
    const double curvature = step.dot(difference);
    if (!(curvature > std::numeric_limits<double>::epsilon() * difference.squaredNorm())) return;
    auto& pairs = history_.pairs;
    if (history_.known == static_cast<int>(pairs.size())) {
      std::rotate(pairs.begin(), pairs.begin() + 1, pairs.end());
      --history_.known;
    }
    LbfgsHistory::Pair& pair = pairs[history_.known++];
    pair.step = step;
    pair.difference = difference;
    pair.curvature = curvature;
    history_.scale = curvature / difference.squaredNorm();
  }

  // direction = -H gradient by the two-loop recursion.
  void descend(const Vector& gradient, Vector& direction) {
    direction = -gradient;
    auto& pairs = history_.pairs;
    for (int p = history_.known - 1; p >= 0; --p) {
      pairs[p].coefficient = pairs[p].step.dot(direction) / pairs[p].curvature;
      direction -= pairs[p].coefficient * pairs[p].difference;
    }
    if (!empty()) direction *= history_.scale;
    for (int p = 0; p < history_.known; ++p) {
      const double correction = pairs[p].difference.dot(direction) / pairs[p].curvature;
      direction += (pairs[p].coefficient - correction) * pairs[p].step;
    }
  }

 private:
  LbfgsHistory& history_;
};

// The function along the line state.at + length * direction.
struct Trial {
  double length = 0;
  double value = 0;
  double slope = 0;
};

// The minimiser of the cubic through two trials, kept away from both ends of their interval.
double interpolate(const Trial& a, const Trial& b) {
  const double width = b.length - a.length;
  const double chord = a.slope + b.slope - 3 * (a.value - b.value) / (a.length - b.length);
  const double discriminant = chord * chord - a.slope * b.slope;
  double length = a.length + width / 2;
  if (std::isfinite(b.value) && discriminant >= 0) {
    const double root = std::copysign(std::sqrt(discriminant), width);
    const double cubic = b.length - width * (b.slope + root - chord) / (b.slope - a.slope + 2 * root);
    if (std::isfinite(cubic)) length = cubic;
  }
  const double low = std::min(a.length, b.length), margin = 0.1 * std::abs(width);
  return std::clamp(length, low + margin, low + std::abs(width) - margin);
}

class LineSearch {
 public:
  LineSearch(const DifferentiableFunction& function, Index size) : function_(function), at_(size), gradient_(size) {}

  // Moves the state to a point of sufficient decrease, if possible one where the slope has flattened, too. False: there
  // is none along the direction.
  bool advance(const Vector& direction, double first_length, LbfgsState& state) {
    direction_ = &direction;
    start_ = &state;
    evaluations_ = 0;
    best_ = Trial{0, state.value, state.gradient.dot(direction)};
    initial_slope_ = best_.slope;
    if (!(initial_slope_ < 0)) return false;
    best_at_ = state.at;
    best_gradient_ = state.gradient;
    search(first_length);
    state.evaluations += evaluations_;
    if (best_.length == 0) return false;
    state.at.swap(best_at_);
    state.gradient.swap(best_gradient_);
    state.value = best_.value;
    return true;
  }

 private:
  Trial evaluate(double length) {
    ++evaluations_;
    at_ = start_->at + length * *direction_;
    Trial trial{length, function_(at_, gradient_), 0};
    trial.slope = gradient_.dot(*direction_);
    if (!std::isfinite(trial.value) || !std::isfinite(trial.slope)) {
      trial.value = std::numeric_limits<double>::infinity();
    }
    if (decreases(trial) && trial.value < best_.value) {
      best_ = trial;
      best_at_.swap(at_);
      best_gradient_.swap(gradient_);
    }
    return trial;
  }

  bool decreases(const Trial& trial) const {
    return trial.value <= start_->value + kSufficientDecrease * trial.length * initial_slope_;
  }
  bool flat(const Trial& trial) const { return std::abs(trial.slope) <= -kCurvature * initial_slope_; }

  // Nocedal & Wright, algorithms 3.5 and 3.6: lengthen until a minimiser is bracketed, then shrink the bracket.
  void search(double length) {
    Trial previous{0, start_->value, initial_slope_};
    while (evaluations_ < kLineSearchEvaluations) {
      const Trial trial = evaluate(length);
      if (!decreases(trial) || (previous.length > 0 && trial.value >= previous.value)) return shrink(previous, trial);
      if (flat(trial)) return;
      if (trial.slope >= 0) return shrink(trial, previous);
      previous = trial;
      length *= 4;
    }
  }

  // `low` decreases the most of the two and slopes towards `high`.
  void shrink(Trial low, Trial high) {
    while (evaluations_ < kLineSearchEvaluations) {
      const double width = std::abs(high.length - low.length);
      if (width <= std::numeric_limits<double>::epsilon() * std::max(high.length, low.length)) return;
      const Trial trial = evaluate(interpolate(low, high));
      if (!decreases(trial) || trial.value >= low.value) {
        high = trial;
        continue;
      }
      if (flat(trial)) return;
      if (trial.slope * (high.length - low.length) >= 0) high = low;
      low = trial;
    }
  }

  const DifferentiableFunction& function_;
  const Vector* direction_ = nullptr;
  const LbfgsState* start_ = nullptr;
  double initial_slope_ = 0;
  int evaluations_ = 0;
  Vector at_, gradient_;  // of the last trial
  Trial best_;            // the lowest sufficient decrease so far
  Vector best_at_, best_gradient_;
};

// The first step, when no curvature is known: as long as the caller asks for, or at most 1 in the 1-norm.
double first_length(const InverseHessian& hessian, const LbfgsState& state, double first_step) {
  if (!hessian.empty()) return 1.0;
  if (first_step > 0) return first_step * state.at.norm() / state.gradient.norm();
  return std::min(1.0, 1 / state.gradient.lpNorm<1>());
}

}  // namespace

void evaluate_start(const DifferentiableFunction& function, LbfgsState& state) {
  state.gradient.resize(state.at.size());
  state.value = function(state.at, state.gradient);
  ++state.evaluations;
}

void LbfgsHistory::reserve(int memory, Index size) {
  pairs.resize(static_cast<std::size_t>(memory));
  for (Pair& pair : pairs) {
    pair.step.setZero(size);
    pair.difference.setZero(size);
  }
}

void minimise_lbfgs(const DifferentiableFunction& function, const LbfgsOptions& options,
                    const std::function<bool(const LbfgsState&)>& after_step, LbfgsState& state,
                    LbfgsHistory& history) {
  assert(options.memory >= 1 && options.patience >= 1);
  const Index size = state.at.size();
  if (history.pairs.empty()) history.reserve(options.memory, size);
  InverseHessian hessian(history);
  LineSearch line_search(function, size);
  Vector direction(size), step(size), difference(size);
  if (state.evaluations == 0) evaluate_start(function, state);
  while (history.rounds < options.max_iterations && history.small_decreases < options.patience) {
    ++history.rounds;
    hessian.descend(state.gradient, direction);
    step = state.at;
    difference = state.gradient;
    const double before = state.value;
    if (!line_search.advance(direction, first_length(hessian, state, options.first_step), state)) {
      if (hessian.empty()) return;
      hessian.clear();  // the remembered curvature misleads: try steepest descent before giving up
      continue;
    }
    ++state.iterations;
    step = state.at - step;
    difference = state.gradient - difference;
    hessian.add(step, difference);
    const double small = options.decrease_tolerance * std::abs(state.value);
    history.small_decreases = before - state.value <= small ? history.small_decreases + 1 : 0;
    if (after_step && !after_step(state)) return;
  }
}

void minimise_lbfgs(const DifferentiableFunction& function, const LbfgsOptions& options,
                    const std::function<bool(const LbfgsState&)>& after_step, LbfgsState& state) {
  LbfgsHistory history;
  minimise_lbfgs(function, options, after_step, state, history);
}

}  // namespace bregmax::internal
