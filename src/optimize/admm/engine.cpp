#include "optimize/admm/engine.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimize/admm/entries.hpp"
#include "optimize/admm/grid.hpp"
#include "optimize/proof/model_scale.hpp"
#include "optimize/proof/solve_support.hpp"

namespace bregmax::internal {
namespace {

// With neither a price nor a bound on the Lipschitz constant, lower bounds only hold for models near the best one.
bool bounds_hold_for_all(const LearningProblem& problem) { return !has_free_norm(problem); }

// With fewer pieces than rows, rows share the slope of their piece, and the set is stored by pairs of pieces.
bool few_pieces(const LearningProblem& problem) { return problem.pieces < problem.points.rows(); }

constexpr double kUnusedGap = 0.25;    // share of the allowed gap that a correction may give away
constexpr double kLeastUnused = 0.05;  // share of lambda below which a correction is not worth its work
constexpr double kLeastPart = 1e-8, kPartFactor = 4;

// On a set of entries of the divergence grid: the supervised ones, and the constraints that can be active.
class EntryEngine final : public AdmmEngine {
 public:
  explicit EntryEngine(const LearningProblem& problem)
      : AdmmEngine(problem),
        space_(few_pieces(problem) ? make_row_space(problem) : make_canonical_space(problem)),
        units_(space_->units()),
        method_(*space_) {}

  std::string_view name() const override { return "entries"; }

  void start() override { method_.start(); }
  bool iterate() override { return method_.iterate(); }
  int iteration() const override { return method_.iteration(); }
  AdmmResiduals residuals() const override { return method_.residuals(); }

  Solution zero_solution() override {
    return certified_zero_model(few_pieces(problem_) ? DualForm::kList : DualForm::kMatrix);
  }

  void prove(Solution& best) override {
    prove_with(method_.primal_point(), method_.multipliers(), best);
    if (method_.averaged() > 1) prove_with(method_.average_primal(), method_.average_multipliers(), best);
  }

  // Dual variables that leave a part of lambda unused prove less by that part of lambda L. A correction is worthwhile
  // if this is little: lambda is then small, and the derivatives of the Lagrangian hardly stay below it without one.
  bool prove_by_correction(double allowed, const std::function<bool()>& stop, Solution& best) override {
    const double cost = problem_.lambda * best.report.lipschitz;
    if (best.report.objective - best.report.lower_bound <= allowed || !(cost > 0)) return true;
    if (std::holds_alternative<Targets>(problem_.supervision)) return true;
    const double part = std::min(0.9, kUnusedGap * allowed / cost);
    if (part < kLeastUnused || !method_.correction_is_due()) return true;
    const std::optional<EntryMultipliers> corrected = method_.corrected_multipliers(part, stop);
    if (!corrected) return false;
    prove_with(method_.primal_point(), *corrected, best);
    return true;
  }

  // Mixes in a part of a strictly convex model.
  void separate_pieces(double most, Solution& best) override {
    if (best.report.lipschitz == 0 || repair_.own_pieces_lead(best)) return;
    for (const double part : {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4}) {
      AffinePieces candidate = best.pieces();
      if (!repair_.repair(part, candidate) || !repair_.own_pieces_lead(candidate)) continue;
      Solution other = best;
      choose_model(candidate, other);
      if (other.report.objective <= most) best = std::move(other);
      return;
    }
  }

  // The average is over the last part of the iterations only; the first ones are far from the solution.
  void after_proof() override {
    if (method_.averaged() > method_.iteration() / 4) method_.clear_average();
  }

  std::vector<Index> members() const override { return space_->members(); }
  void set_members(const std::vector<Index>& members) override { method_.set_members(members); }
  RawParts raw_state() override {
    RawParts parts = method_.raw_state();
    append(parts, repair_part_);
    return parts;
  }
  void after_restore() override { method_.after_restore(); }

 private:
  void prove_with(const PrimalPoint& primal, const EntryMultipliers& multipliers, Solution& best) {
    Solution iterate;
    export_model(units_, primal, iterate);
    if (!is_finite(iterate)) return;
    improve(iterate.pieces(), best);
    // A bound that only holds for models near the best one is computed again, since that one may have changed.
    if (!bounds_hold_for_all(problem_)) best.report.lower_bound = bound_of(best, best);
    iterate.dual = space_->dual_solution(multipliers);
    iterate.pieces() = best.pieces();
    const double bound = bound_of(iterate, best);
    if (bound > best.report.lower_bound) {
      best.report.lower_bound = bound;
      best.dual = std::move(iterate.dual);
    }
  }

  // Makes the pieces feasible with as little change as possible, and keeps them if they are better, scaled or not.
  void improve(AffinePieces candidate, Solution& best) {
    if (!make_feasible(candidate)) return;
    keep_if_better(candidate, best);
    // Near a solution the best scale is about 1; far from one it may be anything, and does not matter.
    scale(std::clamp(best_scale(problem_, candidate), 0.5, 2.0), candidate);
    keep_if_better(std::move(candidate), best);
  }

  // Mixes in as little as possible of the strictly convex model. The search starts near what the last one needed.
  bool make_feasible(AffinePieces& pieces) {
    // With one piece per row, take_over() changes the model less than mixing in a large part of another one.
    const bool own_pieces = !few_pieces(problem_);
    const double most = own_pieces ? 0.3 : 1;
    const AffinePieces given = pieces;
    double& part = repair_part_;
    part = part / (kPartFactor * kPartFactor) < kLeastPart ? 0 : part / (kPartFactor * kPartFactor);
    while (true) {
      if (repair_.repair(part, pieces)) return true;
      pieces = given;
      if (part == most) break;
      part = std::clamp(kPartFactor * part, kLeastPart, most);
    }
    part = 0;
    if (!own_pieces) return false;
    repair_.take_over(pieces);
    return repair_.violation(pieces).feasible();
  }

