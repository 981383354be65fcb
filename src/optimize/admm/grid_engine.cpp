#include <omp.h>

#include "optimize/admm/engine.hpp"
#include "optimize/admm/grid.hpp"
#include "optimize/problem/at.hpp"

namespace bregmax::internal {
namespace {

// On the whole grid, with label pairs and one piece per row.
template <class Number>
class GridEngine final : public AdmmEngine {
 public:
  GridEngine(const LearningProblem& problem, const AdmmOptions& options)
      : AdmmEngine(problem),
        state_(std::make_shared<State>(problem, options)),
        zero_(certified_zero_model(DualForm::kByRow)) {}

  std::string_view name() const override { return std::is_same_v<Number, float> ? "grid float" : "grid double"; }

  void start(const AffinePieces* model) override {
    const GridProblem& grid = state_->problem;
    PrimalPoint point{Vector::Zero(grid.pieces), Matrix::Zero(grid.pieces, grid.features)};
    if (model != nullptr) point = import_model(grid, model->slopes, model->offsets);
    state_->method.start(point.z, point.slopes);
  }

  void iterate() override { state_->method.iterate(); }
  int iteration() const override { return state_->method.iteration(); }
  AdmmResiduals residuals() const override { return state_->method.residuals(); }
  Solution zero_solution() override { return zero_; }

  // The dual variables of earlier iterates are gone, so the bound is that of this one, or of the zero model.
  void prove(Solution& best) override {
    Solution iterate;
    export_model(state_->problem, {state_->method.z(), state_->method.slopes()}, iterate);
    if (!iterate.slopes.allFinite() || !iterate.offsets.allFinite()) return;
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
  // Shared with the dual variables that a solution returns, which are functions of it.
  struct State {
    State(const LearningProblem& learning, const AdmmOptions& options)
        : problem(learning), method(problem, options.over_relaxation) {}
    GridProblem problem;
    AdmmGrid<Number> method;
  };

  std::shared_ptr<State> state_;
  Solution zero_;
};

}  // namespace

bool grid_engine_applies(const LearningProblem& problem) {
  if (!std::holds_alternative<LabelPairs>(problem.supervision) || problem.pieces != problem.points.rows() ||
      problem.piece_of.size() != at(problem.points.rows())) {
    return false;
  }
  for (Index i = 0; i < problem.points.rows(); ++i) {
    if (problem.piece_of[at(i)] != i) return false;
  }
  return true;
}

std::unique_ptr<AdmmEngine> make_grid_engine(const LearningProblem& problem, const AdmmOptions& options) {
  if (options.precision == StoragePrecision::kFloat) return std::make_unique<GridEngine<float>>(problem, options);
  return std::make_unique<GridEngine<double>>(problem, options);
}

double predict_grid_memory(const LearningProblem& problem, const AdmmOptions& options) {
  const auto rows = static_cast<double>(problem.points.rows()), features = static_cast<double>(problem.points.cols());
  const double number = options.precision == StoragePrecision::kFloat ? sizeof(float) : sizeof(double);
  // The copies; partial sums, and the blocks of rows of a proof; points, slopes and what is made of them.
  return rows * rows * number + 8 * rows * (64 + 256 * (4.0 + omp_get_max_threads())) + 8 * rows * features * 30;
}

}  // namespace bregmax::internal
