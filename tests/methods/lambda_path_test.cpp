#include "methods/lambda_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "bregmax/supervision/sample.hpp"
#include "learn/cases.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using testing::LabelledRows;
using testing::noisy_classes;
using ::testing::ThrowsMessage;

constexpr double kProof = 1e-4;
const internal::LambdaPath::Solve kSolver = [](const LearningProblem& problem, const RunControl& control) {
  return solve_interior_point(problem, {1e-6, 200, 0}, control);
};
const std::vector<double> kDecades = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000, 1e4};

LearningProblem problem_of(const LabelledRows& data, Supervision supervision) {
  LearningProblem problem;
  problem.points = data.rows;
  problem.pieces = static_cast<int>(data.rows.rows());
  problem.piece_of.resize(data.classes.size());
  std::iota(problem.piece_of.begin(), problem.piece_of.end(), 0);
  problem.supervision = std::move(supervision);
  return problem;
}

Index resolve_all(internal::LambdaPath& path) {
  Index solved = 0;
  for (const std::size_t point : path.order().order()) {
    path.resolve(point, {});
    if (path.solved(point)) ++solved;
  }
  return solved;
}

// What the path says is optimal at a lambda, against an optimum that the solver finds there from scratch.
void expect_optimal(const internal::LambdaPath& path, const std::vector<double>& lambdas) {
  for (std::size_t point = 0; point < lambdas.size(); ++point) {
    LearningProblem problem = path.problem();
    problem.lambda = lambdas[point];
    Solution claimed;
    claimed.slopes.setZero(problem.pieces, problem.points.cols());
    claimed.offsets.setZero(problem.pieces);
    if (const auto solution = path.solution_of(point)) claimed = path.solution(*solution);
    claimed.dual = {};
    const double objective = certify(problem, claimed).objective;
    const Solution exact = solve_interior_point(problem, {1e-8, 200, 0});
    const double unit = std::max(exact.report.objective, internal::zero_model_losses(problem.supervision).loss / 1000);
    EXPECT_LE(objective - exact.report.lower_bound, 1.01 * kProof * unit) << "lambda " << lambdas[point];
    EXPECT_LE(path.proof(point).relative_gap, kProof) << "lambda " << lambdas[point];
  }
}

class LambdaPath : public ::testing::Test {
 private:
  ThreadLimit single_{1};
};

TEST_F(LambdaPath, IsOptimalEverywhereWithFewerRunsOfTheSolver) {
  const LabelledRows data = noisy_classes(24);
  const LabelledRows apart = noisy_classes(24, 2, 2, 20);
  const Supervision supervisions[] = {sample_comparisons(data.classes, 100, 3), all_pairs(data.classes)};
  for (const LabelledRows& rows : {data, apart}) {
    for (const Supervision& supervision : supervisions) {
      internal::LambdaPath path(problem_of(rows, supervision), kDecades, kSolver, kProof);
      EXPECT_LT(resolve_all(path), 11) << "of 13";
      expect_optimal(path, kDecades);
    }
  }
}

TEST_F(LambdaPath, OfTargetsIsOptimalToo) {
  const LabelledRows data = noisy_classes(16);
  Targets targets;
  for (Index i = 0; i < 16; ++i) {
    for (Index j = 0; j < 16; ++j) targets.push_back({i, j, (data.rows.row(i) - data.rows.row(j)).squaredNorm()});
  }
  internal::LambdaPath path(problem_of(data, targets), kDecades, kSolver, kProof);
  EXPECT_LT(resolve_all(path), 13);
  expect_optimal(path, kDecades);
}

TEST_F(LambdaPath, NeedsOneRunBelowTheLambdaFromWhichTheLossVanishes) {
  // Classes far apart: no loss at small lambda, whatever it is, and no run at the left end either.
  const LabelledRows apart = noisy_classes(20, 2, 1, 40);
  const std::vector<double> small = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
  internal::LambdaPath path(problem_of(apart, sample_comparisons(apart.classes, 60, 1)), small, kSolver, kProof);
  EXPECT_EQ(resolve_all(path), 1);
  for (std::size_t point = 0; point < small.size(); ++point) EXPECT_EQ(path.solution_of(point), 4U);
}

TEST_F(LambdaPath, EndsInTheZeroModelWithoutIterations) {
  const LabelledRows data = noisy_classes(20);
  const std::vector<double> large = {1e6, 1e7, 1e8, 1e9};
  internal::LambdaPath path(problem_of(data, sample_comparisons(data.classes, 60, 1)), large, kSolver, kProof);
  resolve_all(path);
  for (std::size_t point = 0; point < large.size(); ++point) {
    if (const auto solution = path.solution_of(point)) {
      EXPECT_EQ(path.solution(*solution).slopes.cwiseAbs().maxCoeff(), 0);
      EXPECT_EQ(path.solution(*solution).report.iterations, 0);
    }
  }
}

RC_GTEST_PROP(LambdaPathProperty, DependsOnlyOnPointsThatComeBefore, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 40);
  std::vector<double> lambdas(count);
  std::iota(lambdas.begin(), lambdas.end(), 1.0);
  const LabelledRows data = noisy_classes(4);
  const internal::LambdaPath path(problem_of(data, all_pairs(data.classes)), lambdas, kSolver, kProof);
  RC_ASSERT(path.order().order().size() == count);
  std::vector<bool> seen(count, false);
  for (const std::size_t point : path.order().order()) {
    RC_ASSERT(!seen.at(point));
    seen[point] = true;
    for (const std::size_t before : path.order().after(point)) RC_ASSERT(seen.at(before) && before != point);
  }
}

TEST_F(LambdaPath, RefusesLambdasThatDoNotRise) {
  const LabelledRows data = noisy_classes(6);
  const LearningProblem problem = problem_of(data, all_pairs(data.classes));
  const auto make = [&](std::vector<double> lambdas) {
    internal::LambdaPath(problem, std::move(lambdas), kSolver, kProof);
  };
  EXPECT_THAT([&] { make({}); }, ThrowsMessage<Error>(HasSubstr("no lambda")));
  EXPECT_THAT([&] { make({1, 1}); }, ThrowsMessage<Error>(HasSubstr("lambda 1 is 1")));
  EXPECT_THAT([&] { make({-1, 1}); }, ThrowsMessage<Error>(HasSubstr("lambda 0 is -1")));
  EXPECT_THAT([&] { make({1, std::numeric_limits<double>::infinity()}); }, ThrowsMessage<Error>(HasSubstr("lambda 1")));
}

}  // namespace
}  // namespace bregmax
