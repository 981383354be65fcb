#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bregmax/methods/registry.hpp"

namespace bregmax {

// Piecewise Bregman divergence learning: a max-affine divergence, learned to a proved gap. The problem is that of
// bregmax/optimize/learning_problem.hpp.
struct PbdlOptions {
  double lambda = 1;                                                 // >= 0
  double lipschitz_bound = std::numeric_limits<double>::infinity();  // > 0
  int pieces = 0;                                                    // K, 1 .. rows; 0: every row has its own
  std::optional<std::vector<int>> piece_of = {};                     // the piece of each row; overrides `pieces`
  Scale scale = Scale::kStandard;                                    // used by fit_pbdl() only
  double smoothing = 0;                    // temperature T >= 0 of the returned divergence; 0: max-affine
  std::optional<double> tolerance = {};    // relative gap; none: 1e-8 (exact) or 1e-4 (admm, at least 1e-8)
  std::optional<int> max_iterations = {};  // none: 400 (exact) or 100000 (admm)
  double time_limit = 0;                   // seconds; 0: none
  std::uint64_t seed = 0;                  // of farthest-point clustering and of what an early stop holds out
  SolverSettings solver = {.solver = Solver::kExact};
};

inline constexpr MethodLimits kPbdlLimits = {1e-8, 400, 0};  // defaults of the exact solver

// rows: n x d, already scaled. Throws Error on a caller's mistake; a limit that was hit is a status in the report.
Learned learn_pbdl(const MatrixView& rows, const Supervision& supervision, const PbdlOptions& options = {},
                   const RunControl& control = {});
// The same for unscaled rows, as a model.
MethodFit fit_pbdl(const MatrixView& rows, const Supervision& supervision, const PbdlOptions& options = {},
                   const RunControl& control = {});

std::vector<double> default_lambdas();       // 10^-8, 10^-7, ..., 10^4
std::vector<double> all_pairs_lambdas();     // 10^-4, ..., 10^6: the losses of all pairs are a sum over n^2 pairs
std::vector<double> default_temperatures();  // 0 (the paper's method), 0.03, 0.1, ..., 10

// The farthest-point clustering (A6 of the paper) that assigns rows to pieces; centres are rows. Throws Error where
// there are fewer distinct locations than `pieces`. Takes time rows x pieces x features, on several threads.
struct FarthestPointCells {
  std::vector<int> piece_of;   // of each row: the piece of the nearest centre
  std::vector<Index> centres;  // of each piece: a row
};
FarthestPointCells farthest_point_cells(const MatrixView& rows, int pieces, std::uint64_t seed);

// The number of affine pieces of a divergence; 0 if it is not max-affine.
Index pieces_of(const Divergence& divergence);

// Whether all divergences between the rows (or a sample of them) are 0. Those of pbdl, smooth and deep may be 1e-6 of
// the margin, and those of pbdl their resolution.
bool is_constant(const Divergence& divergence, const MatrixView& scaled_rows);

}  // namespace bregmax
