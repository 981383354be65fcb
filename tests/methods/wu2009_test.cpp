#include "methods/wu2009.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/data/scaling.hpp"
#include "bregmax/supervision/sample.hpp"
#include "methods/cases.hpp"
#include "methods/hinge_program.hpp"

namespace bregmax {
namespace {

using internal::HingeInteriorPoint;
using internal::HingeProgram;
using internal::Wu2009Result;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The objective by its definition, from the learned divergence itself.
double objective(const Matrix& rows, const Pairs& pairs, const MethodChoices& choices, const Vector& weights,
                 double threshold) {
  const bool square = choices.whole("kernel") == 0;
  const double scale = choices.number("scale");
  const auto h = [&](double z) { return square ? z * z : std::exp(z); };
  const auto slope = [&](double z) { return square ? 2 * z : std::exp(z); };
  const Matrix products = rows * rows.transpose() / scale;
  double sum = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.rows(); ++j) sum += 0.5 * weights(i) * weights(j) * h(products(i, j));
  }
  for (const Pair& pair : pairs) {
    double distance = 0;
    for (Index k = 0; k < rows.rows(); ++k) {
      distance += weights(k) * (slope(products(k, pair.i)) - slope(products(k, pair.j))) *
                  (products(k, pair.i) - products(k, pair.j));
    }
    sum += choices.number("c") * pair.weight * std::max(0.0, 1 - (pair.similar ? -1 : 1) * (distance - threshold));
  }
  return sum;
}

TEST(Wu2009, SolvesTheProblemOfThePaper) {
  Random random(1);
  const LabelledRows data = labelled_rows(30, 3, 2, 2);
  const Pairs pairs = sample_pairs(data.classes, 120, 3);
  for (const double kernel : {0, 1}) {  // square, exponential
    const double scale = 20;
    MethodChoices choices = choices_of("wu2009", {{"kernel", kernel}, {"c", 3}, {"scale", scale}});
    choices.limits = {1e-8, 200, 0};
    const Wu2009Result metric = internal::learn_wu2009(data.rows, pairs, choices);
    EXPECT_EQ(to_string(metric.learned.report.status), "converged");
    const auto at = [&](const Vector& weights, double threshold) {
      return objective(data.rows, pairs, choices, weights, threshold);
    };
    const double best = at(metric.weights, metric.threshold);
    EXPECT_NEAR(best, metric.learned.report.objective, 1e-9 * best);
    EXPECT_GE(metric.weights.minCoeff(), 0);
    EXPECT_GT(metric.weights.maxCoeff(), 0);
    const double size = metric.weights.maxCoeff();
    for (int trial = 0; trial < 200; ++trial) {
      const double step = std::pow(10.0, -1 - trial % 4);
      const Vector weights = (metric.weights + step * size * Vector(normal_matrix(random, 30, 1))).cwiseMax(0);
      EXPECT_GE(at(weights, std::max(0.0, metric.threshold + step * random.normal())), best * (1 - 1e-6));
    }
    // The divergence is that of phi: symmetrised it is the distance of the problem.
    const Vector x = data.rows.row(0), y = data.rows.row(1);
    double distance = 0;
    for (Index k = 0; k < 30; ++k) {
      const double a = data.rows.row(k).dot(x) / scale, b = data.rows.row(k).dot(y) / scale;
      const double slopes = kernel == 0 ? 2 * a - 2 * b : std::exp(a) - std::exp(b);
      distance += metric.weights(k) * slopes * (a - b);
    }
    const Divergence& divergence = *metric.learned.divergence;
    EXPECT_NEAR(divergence.value(x, y) + divergence.value(y, x), distance, 1e-9 * distance);
  }
}

// Five variables and a threshold, 40 hinges.
HingeProgram random_program(Random& random) {
  HingeProgram program;
  const Matrix factor = normal_matrix(random, 6, 5).cwiseAbs();
  program.quadratic = Matrix::Zero(6, 6);
  program.quadratic.topLeftCorner(5, 5) = factor.topLeftCorner(5, 5).transpose() * factor.topLeftCorner(5, 5);
  program.margins = normal_matrix(random, 40, 6);
  program.prices = Vector::Constant(40, 0.7);
  return program;
}

