
#include <algorithm>
#include <set>
#include <utility>

#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "core/checks.hpp"
#include "methods/lambda_path.hpp"
#include "methods/methods.hpp"
#include "methods/pbdl_problem.hpp"

namespace bregmax::internal {
namespace {

struct FamilySettings {
  PbdlOptions fit;  // scale, pieces, limits of the folds
  std::vector<double> lambdas, temperatures;
  std::optional<LabelSupervisionOptions> supervision;  // of labels; none: folds have items
  double full_weight;  // of the supervision on all rows, for which the lambdas are meant; > 0
  double proof_tolerance;
};

// At most `most`; counting ends there.
Index distinct_rows(const MatrixView& rows, Index most) {
  std::set<std::vector<double>> distinct;
  for (Index i = 0; i < rows.rows() && std::ssize(distinct) < most; ++i) {
    const double* row = rows.row(i).data();
    distinct.emplace(row, row + rows.cols());
  }
  return std::ssize(distinct);
}

// The first step states the problem, each of the others resolves a point of the path.
class PbdlLearner final : public FoldLearner {
 public:
  PbdlLearner(const FamilySettings& settings, const Fold& fold)
      : settings_(settings), fold_(fold), order_(settings.lambdas.size()) {}

  std::vector<LearnStep> steps() const override {
    const std::vector<std::size_t>& order = order_.order();
    std::vector<LearnStep> steps(1 + order.size());
    for (std::size_t s = 0; s < order.size(); ++s) {
      LearnStep& step = steps[1 + s];
      step.after = {0};
      for (const std::size_t before : order_.after(order[s])) {
        step.after.push_back(1 + static_cast<std::size_t>(std::ranges::find(order, before) - order.begin()));
      }
      for (std::size_t t = 0; t < settings_.temperatures.size(); ++t) {
        step.candidates.push_back(candidate(order[s], t));
      }
    }
    return steps;
  }

  FoldFit run(std::size_t step, const RunControl& control) override {
    if (step == 0) {
      state_problem();
      return FoldFit::kSolved;
    }
    const std::size_t point = order_.order()[step - 1];
    path_->resolve(point, control);
    if (!path_->solved(point)) return FoldFit::kProved;
    const bool optimal = path_->solution(point).report.status == Status::kOptimal;
    return optimal ? FoldFit::kSolved : FoldFit::kUnproved;
  }

  std::optional<std::size_t> same_model(std::size_t candidate_number) const override {
    const auto [point, temperature] = parts(candidate_number);
    const auto solution = path_->solution_of(point);
    if (!solution || *solution == point) return std::nullopt;
    return candidate(*solution, temperature);
  }

  Model model(std::size_t candidate_number) const override {
    const auto [point, temperature] = parts(candidate_number);
    const LearningProblem& problem = path_->problem();
    const auto solution = path_->solution_of(point);
    Matrix slopes = Matrix::Zero(problem.pieces, problem.points.cols());
    Vector offsets = Vector::Zero(problem.pieces);
    Learned learned;
    learned.report.status = Status::kOptimal;
    double gap = 0;
    if (solution) {
      gap = path_->solution(*solution).report.relative_gap;
      slopes = path_->solution(*solution).slopes;
      offsets = path_->solution(*solution).offsets;
      static_cast<SolveReport&>(learned.report) = path_->solution(*solution).report;
    }
    // A model that was found at another lambda has another objective here.
    static_cast<Proof&>(learned.report) = path_->proof(point);
    learned.divergence = make_max_affine(std::move(slopes), std::move(offsets), settings_.temperatures[temperature],
                                         resolution_of(problem.supervision, gap));
    SolverRecord& proved = learned.proved.emplace();
    proved.solver = tunes_by_admm(problem, settings_.fit.solver) ? "admm" : "exact";
    proved.lambda = path_->lambda(point);  // that of the fold, which belongs to the objective
    proved.lipschitz_bound = problem.lipschitz_bound;
    proved.items = item_count(problem.supervision);
    return as_fit(std::move(learned), "pbdl", as_method_supervision(problem.supervision), scaling_,
                  problem.points.rows(), settings_.fit.seed)
        .model;
  }

