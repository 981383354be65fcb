#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// The optimum of one learning problem at several lambdas, with as few runs of the solver as proofs allow.
//
// Let v(lambda) = min over models of loss + lambda L. As a minimum of functions that are affine in lambda with slopes
// L >= 0, v is concave and never decreases. Suppose lower bounds l_a <= v(a) and l_b <= v(b) are known, a < b.
// Then for lambda in [a, b]
//
//   v(lambda) >= ((b - lambda) l_a + (lambda - a) l_b) / (b - a)                                             (chord)
//
// while any model m bounds v from above by loss(m) + lambda L(m). Where the two differ by at most the proof's tolerance
// (relative to what the solver's gap is relative to), m is an optimum at lambda to that tolerance, and no run is
// needed. Tried are the models at a and b and the zero model. This covers the path's flat ends without a case of their
// own:
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
  // its bound and its model count.
  LambdaPath(LearningProblem problem, std::vector<double> lambdas, Solve solve, double proof_tolerance);

  std::size_t size() const { return points_.size(); }
  const LearningProblem& problem() const { return problem_; }
  // The points that must be resolved before this one.
  const std::vector<std::size_t>& after(std::size_t point) const { return points_[point].after; }
  // An order in which every point comes after those that it needs.
  const std::vector<std::size_t>& order() const { return order_; }

  // Several points may be resolved at once, on threads of their own.
  void resolve(std::size_t point, const RunControl& control);

  // Of a resolved point: the number of the point whose solution is the optimum here, its own if the solver ran;
  // nothing: the zero model.
  std::optional<std::size_t> solution_of(std::size_t point) const { return points_[point].model.solution; }
  const Solution& solution(std::size_t solved_point) const { return points_[solved_point].solution; }
  bool solved(std::size_t point) const { return points_[point].solved; }
  double relative_gap(std::size_t point) const;
  // What is known at a resolved point, all of it at the point's own lambda: loss + lambda * lipschitz is the objective.
  double lambda(std::size_t point) const { return points_[point].lambda; }
  double loss(std::size_t point) const { return points_[point].model.loss; }
  double lipschitz(std::size_t point) const { return points_[point].model.lipschitz; }
  double lower_bound(std::size_t point) const { return points_[point].lower_bound; }

 private:
  // What is known of a model: its objective is loss + lambda * lipschitz.
  struct KnownModel {
    double loss = 0, lipschitz = 0;
    std::optional<std::size_t> solution;
    double objective(double lambda) const { return loss + lambda * lipschitz; }
  };
  struct Point {
    double lambda = 0;
    std::vector<std::size_t> after;
    std::optional<std::size_t> left, right;  // ends of the interval; no left one: lambda = 0
    double lower_bound = 0;
    KnownModel model;
    bool solved = false;
    Solution solution;  // if solved
  };

  void halve(std::optional<std::size_t> left, std::size_t right);
  void place(std::size_t point, std::optional<std::size_t> left, std::optional<std::size_t> right);
  bool prove(Point& point) const;
  void solve(std::size_t index, const RunControl& control);
  double unit(double objective) const;

  LearningProblem problem_;
  Solve solve_;
  double proof_tolerance_;
  double zero_loss_;
  std::vector<Point> points_;
  std::vector<std::size_t> order_;
};

// The loss of the zero model, whose divergences are all 0.
double zero_model_loss(const Supervision& supervision);

}  // namespace bregmax::internal
