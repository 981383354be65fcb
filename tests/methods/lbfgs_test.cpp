#include "methods/lbfgs.hpp"

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

TEST(Lbfgs, FollowsABentValley) {
  LbfgsState state;
  state.at = Vector::Constant(10, -1);
  double last = std::numeric_limits<double>::infinity();
  const auto outcome = minimise_lbfgs(
      rosenbrock, {.gradient_tolerance = 1e-9},
      [&](const LbfgsState& now) {
        EXPECT_LT(now.value, last);
        last = now.value;
        return true;
      },
      state);
  EXPECT_EQ(outcome, LbfgsOutcome::kSmallGradient);
  EXPECT_LT(state.evaluations, 200);
  EXPECT_NEAR((state.at - Vector::Ones(10)).norm(), 0, 1e-8);
}

TEST(Lbfgs, EndsAQuadraticOfSmallMemoryAsConjugateGradientsWould) {
  const Matrix factor = random_matrix(6, 6, 1);
  const Matrix hessian = factor * factor.transpose() + Matrix::Identity(6, 6);
  const Vector minimiser = random_matrix(6, 1, 2);
  const auto quadratic = [&](const Vector& at, VectorSpan gradient) {
    gradient = hessian * (at - minimiser);
    return (at - minimiser).dot(gradient) / 2;
  };
  LbfgsState state;
  state.at = Vector::Zero(6);
  EXPECT_EQ(minimise_lbfgs(quadratic, {.memory = 3, .gradient_tolerance = 1e-10}, {}, state),
            LbfgsOutcome::kSmallGradient);
  EXPECT_LT((state.at - minimiser).norm(), 1e-9);
  EXPECT_LT(state.iterations, 60);
}

TEST(Lbfgs, StepsBackFromOutsideTheDomain) {
  const auto barrier = [](const Vector& at, VectorSpan gradient) {
    gradient(0) = 1 - 1e-3 / at(0);
    return at(0) > 0 ? at(0) - 1e-3 * std::log(at(0)) : std::numeric_limits<double>::quiet_NaN();
  };
  LbfgsState state;
  state.at = Vector::Constant(1, 5);
  EXPECT_EQ(minimise_lbfgs(barrier, {.gradient_tolerance = 1e-6}, {}, state), LbfgsOutcome::kSmallGradient);
  EXPECT_NEAR(state.at(0), 1e-3, 1e-8);
}

TEST(Lbfgs, SaysWhyItEnds) {
  const auto run = [](const LbfgsOptions& options, const std::function<bool(const LbfgsState&)>& after_step) {
    LbfgsState state;
    state.at = Vector::Constant(4, -1);
    return minimise_lbfgs(rosenbrock, options, after_step, state);
  };
  EXPECT_EQ(run({.max_iterations = 3}, {}), LbfgsOutcome::kIterationLimit);
  EXPECT_EQ(run({}, [](const LbfgsState& state) { return state.iterations < 5; }), LbfgsOutcome::kInterrupted);
  EXPECT_EQ(run({.decrease_tolerance = 1e-3, .value_floor = 1}, {}), LbfgsOutcome::kSmallDecrease);
  const auto kink = [](const Vector& at, VectorSpan gradient) {  // the gradient points the wrong way
    gradient(0) = -1;
    return std::abs(at(0));
  };
  LbfgsState state;
  state.at = Vector::Zero(1);
  EXPECT_EQ(minimise_lbfgs(kink, {}, {}, state), LbfgsOutcome::kNoProgress);
  EXPECT_EQ(state.at(0), 0);
}

}  // namespace
}  // namespace bregmax::internal