  std::unique_ptr<AdmmSpace> space_;
  const CanonicalUnits& units_;
  AdmmEntries method_;
  double repair_part_ = 0;  // of the strictly convex model that the last repair needed
};

// On the whole grid, with label pairs and one piece per row.
template <class Number>
class GridEngine final : public AdmmEngine {
 public:
  explicit GridEngine(const LearningProblem& problem)
      : AdmmEngine(problem), state_(std::make_shared<State>(problem)), zero_(certified_zero_model(DualForm::kByRow)) {}

  std::string_view name() const override { return std::is_same_v<Number, float> ? "grid float" : "grid double"; }

  void start() override { state_->method.start(); }
  bool iterate() override {
    state_->method.iterate();
    return true;
  }
  int iteration() const override { return state_->method.iteration(); }
  AdmmResiduals residuals() const override { return state_->method.residuals(); }
  Solution zero_solution() override { return zero_; }

  // The dual variables of earlier iterates are not kept, so the bound is that of this iterate or of the zero model.
  void prove(Solution& best) override {
    Solution iterate;
    export_model(state_->problem, {state_->method.z(), state_->method.slopes()}, iterate);
    if (!is_finite(iterate)) return;
    repair_.take_over(iterate);
    if (repair_.violation(iterate).feasible()) keep_if_better(iterate.pieces(), best);
    best.dual.by_row = [state = state_](Index begin, Index end, MatrixSpan block) {
      state->method.dual_rows(begin, end, block);
    };
    best.report.lower_bound = bound_of(best, best);
    if (best.report.lower_bound >= zero_.report.lower_bound) return;
    best.report.lower_bound = zero_.report.lower_bound;
    best.dual = zero_.dual;
  }

  RawParts raw_state() override { return state_->method.raw_state(); }
  void after_restore() override { state_->method.after_restore(); }

 private:
  // The dual variables of a returned solution are a function of this state, so they share it.
  struct State {
    explicit State(const LearningProblem& learning) : problem(learning), method(problem) {}
    GridProblem problem;
    AdmmGrid<Number> method;
  };

  std::shared_ptr<State> state_;
  Solution zero_;
};

}  // namespace

Solution AdmmEngine::certified_zero_model(DualForm form) const {
  Solution zero = zero_model(problem_, form);
  put_into_report(certify_bounds(problem_, zero, problem_.lipschitz_bound), zero.report);
  return zero;
}

double AdmmEngine::bound_of(const Solution& solution, const Solution& best) const {
  const bool for_all = bounds_hold_for_all(problem_) || best.report.lipschitz == 0;
  const double radius = for_all ? problem_.lipschitz_bound : kCertifiedRadius * best.report.lipschitz;
  return certify_bounds(problem_, solution, radius).lower_bound;
}

void AdmmEngine::choose_model(const AffinePieces& model, Solution& best) const {
  const double before = best.report.objective;
  best.report.objective = std::numeric_limits<double>::infinity();
  keep_if_better(model, best);
  if (std::isinf(best.report.objective)) best.report.objective = before;
}

void AdmmEngine::keep_if_better(AffinePieces candidate, Solution& best) const {
  respect_bound(problem_.lipschitz_bound, candidate);
  Solution bare;
  bare.pieces() = std::move(candidate);
  const Certificate found = certify_bounds(problem_, bare, 0);
  if (!(found.objective < best.report.objective)) return;
  best.report.convexity_violation = repair_.violation(bare).largest;
  best.report.loss = found.loss;
  best.report.lipschitz = found.lipschitz;
  best.report.objective = found.objective;
  best.pieces() = std::move(bare.pieces());
}

std::unique_ptr<AdmmEngine> make_entry_engine(const LearningProblem& problem) {
  return std::make_unique<EntryEngine>(problem);
}

double predict_entry_memory(const LearningProblem& problem) {
  return few_pieces(problem) ? predict_row_memory(problem) : predict_canonical_memory(problem);
}

bool grid_engine_applies(const LearningProblem& problem) {
  if (!std::holds_alternative<LabelPairs>(problem.supervision) || problem.pieces != problem.points.rows()) return false;
  int piece = 0;
  return std::ranges::all_of(problem.piece_of, [&piece](int of_row) { return of_row == piece++; });
}

std::unique_ptr<AdmmEngine> make_grid_engine(const LearningProblem& problem, const AdmmOptions& options) {
  if (options.precision == StoragePrecision::kFloat) return std::make_unique<GridEngine<float>>(problem);
  return std::make_unique<GridEngine<double>>(problem);
}

double predict_grid_memory(const LearningProblem& problem, const AdmmOptions& options) {
  const auto rows = static_cast<double>(problem.points.rows()), features = static_cast<double>(problem.points.cols());
  const double number = options.precision == StoragePrecision::kFloat ? sizeof(float) : sizeof(double);
  // The copies; partial sums, and the blocks of rows of a proof; points, slopes and arrays of their size.
  return rows * rows * number + 8 * rows * (64 + 256 * (4.0 + omp_get_max_threads())) + 8 * rows * features * 30;
}

}  // namespace bregmax::internal
