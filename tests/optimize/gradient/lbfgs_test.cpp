#include "optimize/gradient/lbfgs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "methods/labelled_rows.hpp"

namespace bregmax::internal {
namespace {

double rosenbrock(const Vector& at, VectorSpan gradient) {
  double value = 0;
  gradient.setZero();
  for (Index i = 0; i + 1 < at.size(); ++i) {
    const double bend = at(i + 1) - at(i) * at(i), rest = 1 - at(i);
    value += 100 * bend * bend + rest * rest;
    gradient(i) += -400 * bend * at(i) - 2 * rest;
    gradient(i + 1) += 200 * bend;
  }
  return value;
}

// Goes on until the largest entry of the gradient is at most this.
auto until_gradient(double tolerance) {
  return [tolerance](const LbfgsState& now) { return now.gradient.lpNorm<Eigen::Infinity>() > tolerance; };
}

TEST(Lbfgs, FollowsABentValley) {
  LbfgsState state;
  state.at = Vector::Constant(10, -1);
  double last = std::numeric_limits<double>::infinity();
  minimise_lbfgs(
      rosenbrock, {},
      [&](const LbfgsState& now) {
        EXPECT_LT(now.value, last);
        last = now.value;
        return until_gradient(1e-9)(now);
      },
      state);
  EXPECT_LT(state.evaluations, 200);
  EXPECT_NEAR((state.at - Vector::Ones(10)).norm(), 0, 1e-8);
}

// Conjugate gradients would take 6 steps; the line search is not exact, so that these are more, and fewer the longer
// the memory is. 50 and 22 were seen.
TEST(Lbfgs, EndsAQuadraticTheFasterTheMoreItRemembers) {
  const Matrix factor = random_matrix(6, 6, 1);
  const Matrix hessian = factor * factor.transpose() + Matrix::Identity(6, 6);
  const Vector minimiser = random_matrix(6, 1, 2);
  const auto quadratic = [&](const Vector& at, VectorSpan gradient) {
    gradient = hessian * (at - minimiser);
    return (at - minimiser).dot(gradient) / 2;
  };
  for (const auto& [memory, most_steps] : {std::pair(3, 55), std::pair(10, 25)}) {
    LbfgsState state;
    state.at = Vector::Zero(6);
    minimise_lbfgs(quadratic, {.memory = memory}, until_gradient(1e-10), state);
    EXPECT_LT((state.at - minimiser).norm(), 1e-9);
    EXPECT_LE(state.iterations, most_steps) << memory;
  }
}

TEST(Lbfgs, StepsBackFromOutsideTheDomain) {
  const auto barrier = [](const Vector& at, VectorSpan gradient) {
    gradient(0) = 1 - 1e-3 / at(0);
    return at(0) > 0 ? at(0) - 1e-3 * std::log(at(0)) : std::numeric_limits<double>::quiet_NaN();
  };
  LbfgsState state;
  state.at = Vector::Constant(1, 5);
  minimise_lbfgs(barrier, {}, until_gradient(1e-6), state);
  EXPECT_NEAR(state.at(0), 1e-3, 1e-8);
}

TEST(Lbfgs, EndsByItsOptions) {
  const auto run = [](const LbfgsOptions& options, const std::function<bool(const LbfgsState&)>& after_step) {
    LbfgsState state;
    state.at = Vector::Constant(4, -1);
    minimise_lbfgs(rosenbrock, options, after_step, state);
    return state.iterations;
  };
  EXPECT_EQ(run({.max_iterations = 3}, {}), 3);
  EXPECT_EQ(run({}, [](const LbfgsState& state) { return state.iterations < 5; }), 5);
  double last = 404 * 3;  // at the start
  int small = 0;
  const int steps = run({.decrease_tolerance = 0.3, .patience = 2}, [&](const LbfgsState& now) {
    EXPECT_LT(small, 2) << "goes on after two small decreases";
    small = last - now.value <= 0.3 * now.value ? small + 1 : 0;
    last = now.value;
    return true;
  });
  EXPECT_EQ(small, 2);
  EXPECT_LT(steps, 1000);
}

TEST(Lbfgs, StaysWhereNoStepDecreasesTheValue) {
  const auto kink = [](const Vector& at, VectorSpan gradient) {  // the gradient points the wrong way
    gradient(0) = -1;
    return std::abs(at(0));
  };
  LbfgsState state;
  state.at = Vector::Zero(1);
  minimise_lbfgs(kink, {}, {}, state);
  EXPECT_EQ(state.iterations, 0);
  EXPECT_EQ(state.at(0), 0);
  const auto valley = [](const Vector& at, VectorSpan gradient) {
    gradient = at;
    return at.squaredNorm() / 2;
  };
  state = {};
  state.at = Vector::Zero(1);
  minimise_lbfgs(valley, {.first_step = 0.1}, {}, state);
  EXPECT_EQ(state.iterations, 0) << "the gradient is 0";
}

}  // namespace
}  // namespace bregmax::internal
