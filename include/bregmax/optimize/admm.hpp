#pragma once

#include <functional>
#include <string>

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

// What the large array of a run is stored as; what is computed from it is double.
enum class StoragePrecision { kDouble, kFloat };

struct AdmmOptions {
  // On the proved gap beside the objective, or beside a millionth (targets: a thousandth) of the zero model's if that
  // is more; 1e-8 .. 1e-1
  double tolerance = 1e-4;
  int max_iterations = 100'000;  // >= 1
  double time_limit = 0;         // seconds; 0: none
  double memory_limit = 0;       // bytes, compared with the prediction before anything large is allocated; 0: none
  double over_relaxation = 1.7;  // > 0, < 2
  // Of label pairs with a piece a row. Above some 2000 rows, with float, or where memory is short, one array of n x n
  // numbers is all that is stored, with one penalty for all entries; otherwise penalties have levels.
  StoragePrecision precision = StoragePrecision::kDouble;
  int check_every = 50;                 // iterations between certified bounds; later a tenth of all so far; >= 1
  const AffinePieces* start = nullptr;  // a model to begin with; must outlive the call

  std::string checkpoint = {};   // a file that holds the state of the run, replaced atomically; empty: none
  double checkpoint_every = 60;  // seconds; >= 0, 0: every iteration
  std::string resume = {};       // a checkpoint of the same problem and options to continue from; empty: none

  // The score of a model on data that the problem does not hold, lower is better; asked for when bounds are checked.
  // When it has not improved for `patience` times, the run ends as kEarlyStopped, which is never optimal, with the
  // model that scored best.
  std::function<double(const AffinePieces& model)> validation = {};
  int patience = 5;
};

// Bytes that a run will need at its peak, beside the problem itself.
double predict_admm_memory(const LearningProblem& problem, const AdmmOptions& options = {});

// Solves the problem by the alternating direction method of multipliers, to a certified gap: the objective is that of a
// model that satisfies every constraint, the bound that of feasible multipliers, and both are returned.
// The result does not depend on the number of threads beyond rounding.
Solution solve_admm(const LearningProblem& problem, const AdmmOptions& options = {}, const RunControl& control = {});

}  // namespace bregmax
