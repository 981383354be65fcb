#include "bregmax/learn/pbdl_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/factory.hpp"
#include "learn/lambda_path.hpp"
#include "learn/learning_parts.hpp"
#include "learn/solver_choice.hpp"

namespace bregmax {
namespace {

Index distinct_rows(const Matrix& rows) {
  std::set<std::vector<double>> distinct;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double* row = rows.row(i).data();
    distinct.emplace(row, row + rows.cols());
  }
  return static_cast<Index>(distinct.size());
}

class PbdlLearner final : public FoldLearner {
 public:
  PbdlLearner(const PbdlFamilyOptions& options, const Fold& fold)
      : options_(options), scaling_(internal::make_scaling(fold.train_rows, options.fit.scale)) {
    FitOptions fit = options.fit;
    if (!fold.train_pieces.empty()) {
      fit.piece_of = fold.train_pieces;
    } else if (fit.pieces > 0) {  // a fold may have fewer different rows than pieces are asked for
      fit.pieces = static_cast<int>(std::min<Index>(fit.pieces, distinct_rows(fold.train_rows)));
    }
    LabelSupervisionOptions drawn = options.supervision;
    drawn.seed ^= fold.seed;
    const Supervision supervision =
        fold.train_items ? *fold.train_items
                         : supervision_from_labels(scaling_.apply(fold.train_rows), fold.train_classes, drawn);
    const double share = internal::total_weight(supervision) / options.full_weight;
    std::vector<double> lambdas = options.lambdas;
    if (share > 0) {
      for (double& lambda : lambdas) lambda *= share;
    }
    path_ = std::make_unique<internal::LambdaPath>(
        internal::make_problem(scaling_, fold.train_rows, supervision, fit), std::move(lambdas),
        [fit](const LearningProblem& problem, const RunControl& control) {
          return internal::solve_for_tuning(problem, fit, control);
        },
        options.proof_tolerance);
  }

  std::vector<LearnStep> steps() const override {
    const auto& order = path_->order();
    std::vector<LearnStep> steps(order.size());
    for (std::size_t s = 0; s < order.size(); ++s) {
      for (const std::size_t before : path_->after(order[s])) {
        steps[s].after.push_back(
            static_cast<std::size_t>(std::find(order.begin(), order.end(), before) - order.begin()));
      }
      for (std::size_t t = 0; t < options_.temperatures.size(); ++t) {
        steps[s].candidates.push_back(candidate(order[s], t));
      }
    }
    return steps;
  }

  StepOutcome run(std::size_t step, const RunControl& control) override {
    const std::size_t point = path_->order()[step];
    path_->resolve(point, control);
    if (!path_->solved(point)) return StepOutcome::kProved;
    const bool optimal = path_->solution(point).report.status == Status::kOptimal;
    return optimal ? StepOutcome::kSolved : StepOutcome::kUnproved;
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
    Model model;
    model.scaling = scaling_;
    Matrix slopes = Matrix::Zero(problem.pieces, problem.points.cols());
    Vector offsets = Vector::Zero(problem.pieces);
    SolveReport report;
    report.status = Status::kOptimal;
    if (solution) {
      slopes = path_->solution(*solution).slopes;
      offsets = path_->solution(*solution).offsets;
      report = path_->solution(*solution).report;
    }
    // A model that was found at another lambda has another objective here.
    report.loss = path_->loss(point);
    report.lipschitz = path_->lipschitz(point);
    report.objective = report.loss + path_->lambda(point) * report.lipschitz;
    report.lower_bound = path_->lower_bound(point);
    report.relative_gap = path_->relative_gap(point);
    model.divergence = make_max_affine(std::move(slopes), std::move(offsets), options_.temperatures[temperature]);
    model.record = internal::make_record(problem, options_.fit, report);
    model.record.lambda = path_->lambda(point);  // that of the fold, which belongs to the objective
    return model;
  }

 private:
  // Candidates are numbered by falling lambda, then by rising temperature.
  std::size_t candidate(std::size_t point, std::size_t temperature) const {
    return (path_->size() - 1 - point) * options_.temperatures.size() + temperature;
  }
  std::pair<std::size_t, std::size_t> parts(std::size_t candidate_number) const {
    const std::size_t count = options_.temperatures.size();
    return {path_->size() - 1 - candidate_number / count, candidate_number % count};
  }

  const PbdlFamilyOptions& options_;
  Scaling scaling_;
  std::unique_ptr<internal::LambdaPath> path_;
};

class PbdlFamily final : public CandidateFamily {
 public:
  explicit PbdlFamily(PbdlFamilyOptions options) : options_(std::move(options)) {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> list;
    for (auto lambda = options_.lambdas.rbegin(); lambda != options_.lambdas.rend(); ++lambda) {
      for (const double temperature : options_.temperatures) list.push_back(settings(*lambda, temperature));
    }
    return list;
  }

  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<PbdlLearner>(options_, fold);
  }

 private:
  Settings settings(double lambda, double temperature) const {
    const FitOptions& fit = options_.fit;
    Settings list = {{"lambda", lambda},
                     {"smoothing", temperature},
                     {"scale", 0, fit.scale == Scale::kStandard ? "standard" : "none"}};
    if (fit.piece_of)
      list.push_back({"pieces", 0, "given"});
    else if (fit.pieces == 0)
      list.push_back({"pieces", 0, "all"});
    else
      list.push_back({"pieces", static_cast<double>(fit.pieces)});
    if (options_.from_labels) list.push_back({"supervision", 0, to_string(options_.supervision.kind)});
    return list;
  }

  PbdlFamilyOptions options_;
};

}  // namespace

std::shared_ptr<const CandidateFamily> make_pbdl_family(PbdlFamilyOptions options) {
  if (options.temperatures.empty()) throw Error("there is no temperature to try; at least one is needed");
  for (const double temperature : options.temperatures) {
    if (!(temperature >= 0) || !std::isfinite(temperature)) {
      throw Error(fmt::format("smoothing is {}; allowed: a finite number >= 0", temperature));
    }
  }
  if (!(options.full_weight > 0)) {
    throw Error(fmt::format("the weights of the supervision sum to {}; allowed: > 0", options.full_weight));
  }
  return std::make_shared<PbdlFamily>(std::move(options));
}

}  // namespace bregmax
