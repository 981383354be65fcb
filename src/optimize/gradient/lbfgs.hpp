#pragma once

#include <functional>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// Returns the value at `at` and writes the gradient there. A value that is not finite marks a point outside the domain:
// the line search steps back from it.
using DifferentiableFunction = std::function<double(const Vector& at, VectorSpan gradient)>;

struct LbfgsOptions {
  int memory = 10;                // pairs of steps and gradient differences that are remembered, >= 1
  int max_iterations = 1000;      // >= 0
  double decrease_tolerance = 0;  // ends after `patience` steps whose decrease is at most this times |value|
  int patience = 1;               // >= 1
  // The length of the first step relative to the norm of the variables; 0: at most 1 in the 1-norm.
  double first_step = 0;
};

struct LbfgsState {
  Vector at;
  Vector gradient;
  double value = 0;
  int iterations = 0;   // steps taken
  int evaluations = 0;  // of the function
};

// What decides in addition to the state how a run goes on.
struct LbfgsHistory {
  struct Pair {
    Vector step, difference;  // of the points and of their gradients
    double curvature = 0, coefficient = 0;
  };
  std::vector<Pair> pairs = {};  // the oldest first; only the first `known` have a meaning
  int known = 0;
  double scale = 1;         // of the inverse Hessian without pairs
  int rounds = 0;           // steps that were tried
  int small_decreases = 0;  // steps in a row that gained less than the tolerance

  void reserve(int memory, Index size);  // `memory` pairs for so many variables
};

// Fills the value and the gradient at state.at.
void evaluate_start(const DifferentiableFunction& function, LbfgsState& state);

// Limited-memory BFGS (Nocedal 1980, Liu & Nocedal 1989) with a line search for the strong Wolfe conditions. Every step
// decreases the value (Armijo's condition), so the state only ever improves. `after_step` sees each new state and
// returns whether to go on; it may be empty. A state without evaluations is evaluated first. The run also ends where no
// step along the steepest descent decreases the value: at a stationary point, at a kink, or by rounding. Steps allocate
// nothing. With state and history of a run that `after_step` ended, a run with the same options goes on as that one
// would have.
void minimise_lbfgs(const DifferentiableFunction& function, const LbfgsOptions& options,
                    const std::function<bool(const LbfgsState&)>& after_step, LbfgsState& state, LbfgsHistory& history);
// Begins without history.
void minimise_lbfgs(const DifferentiableFunction& function, const LbfgsOptions& options,
                    const std::function<bool(const LbfgsState&)>& after_step, LbfgsState& state);

}  // namespace bregmax::internal
