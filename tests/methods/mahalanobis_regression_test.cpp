#include <gtest/gtest.h>

#include <Eigen/QR>

#include "core/symmetric.hpp"
#include "methods/cases.hpp"
#include "methods/whitened_targets.hpp"

namespace bregmax {
namespace {

// Targets of x -> v^T M v for any symmetric M, with noise.
Targets targets_of(const Matrix& rows, const Matrix& metric, double noise, Random& random) {
  Targets targets;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.rows(); ++j) {
      if (i == j) continue;
      targets.push_back({i, j, square_form(metric, rows, i, j) + noise * random.normal(), 0.5 + random.uniform()});
    }
  }
  return targets;
}

double objective(const Matrix& rows, const Targets& targets, const Matrix& metric) {
  double sum = 0;
  for (const Target& t : targets) sum += t.weight * std::pow(square_form(metric, rows, t.i, t.j) - t.value, 2);
  return sum;
}

Matrix slope(const Matrix& rows, const Targets& targets, const Matrix& metric) {
  Matrix sum = Matrix::Zero(rows.cols(), rows.cols());
  for (const Target& t : targets) {
    const Vector difference = rows.row(t.i) - rows.row(t.j);
    sum += 2 * t.weight * (square_form(metric, rows, t.i, t.j) - t.value) * difference * difference.transpose();
  }
  return sum;
}

TEST(WhitenedTargets, SlopeAgreesWithDifferences) {
  Random random(8);
  const Matrix rows = normal_matrix(random, 12, 3), factor = normal_matrix(random, 3, 3);
  const Targets targets = targets_of(rows, factor + factor.transpose(), 0.3, random);
  const internal::WhitenedTargets problem(rows, targets);
  const Matrix metric = factor.transpose() * factor;
  const internal::TargetsFit fit = problem.measure(metric);
  // M in the features is W (.) W^T of the whitened one.
  EXPECT_NEAR(fit.objective, objective(rows, targets, problem.whitening * metric * problem.whitening.transpose()),
              1e-10 * fit.objective);
  for (int trial = 0; trial < 10; ++trial) {
    const Matrix direction = 1e-5 * internal::symmetrized(normal_matrix(random, 3, 3));
    const double difference =
        (problem.measure(metric + direction).objective - problem.measure(metric - direction).objective) / 2;
    EXPECT_NEAR(fit.slope.cwiseProduct(direction).sum(), difference, 1e-7 * fit.slope.norm() * direction.norm());
  }
}

TEST(MahalanobisRegression, FindsTheMatrixBehindExactTargets) {
  Random random(1);
  const Matrix rows = normal_matrix(random, 30, 4);
  const Matrix factor = normal_matrix(random, 4, 4), metric = factor.transpose() * factor;
  const Learned learned = learn("mahalanobis", rows, targets_of(rows, metric, 0, random), {.tolerance = 1e-13});
  EXPECT_EQ(to_string(learned.report.status), "converged");
  EXPECT_LE((metric_of(learned) - metric).norm(), 1e-4 * metric.norm());
}

TEST(MahalanobisRegression, IsTheLeastSquaresSolutionWhereThatIsSemidefinite) {
  Random random(2);
  const Matrix rows = normal_matrix(random, 25, 3);
  const Targets targets = targets_of(rows, Matrix::Identity(3, 3) + 0.5 * Matrix::Ones(3, 3), 0.2, random);
  Eigen::MatrixXd design(static_cast<Index>(targets.size()), 6);
  Eigen::VectorXd values(design.rows());
  for (Index t = 0; t < design.rows(); ++t) {
    const Target& target = targets[static_cast<std::size_t>(t)];
    const Vector v = rows.row(target.i) - rows.row(target.j);
    design.row(t) << v(0) * v(0), v(1) * v(1), v(2) * v(2), 2 * v(0) * v(1), 2 * v(0) * v(2), 2 * v(1) * v(2);
    design.row(t) *= std::sqrt(target.weight);
    values(t) = std::sqrt(target.weight) * target.value;
  }
  const Eigen::VectorXd best = design.colPivHouseholderQr().solve(values);
  Matrix expected(3, 3);
  expected << best(0), best(3), best(4), best(3), best(1), best(5), best(4), best(5), best(2);
  const Learned learned = learn("mahalanobis", rows, targets, {.tolerance = 1e-12});
  EXPECT_LE((metric_of(learned) - expected).norm(), 1e-4 * expected.norm());
  EXPECT_NEAR(learned.report.objective, (design * best - values).squaredNorm(), 1e-8 * learned.report.objective);
  EXPECT_NEAR(learned.report.objective, objective(rows, targets, metric_of(learned)), 1e-9 * learned.report.objective);
}

