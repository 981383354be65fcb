#include "methods/lambda_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {

double zero_model_loss(const Supervision& supervision) {
  double loss = 0;
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    for (const Comparison& c : *comparisons) loss += c.weight;
  } else if (is_pairs(supervision)) {
    for_each_pair(supervision, [&](const Pair& p) { loss += p.similar ? 0 : 2 * p.weight; });
  } else {
    for (const Target& t : std::get<Targets>(supervision)) loss += t.weight * t.value * t.value;
  }
  return loss;
}

LambdaPath::LambdaPath(LearningProblem problem, std::vector<double> lambdas, Solve solve, double proof_tolerance)
    : problem_(std::move(problem)),
      solve_(std::move(solve)),
      proof_tolerance_(proof_tolerance),
      zero_loss_(zero_model_loss(problem_.supervision)),
      points_(lambdas.size()) {
  if (lambdas.empty()) throw Error("there is no lambda to try; at least one is needed");
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    const bool ascends = i == 0 ? lambdas[i] >= 0 : lambdas[i] > lambdas[i - 1];
    if (!ascends || !std::isfinite(lambdas[i])) {
      throw Error(fmt::format("lambda {} is {}; allowed: finite numbers >= 0 that ascend", i, lambdas[i]));
    }
    points_[i].lambda = lambdas[i];
  }
  validate(problem_);
  // The right end first, then halving down to the left end: the virtual point lambda = 0 often makes that one free.
  const std::size_t last = points_.size() - 1;
  place(last, std::nullopt, std::nullopt);
  if (last == 0) return;
  const std::size_t middle = last / 2;
  place(middle, std::nullopt, last);
  if (middle > 0) {
    place(0, std::nullopt, middle);
    halve(0, middle);
  }
  halve(middle, last);
}

void LambdaPath::place(std::size_t point, std::optional<std::size_t> left, std::optional<std::size_t> right) {
  points_[point].left = left;
  points_[point].right = right;
  if (left) points_[point].after.push_back(*left);
  if (right) points_[point].after.push_back(*right);
  order_.push_back(point);
}

void LambdaPath::halve(std::optional<std::size_t> left, std::size_t right) {
  if (right - *left < 2) return;
  const std::size_t middle = *left + (right - *left) / 2;
  place(middle, left, right);
  halve(left, middle);
  halve(middle, right);
}

double LambdaPath::unit(double objective) const { return std::max(std::abs(objective), zero_loss_ / 1000); }

double LambdaPath::relative_gap(std::size_t point) const {
  const double objective = points_[point].model.objective(points_[point].lambda);
  return unit(objective) > 0 ? (objective - points_[point].lower_bound) / unit(objective) : 0;
}

bool LambdaPath::prove(Point& point) const {
  if (!point.right) return false;
  const Point& right = points_[*point.right];
  const double left_lambda = point.left ? points_[*point.left].lambda : 0;
  const double left_bound = point.left ? points_[*point.left].lower_bound : 0;
  const double share = (point.lambda - left_lambda) / (right.lambda - left_lambda);
  const double bound = std::max(0.0, (1 - share) * left_bound + share * right.lower_bound);
  // Of several that pass the one with the smallest Lipschitz constant, which is the one of the larger lambda.
  const KnownModel zero{zero_loss_, 0, std::nullopt};
  for (const KnownModel* model : {&zero, &right.model, point.left ? &points_[*point.left].model : nullptr}) {
    if (model == nullptr) continue;
    const double objective = model->objective(point.lambda);
    if (objective - bound > proof_tolerance_ * unit(objective)) continue;
    point.lower_bound = bound;
    point.model = *model;
    return true;
  }
  return false;
}

void LambdaPath::solve(std::size_t index, const RunControl& control) {
  LearningProblem problem = problem_;
  Point& point = points_[index];
  problem.lambda = point.lambda;
  point.solution = solve_(problem, control);
  point.solution.dual = {};  // large, and its work is done: it proved the bound
  point.solved = true;
  point.lower_bound = point.solution.report.lower_bound;
  point.model = {point.solution.report.loss, point.solution.report.lipschitz, index};
}

void LambdaPath::resolve(std::size_t point, const RunControl& control) {
  if (!prove(points_[point])) solve(point, control);
}

}  // namespace bregmax::internal