// At points without a hinge at its kink there is but one subgradient.
TEST(Wu2009, SubgradientsAgreeWithDifferences) {
  Random random(5);
  const HingeProgram program = random_program(random);
  for (int trial = 0; trial < 20; ++trial) {
    const Vector x = Vector(normal_matrix(random, 6, 1)).cwiseAbs();
    const Vector slope = program.slope(x, program.multipliers(x));
    for (Index k = 0; k < 6; ++k) {
      const Vector move = 1e-6 * Vector::Unit(6, k);
      const double difference = (program.objective(x + move) - program.objective(x - move)) / 2e-6;
      EXPECT_NEAR(slope(k), difference, 1e-6 * (1 + slope.norm()));
    }
  }
}

TEST(Wu2009, TheBoundIsBelowTheObjectiveOfAnyPoint) {
  Random random(4);
  const HingeProgram program = random_program(random);
  HingeInteriorPoint solver(program);
  for (int iteration = 0; iteration < 40; ++iteration) {
    const double bound = program.lower_bound(solver.x(), solver.multipliers());
    for (int trial = 0; trial < 20; ++trial) {
      const Vector point = Vector(normal_matrix(random, 6, 1)).cwiseAbs() * std::pow(10.0, -trial % 3);
      ASSERT_GE(program.objective(point), bound - 1e-9);
    }
    if (iteration < 39 && !solver.iterate()) break;
  }
  EXPECT_NEAR(program.lower_bound(solver.x(), solver.multipliers()), program.objective(solver.x()), 1e-6);
}

// What is reported about the original algorithm: it jumps between taking every pair for dissimilar and every pair for
// similar, with all weights zero, and nothing that it sees is better than that.
TEST(Wu2009, TheSubgradientMethodOscillatesAndLosesItsWeights) {
  const Table iris = load_builtin("iris");
  const Matrix rows = Scaling::standard(iris.features).apply(iris.features);
  const Pairs pairs = sample_pairs(iris.labels->of_row, 500, 1);
  MethodChoices choices = choices_of("wu2009", {{"kernel", 1}, {"algorithm", 1}, {"scale", 1}, {"step", 1}});
  choices.limits.max_iterations = 200;
  const Wu2009Result wild = internal::learn_wu2009(rows, pairs, choices);
  int flips = 0;
  for (std::size_t t = 1; t < wild.similar_fractions.size(); ++t) {
    const double before = wild.similar_fractions[t - 1], after = wild.similar_fractions[t];
    if ((before > 0.95 && after < 0.05) || (before < 0.05 && after > 0.95)) ++flips;
  }
  EXPECT_EQ(flips, 199);
  EXPECT_EQ(wild.weights.sum(), 0);
  EXPECT_EQ(to_string(wild.learned.report.status), "iteration_limit");
  // The problem itself has a solution that is far better.
  choices.parameters["algorithm"] = 0;
  const Wu2009Result exact = internal::learn_wu2009(rows, pairs, choices);
  EXPECT_EQ(to_string(exact.learned.report.status), "converged");
  EXPECT_LT(exact.learned.report.objective, 0.3 * wild.learned.report.objective);
}

TEST(Wu2009, RefusesProductsThatOverflow) {
  const LabelledRows data = labelled_rows(10, 3, 2, 5);
  const Pairs pairs = sample_pairs(data.classes, 20, 3);
  const MethodSettings settings{.parameters = {{"kernel", 1}, {"scale", 1}}};
  EXPECT_THAT([&] { learn("wu2009", 100 * data.rows, pairs, settings); },
              ThrowsMessage<Error>(HasSubstr("largest inner product")));
  EXPECT_THAT(
      [&] {
        learn("wu2009", data.rows, pairs, {.parameters = {{"c", -1}}});
      },
      ThrowsMessage<Error>(HasSubstr("c is -1")));
  EXPECT_THAT(
      [&] {
        learn("wu2009", data.rows, Pairs{{0, 1, true, 0}});
      },
      ThrowsMessage<Error>(HasSubstr("every pair has weight 0")));
}

}  // namespace
}  // namespace bregmax
