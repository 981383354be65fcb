#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/supervision.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/optimize/admm.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

enum class Scale { kNone, kStandard };
enum class Solver { kAuto, kExact, kAdmm };  // auto: by the predicted cost of the exact one

struct FitOptions {
  double lambda = 1;                                                 // >= 0
  double lipschitz_bound = std::numeric_limits<double>::infinity();  // > 0
  int pieces = 0;                                                    // K, 1 .. rows; 0: every row has its own
  std::optional<std::vector<int>> piece_of = {};                     // the piece of each row, given; overrides `pieces`
  Scale scale = Scale::kStandard;
  double smoothing = 0;     // temperature T >= 0 of the returned divergence; 0: max-affine
  double tolerance = 1e-8;  // relative gap
  int max_iterations = 400;
  double time_limit = 0;   // seconds; 0: none
  std::uint64_t seed = 0;  // of the farthest-point start and of what an early stop holds out
  Solver solver = Solver::kExact;
  AdmmOptions admm = {};    // tolerance, iterations and files of that solver; its time limit is the one above
  bool early_stop = false;  // admm: holds out a fifth of the items and ends when their loss no longer falls
};

struct FitResult {
  Model model;
  SolveReport report;
  Certificate certificate;
  std::string solver_reason = {};  // why the solver was chosen; empty where the caller chose it
  // The loss of the items under the model as it is applied. It is another than the report's where rows at one location
  // had pieces of their own in the fit, or pieces tie at a row, or the model is smoothed. None: the rows are many.
  std::optional<double> applied_loss = {};

  // Whether the two differ by more than rounding.
  bool applies_as_counted() const;
};

// rows: n x d, unscaled. Throws Error on a caller's mistake; a limit that was hit is a status in the report.
FitResult fit(const MatrixView& rows, const Supervision& supervision, const FitOptions& options = {},
              const RunControl& control = {});

// A6: the farthest-point clustering that assigns rows to pieces; centres are rows. Distinct locations run out before
// `pieces` do: Error. The time is that of rows x pieces x features, on several threads.
struct FarthestPointCells {
  std::vector<int> piece_of;   // of each row: the piece of the nearest centre
  std::vector<Index> centres;  // of each piece: a row
};
FarthestPointCells farthest_point_cells(const MatrixView& rows, int pieces, std::uint64_t seed);
// The piece of each row alone.
std::vector<int> farthest_point_pieces(const MatrixView& rows, int pieces, std::uint64_t seed);

}  // namespace bregmax
