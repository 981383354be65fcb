#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimize/admm/engine.hpp"
#include "optimize/admm/grid.hpp"
#include "optimize/problem/at.hpp"
#include "optimize/proof/certify_bounds.hpp"
#include "optimize/proof/solve_support.hpp"

namespace bregmax::internal {
namespace {

// On the whole grid, with label pairs and a piece a row.
template <class Number>
class GridEngine final : public AdmmEngine {
 public:
  GridEngine(const LearningProblem& problem, const AdmmOptions& options)
      : problem_(problem), state_(std::make_shared<State>(problem, options)), repair_(problem) {}

  std::string_view name() const override { return std::is_same_v<Number, float> ? "grid float" : "grid double"; }

  void start(const AffinePieces* model) override {
    const GridProblem& grid = state_->problem;
    Vector z = Vector::Zero(problem_.pieces);
    Matrix slopes = Matrix::Zero(problem_.pieces, grid.features);
    if (model != nullptr) grid.place(*model, z, slopes);
    state_->method.start(z, slopes);
  }

  void iterate() override { state_->method.iterate(); }
  int iteration() const override { return state_->method.iteration(); }
  AdmmResiduals residuals() const override { return state_->method.residuals(); }
  AffinePieces model() {
    return state_->problem.pieces_of(state_->method.z(), state_->method.slopes(), problem_.points.cols());
  }

  AdmmProof first_proof() override {
    AdmmProof proof;
    proof.model.slopes.setZero(problem_.pieces, problem_.points.cols());
    proof.model.offsets.setZero(problem_.pieces);
    const Certificate certificate = certify(problem_, solution_of(proof.model, zero_pushes()));
    proof.objective = proof.loss = zero_objective_ = certificate.objective;
    proof.lower_bound = zero_bound_ = certificate.lower_bound;
    proof.dual.pushes = zero_pushes();
    set_unit(proof);
    return proof;
  }

  // Multipliers of earlier iterates are gone: the bound is that of this one, or of the zero model.
  void prove(AdmmProof& proof) override {
    const AffinePieces pieces = model();
    if (!pieces.slopes.allFinite() || !pieces.offsets.allFinite()) return;
    improve(pieces, proof);
    const Solution solution = solution_of(proof.model, iterate_pushes());
    const double bound = certify_bounds(problem_, solution, proof_radius(problem_, proof)).lower_bound;
    proof.lower_bound = std::max(bound, zero_bound_);
    proof.dual.pushes = bound >= zero_bound_ ? iterate_pushes() : zero_pushes();
  }

  void choose_model(const AffinePieces& model, AdmmProof& proof) override {
    AdmmProof other = proof;
    other.objective = std::numeric_limits<double>::infinity();
    improve(model, other);
    if (std::isfinite(other.objective)) proof = std::move(other);
  }

  RawParts raw_state() override { return state_->method.raw_state(); }
  void after_restore() override { state_->method.after_restore(); }

 private:
  // Shared with the multipliers that a solution returns, which are functions of it.
  struct State {
    State(const LearningProblem& learning, const AdmmOptions& options)
        : problem(learning), method(problem, options.over_relaxation) {}
    GridProblem problem;
    AdmmGrid<Number> method;
  };

  static Solution solution_of(const AffinePieces& model, DualSolution::PushRows pushes) {
    Solution solution;
    solution.slopes = model.slopes;
    solution.offsets = model.offsets;
    solution.dual.pushes = std::move(pushes);
    return solution;
  }

  DualSolution::PushRows iterate_pushes() const {
    return [state = state_](Index begin, Index end, MatrixSpan block) { state->method.pushes(begin, end, block); };
  }

  // Where every divergence is zero, what a dissimilar pair wants of D(i, j) is undone at D(j, i).
  DualSolution::PushRows zero_pushes() const {
    return [pairs = std::get<LabelPairs>(problem_.supervision)](Index begin, Index end, MatrixSpan block) {
      for (Index i = begin; i < end; ++i) {
        for (Index j = 0; j < pairs.rows(); ++j) {
          const Pair pair = pairs.pair(i, j);
          block(i - begin, j) = (pair.similar ? 1 : 2) * pair.weight;
        }
      }
    };
  }

  void set_unit(AdmmProof& proof) const {
    proof.unit = std::max({std::abs(proof.objective), zero_objective_ / 1000, 1e-300});
  }

  // Few sweeps over the grid: a row takes over the piece that is the largest there.
  void improve(const AffinePieces& pieces, AdmmProof& proof) const {
    AffinePieces candidate = pieces;
    repair_.take_over(candidate);
    if (!repair_.violation(candidate).feasible()) return;
    const auto loss_of = [&](const AffinePieces& model) {
      return certify_bounds(problem_, solution_of(model, {}), 0).loss;
    };
    keep_if_better(problem_, repair_, std::move(candidate), loss_of, proof);
    set_unit(proof);
  }

  const LearningProblem& problem_;
  std::shared_ptr<State> state_;
  ConvexRepair repair_;
  double zero_objective_ = 0, zero_bound_ = 0;
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
  // The copies; sums in parts, and the blocks of rows of a proof; points, slopes and what is made of them.
  return rows * rows * number + 8 * rows * (64 + 256 * (4.0 + omp_get_max_threads())) + 8 * rows * features * 30;
}

}  // namespace bregmax::internal
