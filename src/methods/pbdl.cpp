#include "bregmax/methods/pbdl.hpp"

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "core/checks.hpp"
#include "methods/item_folds.hpp"
#include "methods/item_losses.hpp"
#include "methods/methods.hpp"
#include "methods/model_start.hpp"
#include "methods/parameters.hpp"
#include "methods/pbdl_problem.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

void check_options(const PbdlOptions& options) {
  if (!(options.smoothing >= 0) || !std::isfinite(options.smoothing)) {
    internal::fail("smoothing is {}; allowed: a finite number >= 0", options.smoothing);
  }
  if (options.solver.early_stop && options.solver.solver != Solver::kAdmm) {
    throw Error("early_stop is for the solver kAdmm only");
  }
  if (options.pieces < 0) internal::fail("pieces is {}; allowed: 0 (every row) or more", options.pieces);
}

Solution solve_with_admm(LearningProblem& problem, const PbdlOptions& options, const RunControl& control) {
  constexpr int kFolds = 5;
  AdmmOptions admm = internal::admm_options(options);
  if (!options.solver.early_stop) return solve_admm(problem, admm, control);
  const Index items = item_count(problem.supervision);
  if (items < kFolds) {
    internal::fail("early stopping holds out a fifth of the supervision, which has {}; at least {} are needed", items,
                   kFolds);
  }
  auto [train, held_out] = internal::item_folds(problem.supervision, kFolds, options.seed, 1).front();
  problem.supervision = std::move(train);
  admm.validation = [&, &judges = held_out](const AffinePieces& model) {
    return internal::mean_loss(*make_max_affine(model.slopes, model.offsets, 0), problem.points, judges);
  };
  return solve_admm(problem, admm, control);
}

constexpr Index kMostRowsToApply = 3000;  // a matrix of all their divergences is small

std::vector<double> decades(int first, int last) {
  std::vector<double> lambdas;
  for (int exponent = first; exponent <= last; ++exponent) lambdas.push_back(std::pow(10.0, exponent));
  return lambdas;
}

}  // namespace

std::vector<double> default_lambdas() { return decades(-8, 4); }

std::vector<double> all_pairs_lambdas() { return decades(-4, 6); }

std::vector<double> default_temperatures() { return {0, 0.03, 0.1, 0.3, 1, 3, 10}; }

Index pieces_of(const Divergence& divergence) {
  const auto pieces = max_affine_pieces(divergence);
  return pieces ? pieces->offsets.size() : 0;
}

bool is_constant(const Divergence& divergence, const MatrixView& scaled_rows) {
  constexpr double kOfTheMargin = 1e-6;
  constexpr Index kSampledRows = 200;
  const Index step = (scaled_rows.rows() + kSampledRows - 1) / kSampledRows;
  if (step == 0) return false;
  const Index sampled = (scaled_rows.rows() + step - 1) / step;
  const Matrix sample = scaled_rows(Eigen::seqN(0, sampled, step), Eigen::all);
  // Smoothing makes divergences small but not useless, so we look at the max-affine divergence behind it. Divergences
  // of other kinds have no margin to compare with.
  if (const auto* smoothed = dynamic_cast<const SmoothedMaxAffine*>(&divergence)) {
    return is_constant(MaxAffine(smoothed->slopes(), smoothed->offsets()), sample);
  }
  double nothing = 0;
  if (const auto* max_affine = dynamic_cast<const MaxAffine*>(&divergence)) {
    nothing = std::max(kOfTheMargin, max_affine->resolution());
  } else if (internal::is_learned_by_gradients(divergence)) {
    // From pairs the margin is 1, whatever the unit.
    nothing = kOfTheMargin * std::min(1.0, internal::unit_of(divergence));
  }
  return divergence.matrix(sample, sample).maxCoeff() <= nothing;
}

