#include "methods/wu2009.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/exponential_sum.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/hinge_program.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

using internal::HingeProgram;

// x_k^T x_l / s, which h(z) = exp(z) must be able to take; h(z) = z^2 takes any.
Matrix inner_products(const MatrixView& rows, double scale, bool square) {
  Matrix products = internal::product_transposed(rows, rows) / scale;
  constexpr double kLargest = 300;
  if (!square && products.maxCoeff() > kLargest) {
    throw Error(
        fmt::format("with the scale {} the largest inner product of two rows is {}; allowed: up to {}, beyond "
                    "which the exponential kernel overflows; a larger scale, or 0, helps",
                    scale, products.maxCoeff(), kLargest));
  }
  return products;
}

// The variables are alpha_k sqrt(K_kk), so that the quadratic has a unit diagonal, followed by b.
struct Problem {
  HingeProgram program;
  Vector units;  // alpha = units * variable
};

Problem make_hinge_problem(const MatrixView& rows, Pairs pairs, bool square, double c, double scale) {
  std::erase_if(pairs, [](const Pair& pair) { return pair.weight == 0; });
  if (pairs.empty()) throw Error("every pair has weight 0; at least one must count");
  const Matrix products = inner_products(rows, scale, square);
  const Index count = rows.rows();
  const Matrix kernel = square ? Matrix(products.cwiseAbs2()) : Matrix(products.array().exp());
  const Matrix derivatives = square ? Matrix(2 * products) : kernel;  // of h
  Problem problem;
  // A row at the origin has no quadratic and, with h = z^2, no part in phi either.
  problem.units = kernel.diagonal().unaryExpr([](double value) { return value > 0 ? 1 / std::sqrt(value) : 0.0; });
  HingeProgram& program = problem.program;
  program.quadratic = Matrix::Zero(count + 1, count + 1);
  program.quadratic.topLeftCorner(count, count) = problem.units.asDiagonal() * kernel * problem.units.asDiagonal();
  program.margins.resize(static_cast<Index>(pairs.size()), count + 1);
  program.prices.resize(static_cast<Index>(pairs.size()));
  Index at = 0;
  for (const Pair& pair : pairs) {
    const double sign = pair.similar ? -1 : 1;
    const auto slope = derivatives.col(pair.i) - derivatives.col(pair.j);
    program.margins.row(at).head(count) =
        (sign * slope).cwiseProduct(products.col(pair.i) - products.col(pair.j)).cwiseProduct(problem.units);
    program.margins(at, count) = -sign;
    program.prices(at++) = c * pair.weight;
  }
  return problem;
}

// The share of pairs with d <= b: for y = 1 the margin is then at most 0, for y = -1 at least 0.
double similar_fraction(const HingeProgram& program, const Vector& x) {
  const Vector margins = internal::apply(program.margins, x);
  const auto threshold = program.margins.col(program.variables() - 1);
  return static_cast<double>((margins.array() * threshold.array() >= 0).count()) / static_cast<double>(margins.size());
}

// The subgradient method in the variables of the paper: alpha itself.
class Subgradient {
 public:
  Subgradient(const Problem& problem, double step)
      : problem_(problem),
        step_(step),
        x_(Vector::Zero(problem.program.variables())),
        multipliers_(problem.program.multipliers(x_)) {}

  bool iterate() {
    const HingeProgram& program = problem_.program;
    const Index count = program.variables() - 1;
    // x = alpha / units: divided by units, the slope in x becomes that in alpha; divided again, the step of alpha that
    // of x.
    Vector slope = program.slope(x_, multipliers_);
    for (Index k = 0; k < count; ++k) slope(k) *= problem_.units(k) > 0 ? 1 / std::pow(problem_.units(k), 2) : 0;
    x_ = (x_ - step_ / static_cast<double>(++iterations_) * slope).cwiseMax(0);
    multipliers_ = program.multipliers(x_);
    return x_.allFinite();
  }

  const Vector& x() const { return x_; }
  const Vector& multipliers() const { return multipliers_; }

 private:
  const Problem& problem_;
  double step_;
  int iterations_ = 0;
  Vector x_, multipliers_;
};

template <class Solver>
internal::Wu2009Result run(Solver solver, const Problem& problem, const MethodLimits& limits,
                           const RunControl& control) {
  const internal::IterationWatch watch(limits, control);
  const HingeProgram& program = problem.program;
  internal::Wu2009Result result;
  internal::BestPoint<Vector> best;
  const auto see = [&](const Vector& x, const Vector& multipliers) {
    best.see(x, program.objective(x), program.lower_bound(x, multipliers));
  };
  see(Vector::Zero(program.variables()), program.prices);
  const auto measure = [&] {
    see(solver.x(), solver.multipliers());
    return internal::IterationWatch::Measure{best.objective, best.gap() / program.zero_objective()};
  };
  result.learned.report = watch.run(measure, [&] {
    if (!solver.iterate()) return false;
    result.similar_fractions.push_back(similar_fraction(program, solver.x()));
    return true;
  });
  const Index count = program.variables() - 1;
  result.weights = problem.units.cwiseProduct(best.at.head(count));
  result.threshold = best.at(count);
  return result;
}

std::shared_ptr<const Divergence> make_divergence(const MatrixView& rows, const Vector& weights, double scale,
                                                  bool square) {
  if (!square) return std::make_shared<ExponentialSum>(rows / scale, weights);
  const Matrix metric = internal::transposed_product(rows, weights.asDiagonal() * rows) / (scale * scale);
  return std::make_shared<Mahalanobis>(internal::symmetrized(metric));
}

}  // namespace

internal::Wu2009Result internal::learn_wu2009(const MatrixView& rows, const Pairs& pairs, const MethodChoices& choices,
                                              const RunControl& control) {
  const ThreadLimit single(1);  // threads of BLAS would change digits
  const bool square = choices.whole("kernel") == 0, exact = choices.whole("algorithm") == 0;
  double scale = choices.number("scale");
  if (scale == 0) scale = rows.rowwise().squaredNorm().maxCoeff();
  if (scale == 0) scale = 1;  // all rows are at the origin
  const Problem problem = make_hinge_problem(rows, pairs, square, choices.number("c"), scale);
  Wu2009Result result = exact ? run(HingeInteriorPoint(problem.program), problem, choices.limits, control)
                              : run(Subgradient(problem, choices.number("step")), problem, choices.limits, control);
  result.learned.divergence = make_divergence(rows, result.weights, scale, square);
  return result;
}

Method internal::wu2009_method() {
  return {
      .name = "wu2009",
      .summary = "the Bregman distance functions of Wu et al.: a sum of one convex function over the training rows",
      .from_labels = true,
      .from_pairs = true,
      .parameters =
          {choice_parameter("kernel", "h(z): z^2 or exp(z)", {"square", "exponential"}, true),
           real_parameter("c", "weight of the hinge losses relative to the norm", 1, kPositive,
                          {1e-4, 1e-2, 1, 1e2, 1e4}),
           choice_parameter("algorithm", "exact, or the projected subgradients of the paper", {"exact", "subgradient"}),
           real_parameter("scale", "inner products are divided by this; 0: by the largest squared norm of a row", 0),
           real_parameter("step", "of the subgradient method, over the number of the iteration", 1, kPositive),
           constraints_parameter()},
      .limits = {1e-6, 1000, 0},
      .learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                  const RunControl& control) {
        return learn_wu2009(rows, pairs_of(supervision, choices), choices, control).learned;
      }};
}

}  // namespace bregmax