 private:
  void state_problem() {
    scaling_ = make_scaling(fold_.train_rows, settings_.fit.scale);
    PbdlOptions fit = settings_.fit;
    if (!fold_.train_pieces.empty()) {
      fit.piece_of = fold_.train_pieces;
    } else if (fit.pieces > 0) {  // a fold may have fewer distinct rows than pieces
      fit.pieces = static_cast<int>(distinct_rows(fold_.train_rows, fit.pieces));
    }
    const Matrix points = scaling_.apply(fold_.train_rows);
    const Supervision supervision = fold_.train_items ? *fold_.train_items : drawn(points, fold_);
    const double share = zero_model_losses(supervision).weight / settings_.full_weight;
    std::vector<double> lambdas = settings_.lambdas;
    if (share > 0) {
      for (double& lambda : lambdas) lambda *= share;
    }
    path_ = std::make_unique<LambdaPath>(
        make_problem(points, supervision, fit), std::move(lambdas),
        [fit](const LearningProblem& problem, const RunControl& control) {
          return solve_for_tuning(problem, fit, control);
        },
        settings_.proof_tolerance);
  }

  Supervision drawn(const Matrix& points, const Fold& fold) const {
    LabelSupervisionOptions options = *settings_.supervision;
    options.seed ^= fold.seed;
    return supervision_from_labels(points, fold.train_classes, options);
  }

  // Candidates are numbered by falling lambda, then by rising temperature.
  std::size_t candidate(std::size_t point, std::size_t temperature) const {
    return (settings_.lambdas.size() - 1 - point) * settings_.temperatures.size() + temperature;
  }
  std::pair<std::size_t, std::size_t> parts(std::size_t candidate_number) const {
    const std::size_t count = settings_.temperatures.size();
    return {settings_.lambdas.size() - 1 - candidate_number / count, candidate_number % count};
  }

  const FamilySettings& settings_;
  const Fold& fold_;
  const LambdaOrder order_;
  Scaling scaling_;
  std::unique_ptr<LambdaPath> path_;
};

class PbdlFamily final : public CandidateFamily {
 public:
  explicit PbdlFamily(FamilySettings settings) : settings_(std::move(settings)) {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> list;
    for (auto lambda = settings_.lambdas.rbegin(); lambda != settings_.lambdas.rend(); ++lambda) {
      for (const double temperature : settings_.temperatures) list.push_back(candidate(*lambda, temperature));
    }
    return list;
  }

  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<PbdlLearner>(settings_, fold);
  }

 private:
  Settings candidate(double lambda, double temperature) const {
    const PbdlOptions& fit = settings_.fit;
    const std::string pieces = fit.piece_of ? "given" : fit.pieces == 0 ? "all" : "";
    Settings list = {{"lambda", lambda},
                     {"smoothing", temperature},
                     {"scale", 0, to_string(fit.scale)},
                     {"pieces", pieces.empty() ? static_cast<double>(fit.pieces) : 0, pieces}};
    if (settings_.supervision) list.push_back({"supervision", 0, to_string(settings_.supervision->kind)});
    return list;
  }

  FamilySettings settings_;
};

}  // namespace

CandidateFamilies pbdl_families(const FamilyOptions& options) {
  FamilySettings settings;
  settings.fit = pbdl_options(resolve(options.method, options.settings));
  settings.lambdas = options.values("lambda");
  settings.temperatures = options.values("smoothing");
  settings.proof_tolerance = options.proof_tolerance;
  CandidateFamilies families;
  for (const Scale scale : options.scales) {
    for (const double pieces : options.values("pieces")) {
      for (std::size_t s = 0; s < std::max<std::size_t>(1, options.supervision.size()); ++s) {
        settings.fit.scale = scale;
        settings.fit.pieces = static_cast<int>(pieces);
        if (!options.supervision.empty()) settings.supervision = options.supervision[s];
        settings.full_weight = options.total_weight(scale, s);
        if (!(settings.full_weight > 0)) {
          fail("the weights of the supervision sum to {}; allowed: > 0", settings.full_weight);
        }
        families.push_back(std::make_shared<PbdlFamily>(settings));
      }
    }
  }
  return families;
}

}  // namespace bregmax::internal
