#pragma once

// Learning problems for tests, and what must hold for every solution of one.

#include <string>
#include <vector>

#include "bregmax/core/random.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "sanitized.hpp"

namespace bregmax::test {

enum class Kind { kComparisons, kPairs, kTargets };
inline constexpr Kind kKinds[] = {Kind::kComparisons, Kind::kPairs, Kind::kTargets};
std::string to_string(Kind kind);

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

std::vector<int> own_pieces(Index rows);                                 // K = n
std::vector<int> random_pieces(Random& random, Index rows, int pieces);  // any assignment without an empty piece
std::vector<int> nearest_pieces(Random& random, const Matrix& rows, int pieces);  // cells of random rows
Matrix normal_rows(Random& random, Index rows, Index features);
Vector normal_vector(Random& random, Index size);
// Members are drawn uniformly: self comparisons, contradictions and repeated items all occur.
Supervision random_supervision(Random& random, Kind kind, Index rows, Index items);

LearningProblem make_problem(Matrix points, std::vector<int> piece_of, Supervision supervision, double lambda,
                             double lipschitz_bound = kNoBound);
// K = n.
LearningProblem make_problem(Matrix points, Supervision supervision, double lambda, double lipschitz_bound = kNoBound);

// Every size, piece assignment, kind of regularisation: what a property test should see.
LearningProblem random_problem(Random& random, Kind kind);

// Calls change(items) with the list of items, whichever kind it is. LabelPairs has no list and is left alone.
template <class Change>
void change_items(Supervision& supervision, const Change& change) {
  if (auto* comparisons = std::get_if<Comparisons>(&supervision)) change(*comparisons);
  if (auto* pairs = std::get_if<Pairs>(&supervision)) change(*pairs);
  if (auto* targets = std::get_if<Targets>(&supervision)) change(*targets);
}

// D(i, k) = phi(x_i) - (value of piece k at x_i), n x K.
Matrix divergence_grid(const LearningProblem& problem, const Solution& solution);

// How large D is, or is asked to be.
double divergence_scale(const LearningProblem& problem, const Solution& solution);

// The objective of the zero model.
double zero_objective(const LearningProblem& problem);

// One line: sizes, kind, lambda, bound.
std::string describe(const LearningProblem& problem);

// Every number that is returned is finite and of the right size, and the report is what the certificate says.
void expect_sound(const LearningProblem& problem, const Solution& solution);
// Sound, optimal with a gap of at most 1e-8, and feasible.
void expect_optimal(const LearningProblem& problem, const Solution& solution);
// With one thread: the problems are small, and threads that wait for each other on a busy machine are slow.
Solution solve(const LearningProblem& problem, const InteriorPointOptions& options = {},
               const RunControl& control = {});
// Solves and expects an optimal solution.
Solution solve_to_optimality(const LearningProblem& problem);

}  // namespace bregmax::test
