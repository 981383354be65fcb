#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bregmax/core/error.hpp"
#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"
#include "core/checks.hpp"
#include "methods/item_losses.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

// In which order the points of a path are resolved, and which of them each depends on: the two ends of the interval
// that it halves. Point i has the i-th smallest lambda.
class LambdaOrder {
 public:
  explicit LambdaOrder(std::size_t points) : needed_(points) {
    if (points == 0) return;
    // The right end first, then halving down to the left end: the virtual point lambda = 0 often makes that one free.
    const std::size_t last = points - 1;
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

  // An order in which every point comes after those that it needs.
  const std::vector<std::size_t>& order() const { return order_; }
  // The points that must be resolved before this one.
  std::vector<std::size_t> after(std::size_t point) const {
    std::vector<std::size_t> points;
    for (const auto& end : {left(point), right(point)}) {
      if (end) points.push_back(*end);
    }
    return points;
  }
  // The ends of its interval. No left one: lambda = 0; no right one: it is the right end of the path.
  std::optional<std::size_t> left(std::size_t point) const { return needed_[point].left; }
  std::optional<std::size_t> right(std::size_t point) const { return needed_[point].right; }

 private:
  struct Ends {
    std::optional<std::size_t> left, right;
  };

  void place(std::size_t point, std::optional<std::size_t> left, std::optional<std::size_t> right) {
    needed_[point] = {left, right};
    order_.push_back(point);
  }

  void halve(std::size_t left, std::size_t right) {
    if (right - left < 2) return;
    const std::size_t middle = left + (right - left) / 2;
    place(middle, left, right);
    halve(left, middle);
    halve(middle, right);
  }

  std::vector<Ends> needed_;
  std::vector<std::size_t> order_;
};

// The optimum of one learning problem at several lambdas, with as few runs of the solver as proofs allow.
//
// Let v(lambda) = min over models of loss + lambda L. As a minimum of functions that are affine in lambda with slopes
// L >= 0, v is concave and never decreases. Suppose lower bounds l_a <= v(a) and l_b <= v(b) are known, a < b.
// Then for lambda in [a, b]
//
//   v(lambda) >= ((b - lambda) l_a + (lambda - a) l_b) / (b - a)                                             (chord)
//
// while any model m bounds v from above by loss(m) + lambda L(m). Where the two differ by at most the proof's tolerance
// (relative, as the solver's gap is), m is an optimum at lambda to that tolerance, and no run is needed. Tried are the
// models at a and b and the zero model. This covers the flat ends of the path, too:
//   - above: once the zero model is optimal at a, l_a = l_b = loss(0) prove it for all lambda in between;
//   - below: where the loss of b's model is minimal, l_a + (lambda - a) L runs along the chord. And l_0 = 0 at
//     lambda = 0 needs no run at all, since losses are never negative: if b's model has no loss, it stays optimal down
//     to lambda = 0.
// A bound of the solver that holds only up to some Lipschitz constant makes the proof hold up to that constant.
//
// Points are resolved by halving the path: each depends on the two ends of its interval only, so that what is run and
// what is proved does not depend on the threads.
class LambdaPath {
 public:
  using Solve = std::function<Solution(const LearningProblem& problem, const RunControl& control)>;
  // lambdas ascend strictly, all >= 0; the problem's own lambda is not used. What `solve` returns need not be optimal:
  // only its bound and its model are used.
  LambdaPath(LearningProblem problem, std::vector<double> lambdas, Solve solve, double proof_tolerance)
      : problem_(std::move(problem)),
        solve_(std::move(solve)),
        proof_tolerance_(proof_tolerance),
        zero_loss_(zero_model_losses(problem_.supervision).loss),
        order_(lambdas.size()),
        points_(lambdas.size()) {
    if (lambdas.empty()) throw Error("there is no lambda to try; at least one is needed");
    for (std::size_t i = 0; i < lambdas.size(); ++i) {
      const bool ascends = i == 0 ? lambdas[i] >= 0 : lambdas[i] > lambdas[i - 1];
      if (!ascends || !std::isfinite(lambdas[i])) {
        fail("lambda {} is {}; allowed: finite numbers >= 0 that ascend", i, lambdas[i]);
      }
      points_[i].lambda = lambdas[i];
    }
    validate(problem_);
  }

  std::size_t size() const { return points_.size(); }
  const LearningProblem& problem() const { return problem_; }
  const LambdaOrder& order() const { return order_; }

  // Several points may be resolved at once, on different threads.
  void resolve(std::size_t point, const RunControl& control) {
    if (!prove(point)) solve(point, control);
  }

  // For a resolved point: the point whose solution is the optimum here (itself if the solver ran); nothing: the zero
  // model.
  std::optional<std::size_t> solution_of(std::size_t point) const { return points_[point].model.solution; }
  const Solution& solution(std::size_t solved_point) const { return points_[solved_point].solution; }
  bool solved(std::size_t point) const { return points_[point].solved; }
  double lambda(std::size_t point) const { return points_[point].lambda; }
  // The proof at a resolved point, for the lambda of that point.
  Proof proof(std::size_t point) const {
    const auto& [loss, lipschitz, solution] = points_[point].model;
    const double bound = points_[point].lower_bound, objective = loss + lambda(point) * lipschitz;
    return {objective, loss, lipschitz, bound, relative_gap(objective, bound, zero_loss_)};
  }

 private:
  // What is known of a model: its objective is loss + lambda * lipschitz.
  struct KnownModel {
    double loss = 0, lipschitz = 0;
    std::optional<std::size_t> solution;
    double objective(double lambda) const { return loss + lambda * lipschitz; }
  };
  struct Point {
    double lambda = 0;
    double lower_bound = 0;
    KnownModel model;
    bool solved = false;
    Solution solution;  // if solved
  };

  bool prove(std::size_t index) {
    Point& point = points_[index];
    if (!order_.right(index)) return false;
    const Point& right = points_[*order_.right(index)];
    const Point* left = order_.left(index) ? &points_[*order_.left(index)] : nullptr;
    const double left_lambda = left != nullptr ? left->lambda : 0;
    const double left_bound = left != nullptr ? left->lower_bound : 0;
    const double share = (point.lambda - left_lambda) / (right.lambda - left_lambda);
    const double bound = std::max(0.0, (1 - share) * left_bound + share * right.lower_bound);
    // If several pass, we take the one with the smallest Lipschitz constant: that of the largest lambda.
    const KnownModel zero{zero_loss_, 0, std::nullopt};
    for (const KnownModel* model : {&zero, &right.model, left != nullptr ? &left->model : nullptr}) {
      if (model == nullptr) continue;
      const double objective = model->objective(point.lambda);
      if (relative_gap(objective, bound, zero_loss_) > proof_tolerance_) continue;
      point.lower_bound = bound;
      point.model = *model;
      return true;
    }
    return false;
  }

  void solve(std::size_t index, const RunControl& control) {
    LearningProblem problem = problem_;
    Point& point = points_[index];
    problem.lambda = point.lambda;
    point.solution = solve_(problem, control);
    point.solution.dual = {};  // large, and its work is done: it proved the bound
    point.solved = true;
    point.lower_bound = point.solution.report.lower_bound;
    point.model = {point.solution.report.loss, point.solution.report.lipschitz, index};
  }

  LearningProblem problem_;
  Solve solve_;
  double proof_tolerance_;
  double zero_loss_;
  LambdaOrder order_;
  std::vector<Point> points_;
};

}  // namespace bregmax::internal