Learned learn_pbdl(const MatrixView& rows, const Supervision& supervision, const PbdlOptions& options,
                   const RunControl& control) {
  check_options(options);
  internal::check_bounded_rows(rows);
  LearningProblem problem = internal::make_problem(rows, supervision, options);
  Learned learned;
  SolverRecord& proved = learned.proved.emplace();
  const bool admm = internal::takes_admm(problem, options, proved.solver_reason);
  if (admm && !proved.solver_reason.empty()) control.log("solver admm: " + proved.solver_reason);
  const InteriorPointOptions exact = internal::exact_options(options);
  Solution solution = admm ? solve_with_admm(problem, options, control) : solve_interior_point(problem, exact, control);
  static_cast<SolveReport&>(learned.report) = solution.report;
  proved.certificate = certify(problem, solution);
  proved.solver = admm ? "admm" : "exact";
  proved.tolerance = admm ? internal::admm_options(options).tolerance : exact.tolerance;
  proved.lambda = problem.lambda;
  proved.lipschitz_bound = problem.lipschitz_bound;
  proved.items = item_count(problem.supervision);
  learned.divergence = make_max_affine(std::move(solution.slopes), std::move(solution.offsets), options.smoothing,
                                       internal::resolution_of(problem.supervision, solution.report.relative_gap));
  if (rows.rows() <= kMostRowsToApply) {
    proved.applied_loss = internal::sum_losses(*learned.divergence, problem.points, problem.supervision).loss;
  }
  proved.constant = is_constant(*learned.divergence, problem.points);
  return learned;
}

MethodFit fit_pbdl(const MatrixView& rows, const Supervision& supervision, const PbdlOptions& options,
                   const RunControl& control) {
  internal::check_bounded_rows(rows);
  const Scaling scaling = make_scaling(rows, options.scale);
  return internal::as_fit(learn_pbdl(scaling.apply(rows), supervision, options, control), "pbdl",
                          as_method_supervision(supervision), scaling, rows.rows(), options.seed);
}

FarthestPointCells farthest_point_cells(const MatrixView& rows, int pieces, std::uint64_t seed) {
  const Index count = rows.rows();
  if (pieces < 1 || pieces > count) {
    internal::fail("pieces is {}; allowed: 1 to {} (the number of rows)", pieces, count);
  }
  FarthestPointCells cells{std::vector<int>(static_cast<std::size_t>(count), 0), {}};
  Vector distance = Vector::Constant(count, std::numeric_limits<double>::infinity());
  Index centre = Random(seed).uniform_index(count);
  for (int piece = 0; piece < pieces; ++piece) {
    if (piece > 0 && distance(centre) == 0)
      internal::fail("pieces is {}, but the rows have only {} distinct locations", pieces, piece);
    cells.centres.push_back(centre);
#pragma omp parallel for schedule(static) if (count > 10000)
    for (Index i = 0; i < count; ++i) {
      const double to_centre = (rows.row(i) - rows.row(centre)).squaredNorm();
      if (to_centre < distance(i)) {
        distance(i) = to_centre;
        cells.piece_of[i] = piece;
      }
    }
    distance.maxCoeff(&centre);
  }
  return cells;
}

Method internal::pbdl_method() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Method method;
  method.name = "pbdl";
  method.summary = "piecewise Bregman divergence learning: a max-affine divergence, to a proved gap";
  method.from_labels = method.from_pairs = method.from_targets = method.from_comparisons = true;
  method.learns_from_items = true;
  method.resumable = true;
  method.limits = kPbdlLimits;
  method.fold_tolerance = 1e-4;
  method.parameters = {
      tuned(real_parameter("lambda", "weight of the Lipschitz constant relative to the summed loss", 1, {},
                           default_lambdas())),
      tuned(real_parameter("smoothing", "temperature of the returned divergence; 0: the max-affine one itself", 0, {},
                           default_temperatures())),
      whole_parameter("pieces", "affine pieces, assigned by farthest-point clustering; all: one per row", 0, {1, 1e9}),
      real_parameter("lipschitz", "hard bound on the Lipschitz constant", kInfinity, kPositive)};
  method.parameters[2].word = {"all", 0};
  method.parameters[3].word = {"none", kInfinity};
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    const auto* classes = std::get_if<ClassOfRow>(&supervision);
    return learn_pbdl(rows, classes != nullptr ? label_pairs(*classes) : items_of(supervision), pbdl_options(choices),
                      control);
  };
  method.predicted_seconds = [](const FitSize& size, const MethodChoices& choices) {
    const double pieces = choices.number("pieces");
    const double items = size.items > 0 ? size.items : size.rows * size.rows;  // labels: all pairs
    return predict_exact({size.rows, size.features, pieces > 0 ? std::min(pieces, size.rows) : size.rows, items,
                          size.comparisons})
        .seconds;
  };
  method.families = pbdl_families;
  return method;
}

}  // namespace bregmax
