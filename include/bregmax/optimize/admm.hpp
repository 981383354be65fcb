#pragma once

#include <functional>
#include <string>

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

// The storage type of the large array of a run; everything computed from it is double.
enum class StoragePrecision { kDouble, kFloat };

struct AdmmOptions {
  // On the relative gap (see core/proof.hpp), 1e-8 .. 1e-1. With hinge losses and an objective below a thousandth of
  // the zero model's, it shrinks in proportion to the objective, down to a thousandth of itself.
  double tolerance = 1e-4;
  int max_iterations = 100'000;  // >= 1
  double time_limit = 0;         // seconds; 0: none
  double memory_limit = 0;       // bytes, compared with the prediction before anything large is allocated; 0: none
  // For label pairs with one piece per row. Above 2000 rows, with kFloat, or if memory is short, the solver stores only
  // one n x n array and has one penalty for all entries. Otherwise it stores more, and penalties have levels.
  StoragePrecision precision = StoragePrecision::kDouble;

  std::string checkpoint = {};   // file for the state of the run, replaced atomically; empty: none
  double checkpoint_every = 60;  // seconds; >= 0, 0: every iteration
  std::string resume = {};       // checkpoint of the same problem and options to continue from; empty: none

  // The score of a model on held-out data, lower is better; called after a proof that found a better model. When it has
  // not improved five times in a row, the run ends as kEarlyStopped with the model that scored best.
  std::function<double(const AffinePieces& model)> validation = {};
};

// Bytes that a run needs at its peak, without the problem itself.
double predict_admm_memory(const LearningProblem& problem, const AdmmOptions& options = {});

// Solves the problem by the alternating direction method of multipliers, to a proved gap: the objective is that of a
// model that satisfies every constraint, the bound that of feasible dual variables, and both are returned.
// Between thread counts results may differ by rounding, since BLAS does not promise the order of its sums.
Solution solve_admm(const LearningProblem& problem, const AdmmOptions& options = {}, const RunControl& control = {});

}  // namespace bregmax
