#include "paper/figure2.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

TEST(Figure2, PointsLieWhereTheirDivergenceIsDefined) {
  for (const RegressionProblem& problem : regression_problems()) {
    Random random(1);
    const Matrix points = draw_points(problem, 500, random);
    EXPECT_NO_THROW(problem.truth->check_points(points)) << problem.name;
    EXPECT_NO_THROW(problem.truth->check_references(points)) << problem.name;
  }
}

TEST(Figure2, WishartMatricesHaveMeanIdentity) {
  Random random(2);
  const Matrix points = draw_points(regression_problem("logdet"), 4000, random);
  const Vector means = points.colwise().mean();
  // The standard error of a mean is at most sqrt(2 / 10 / 4000) = 0.007.
  EXPECT_NEAR(means(0), 1, 0.03);
  EXPECT_NEAR(means(1), 0, 0.03);
  EXPECT_EQ(points.col(1), points.col(2));
  EXPECT_NEAR(means(3), 1, 0.03);
}

TEST(Figure2, UniformPointsFillTheirSquare) {
  Random random(3);
  for (const char* name : {"itakura_saito", "mahalanobis"}) {
    const Matrix points = draw_points(regression_problem(name), 2000, random);
    EXPECT_GE(points.minCoeff(), 0.1);
    EXPECT_LT(points.maxCoeff(), 1.1);
    EXPECT_NEAR(points.mean(), 0.6, 0.02);
  }
}

TEST(Figure2, MahalanobisRegressionFindsAMahalanobisDivergence) {
  const RegressionErrors errors = run_regression(regression_problem("mahalanobis"), 30, 0, 0);
  EXPECT_LT(errors.mahalanobis, 1e-3);
  EXPECT_THAT(errors.note, HasSubstr("optimal"));
}

TEST(Figure2, PbdlIsBelowMahalanobisRegressionOnTheOtherThree) {
  for (const char* name : {"kl", "logdet", "itakura_saito"}) {
    const RegressionErrors few = run_regression(regression_problem(name), 5, 1, 0);
    const RegressionErrors many = run_regression(regression_problem(name), 40, 1, 0);
    EXPECT_LT(many.pbdl, many.mahalanobis) << name;
    EXPECT_LT(many.pbdl, few.pbdl) << name;
  }
}

TEST(Figure2, RunsAreRepeatable) {
  const RegressionProblem& kl = regression_problem("kl");
  EXPECT_EQ(run_regression(kl, 10, 0, 0).pbdl, run_regression(kl, 10, 0, 0).pbdl);
  EXPECT_NE(run_regression(kl, 10, 0, 0).pbdl, run_regression(kl, 10, 1, 0).pbdl);
}

TEST(Figure2, RefusesAndStops) {
  EXPECT_THAT(error_of([] { regression_problem("cosine"); }), HasSubstr("allowed: kl, logdet"));
  EXPECT_THAT(error_of([] { run_regression(regression_problem("kl"), 101, 0, 0); }), HasSubstr("2 to 100"));
  const std::atomic<bool> stop{true};
  RunControl control;
  control.stop = &stop;
  EXPECT_TRUE(run_regression(regression_problem("kl"), 10, 0, 0, control).stopped);
}

TEST(Figure2, CurvesAreMeansOverTheRuns) {
  const TemporaryDirectory directory;
  ResultsFile results(directory / "r.csv", figure2_format(0));
  Figure2Plan plan;
  plan.problems = {"kl"};
  plan.runs = 2;
  EXPECT_EQ(missing_figure2_jobs(plan, results).size(), 40U) << "n = 5, 10, ..., 100, two runs";
  results.append({{"kl", "5", "0"}, {1, 3, 0.1}, ""});
  results.append({{"kl", "5", "1"}, {2, 5, 0.1}, ""});
  results.append({{"kl", "5", "2"}, {100, 100, 0.1}, "not asked for"});
  EXPECT_EQ(missing_figure2_jobs(plan, results).size(), 38U);
  const auto curves = error_curves(read_results(directory / "r.csv", figure2_format(0)), plan);
  ASSERT_EQ(curves.size(), 1U);
  ASSERT_EQ(curves[0].errors.size(), 1U);
  EXPECT_NEAR(curves[0].errors[0].pbdl.mean, 1.5, 1e-12);
  EXPECT_NEAR(curves[0].errors[0].pbdl.half_width, 1.96 * 0.5, 1e-12);
  EXPECT_EQ(curves_as_csv(curves),
            "divergence,points,runs,pbdl_mse,pbdl_half_width,mahalanobis_mse,mahalanobis_half_width\n"
            "kl,5,2,1.5,0.98,4,1.96\n");
}

}  // namespace
}  // namespace bregmax