// Targets that an indefinite matrix would fit: the semidefinite constraint is active, and the conditions of optimality
// (slope semidefinite, complementary to M) are checked on the data.
TEST(MahalanobisRegression, MeetsTheConditionsOfOptimalityAtTheBoundary) {
  Random random(3);
  const Matrix rows = normal_matrix(random, 25, 4);
  Vector signature(4);
  signature << 2, 1, -1, -0.5;
  const Targets targets = targets_of(rows, signature.asDiagonal().toDenseMatrix(), 0.1, random);
  const Learned learned = learn("mahalanobis", rows, targets, {.tolerance = 1e-13});
  const Matrix& metric = metric_of(learned);
  const double scale = slope(rows, targets, Matrix::Zero(4, 4)).norm();
  const Matrix at_optimum = slope(rows, targets, metric);
  EXPECT_LE(internal::symmetric_eigenvalues(metric).minCoeff(), 1e-6);
  EXPECT_GE(internal::symmetric_eigenvalues(at_optimum).minCoeff(), -1e-5 * scale);
  EXPECT_NEAR(at_optimum.cwiseProduct(metric).sum(), 0, 1e-5 * scale);
  EXPECT_GT(at_optimum.norm(), 0.05 * scale);  // it is active indeed
}

TEST(MahalanobisRegression, DoesNotDependOnTheUnitsOfTheFeatures) {
  Random random(4);
  const Matrix rows = normal_matrix(random, 20, 3);
  const Targets targets = targets_of(rows, Matrix::Identity(3, 3), 0.3, random);
  Matrix change = normal_matrix(random, 3, 3);
  change.row(1) *= 1e3;
  const Matrix changed = rows * change;
  const Learned plain = learn("mahalanobis", rows, targets);
  const Learned other = learn("mahalanobis", changed, targets);
  EXPECT_NEAR(plain.report.objective, other.report.objective, 1e-6 * plain.report.objective);
  EXPECT_LE(other.report.iterations, 3 * plain.report.iterations + 10);
}

TEST(MahalanobisRegression, TakesDifferencesThatSpanLittleOrNothing) {
  Matrix rows(3, 3);
  rows << 0, 0, 1, 1, 0, 1, 3, 0, 1;
  const Learned line = learn("mahalanobis", rows, Targets{{0, 1, 2}, {1, 2, 8}});
  EXPECT_EQ(to_string(line.report.status), "converged");
  EXPECT_NEAR(metric_of(line)(0, 0), 2, 1e-3);
  EXPECT_NEAR(metric_of(line).bottomRightCorner(2, 2).norm(), 0, 1e-9);
  const Learned nothing = learn("mahalanobis", rows, Targets{{1, 1, 5}, {0, 1, 3, 0}});
  EXPECT_EQ(to_string(nothing.report.status), "converged");
  EXPECT_EQ(nothing.report.objective, 25);
  EXPECT_EQ(metric_of(nothing).norm(), 0);
  const Learned negative = learn("mahalanobis", rows, Targets{{0, 1, -3}});
  EXPECT_EQ(to_string(negative.report.status), "converged");
  EXPECT_NEAR(negative.report.objective, 9, 1e-7);
}

}  // namespace
}  // namespace bregmax
