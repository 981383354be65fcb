// The method for complete grids: its passes and equations against slow, obvious ones, and whole runs.
#include "optimize/admm/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "data/temporary_directory.hpp"
#include "optimize/admm/engine.hpp"
#include "optimize/problems.hpp"

namespace bregmax {
namespace {

using bregmax::testing::TemporaryDirectory;
using internal::GridProx;
using internal::GridSums;
using internal::GridTerms;
using internal::ResidualSums;

// Whole numbers, so that sums are exact in any order.
Matrix whole_numbers(Random& random, Index rows, Index cols, Index most) {
  Matrix matrix(rows, cols);
  for (double& x : matrix.reshaped()) x = static_cast<double>(random.uniform_index(2 * most + 1) - most);
  return matrix;
}

template <class Number>
using Copies = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What a pass works on and gives, for all pieces.
template <class Number>
struct PassCase {
  PassCase(Index rows, Index features) {
    Random random(7);
    points = whole_numbers(random, rows, features, 3);
    slopes = whole_numbers(random, rows, features, 3);
    z = whole_numbers(random, rows, 1, 9).col(0);
    intercept = whole_numbers(random, rows, 1, 9).col(0);
    label = whole_numbers(random, rows, 1, 1).col(0);
    copies = whole_numbers(random, rows, rows, 9).cast<Number>();
    point_features = points.transpose();
    of_piece = of_point = Vector::Constant(rows, -1);
    weighted = Matrix::Constant(rows, features, -1);
  }
  GridTerms terms() const {
    return {points.rows(), points.cols(), point_features.data(), label.data(),
            z.data(),      slopes.data(), intercept.data()};
  }
  GridSums sums() { return {of_piece.data(), of_point.data(), weighted.data()}; }

  Matrix points, slopes, point_features, weighted;
  Vector z, intercept, label, of_piece, of_point;
  Copies<Number> copies;
};

double obvious_slack(const GridProx& prox, bool similar, double copy) {
  double slack = copy;
  if (similar) slack -= prox.similar_cost;
  if (!similar && slack < prox.margin) slack = std::min(slack + prox.dissimilar_cost, prox.margin);
  return std::max(0.0, slack);
}

template <class Number>
ResidualSums obvious_move(PassCase<Number>& c, const GridProx& prox, double relaxation) {
  ResidualSums residuals;
  c.of_piece.setZero();
  c.of_point.setZero();
  c.weighted.setZero();
  for (Index k = 0; k < c.points.rows(); ++k) {
    for (Index l = 0; l < c.points.rows(); ++l) {
      const bool similar = c.label(k) == c.label(l);
      const double d = c.z(l) - c.intercept(k) - c.slopes.row(k).dot(c.points.row(l));
      const double before = obvious_slack(prox, similar, c.copies(k, l));
      c.copies(k, l) += static_cast<Number>(relaxation * (d - before));
      const double slack = obvious_slack(prox, similar, c.copies(k, l)), wish = 2 * slack - c.copies(k, l);
      c.of_piece(k) += wish;
      c.of_point(l) += wish;
      c.weighted.row(k) += wish * c.points.row(l);
      residuals.add(1, d, slack, before, c.copies(k, l));
    }
  }
  return residuals;
}

void expect_equal(const ResidualSums& found, const ResidualSums& expected) {
  EXPECT_EQ(found.miss, expected.miss);
  EXPECT_EQ(found.change, expected.change);
  EXPECT_EQ(found.value, expected.value);
  EXPECT_EQ(found.slack, expected.slack);
  EXPECT_EQ(found.multiplier, expected.multiplier);
}

template <class Number>
class GridPasses : public ::testing::Test {};
using Storages = ::testing::Types<double, float>;
TYPED_TEST_SUITE(GridPasses, Storages, );

// Sizes that end in whole groups of vectors, in single vectors and in single numbers; more than a chunk of points.
TYPED_TEST(GridPasses, MoveLikeTheObviousLoop) {
  const GridProx prox{2, 3, 5};
  for (const Index rows : {1, 3, 4, 7, 32, 37, 259, 300}) {
    for (const Index features : {1, 4, 6}) {
      PassCase<TypeParam> fast(rows, features), portable(rows, features), slow(rows, features);
      const ResidualSums expected = obvious_move(slow, prox, 2);
      PassCase<TypeParam> unmeasured(rows, features);
      ResidualSums found;
      move_copies(fast.terms(), prox, 2, 0, rows, fast.copies.data(), fast.sums(), &found);
      expect_equal(found, expected);
      move_copies(portable.terms(), prox, 2, 0, rows, portable.copies.data(), portable.sums(), &found,
                  internal::Instructions::kAny);
      expect_equal(found, expected);
      move_copies(unmeasured.terms(), prox, 2, 0, rows, unmeasured.copies.data(), unmeasured.sums());
      for (const auto* c : {&fast, &portable, &unmeasured}) {
        EXPECT_EQ(c->copies, slow.copies) << rows;
        EXPECT_EQ(c->of_piece, slow.of_piece) << rows;
        EXPECT_EQ(c->of_point, slow.of_point) << rows;
        EXPECT_EQ(c->weighted, slow.weighted) << rows;
      }
    }
  }
}

TYPED_TEST(GridPasses, KeepSlacksAndMultipliersAtAnotherPenalty) {
  const GridProx before{2, 4, 5}, after{1, 2, 5};  // at twice the penalty
  PassCase<TypeParam> c(70, 2), portable(70, 2);
  const Copies<TypeParam> copies = c.copies;
  rescale_copies(c.terms(), before, after, 0.5, 0, 70, c.copies.data(), c.sums());
  rescale_copies(portable.terms(), before, after, 0.5, 0, 70, portable.copies.data(), portable.sums(),
                 internal::Instructions::kAny);
  EXPECT_EQ(portable.copies, c.copies);
  EXPECT_EQ(portable.of_piece, c.of_piece);
  EXPECT_EQ(portable.of_point, c.of_point);
  EXPECT_EQ(portable.weighted, c.weighted);
  Matrix wishes(70, 70);
  for (Index k = 0; k < 70; ++k) {
    for (Index l = 0; l < 70; ++l) {
      const bool similar = c.label(k) == c.label(l);
      const double slack = obvious_slack(before, similar, copies(k, l));
      EXPECT_EQ(obvious_slack(after, similar, c.copies(k, l)), slack);
      EXPECT_EQ(2 * (c.copies(k, l) - slack), copies(k, l) - slack);
      wishes(k, l) = 2 * slack - c.copies(k, l);
    }
  }
  EXPECT_EQ(c.of_piece, wishes.rowwise().sum());
  EXPECT_EQ(c.of_point, wishes.colwise().sum().transpose());
  EXPECT_EQ(c.weighted, wishes * c.points);
}

TYPED_TEST(GridPasses, OnlyTouchTheirPieces) {
  PassCase<TypeParam> c(40, 3);
  const PassCase<TypeParam> untouched(40, 3);
  move_copies(c.terms(), {1, 1, 2}, 1, 10, 20, c.copies.data(), c.sums());
  for (const Index row : {0, 9, 20, 39}) {
    EXPECT_EQ(c.copies.row(row), untouched.copies.row(row));
    EXPECT_EQ(c.of_piece(row), -1);
    EXPECT_EQ(c.weighted.row(row), untouched.weighted.row(row));
  }
}

// The least squares problem written out, with a row for every entry.
TEST(GridEquations, SolveTheLeastSquaresProblem) {
  Random random(5);
  for (const Index rows : {2, 9}) {
    for (const double weight : {0.01, 3.0, 400.0}) {
      const Index d = 3, unknowns = rows * (d + 1);
      Matrix points = test::normal_rows(random, rows, d);
      if (rows > 5) points.row(1) = points.row(0);
      points.rowwise() -= points.colwise().mean();
      const Matrix v = test::normal_rows(random, rows, rows), wish = test::normal_rows(random, rows, d);
      Eigen::MatrixXd design = Eigen::MatrixXd::Zero(rows * rows + rows * d + 1, unknowns);
      Vector right = Vector::Zero(design.rows());
      for (Index k = 0; k < rows; ++k) {
        for (Index l = 0; l < rows; ++l) {
          design(k * rows + l, l) += 1;
          design(k * rows + l, k) -= 1;
          design.row(k * rows + l).segment(rows + k * d, d) -= points.row(l) - points.row(k);
          right(k * rows + l) = v(k, l);
        }
        for (Index j = 0; j < d; ++j) {
          design(rows * rows + k * d + j, rows + k * d + j) = std::sqrt(weight);
          right(rows * rows + k * d + j) = std::sqrt(weight) * wish(k, j);
        }
      }
      design.row(rows * rows + rows * d).head(rows).setOnes();
      const Vector expected = design.colPivHouseholderQr().solve(right);

      internal::GridEquations equations(points);
      equations.factor(weight);
      Vector z(rows);
      Matrix slopes(rows, d);
      equations.solve(v.rowwise().sum(), v.colwise().sum(), v * points, wish, z, slopes);
      EXPECT_LT((z - expected.head(rows)).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_LT((slopes.reshaped<Eigen::RowMajor>() - expected.tail(rows * d)).cwiseAbs().maxCoeff(), 1e-10);
    }
  }
}

// Rows in groups that overlap, with a duplicate across them.
LearningProblem label_problem(Index rows, Index features = 3, double lambda = 1, std::uint64_t seed = 2) {
  Random random(seed);
  Matrix points = test::normal_rows(random, rows, features);
  LabelPairs pairs;
  for (Index i = 0; i < rows; ++i) {
    pairs.class_of_row.push_back(static_cast<int>(i % 3));
    points(i, 0) += 1.5 * static_cast<double>(i % 3);
  }
  points.row(rows - 1) = points.row(0);
  pairs.dissimilar_weight = 0.5;
  return test::make_problem(std::move(points), std::move(pairs), lambda);
}

Solution run_on_grid(const LearningProblem& problem, const AdmmOptions& options = {}) {
  return internal::run_admm(*internal::make_grid_engine(problem, options), problem, options);
}

Solution run_alone(const LearningProblem& problem, const AdmmOptions& options = {}) {
  const ThreadLimit single(1);
  return run_on_grid(problem, options);
}

TEST(AdmmGrid, BoundsHoldTheOptimum) {
  Random random(4);
  for (int t = 0; t < test::repeats(20); ++t) {
    LearningProblem problem = label_problem(4 + random.uniform_index(12), 1 + random.uniform_index(4),
                                            std::pow(10, 2 * random.uniform() - 1), static_cast<std::uint64_t>(t));
    if (t % 4 == 1) problem.lipschitz_bound = std::pow(10, 2 * random.uniform() - 1);
    if (t % 8 == 3) problem.lambda = 0;
    const double optimum = test::solve(problem).report.objective;
    const double unit = std::max(optimum, test::zero_objective(problem) / 1000);
    const Solution solution = run_alone(problem, {.max_iterations = 400});
    EXPECT_GE(solution.report.objective, optimum - 1e-6 * unit) << test::describe(problem);
    EXPECT_LE(solution.report.lower_bound, optimum + 1e-6 * unit) << test::describe(problem);
    EXPECT_LE(solution.report.lipschitz, problem.lipschitz_bound * (1 + 1e-9));
    const Certificate certificate = certify(problem, solution);
    EXPECT_NEAR(certificate.objective, solution.report.objective, 1e-9 * unit);
    // It may prove more, of models with a Lipschitz constant up to ten times that of the solution only.
    EXPECT_GE(certificate.lower_bound, solution.report.lower_bound - 1e-9 * unit);
    EXPECT_LE(certificate.lower_bound, optimum + 1e-6 * unit);
  }
}

// One penalty for all is slow to the last digits: see docs/mathematics.md.
TEST(AdmmGrid, ApproachesTheOptimum) {
  const LearningProblem problem = label_problem(20, 2, 5);
  const double optimum = test::solve(problem).report.objective;
  for (const auto precision : {StoragePrecision::kDouble, StoragePrecision::kFloat}) {
    const SolveReport report = run_alone(problem, {.max_iterations = 3000, .precision = precision}).report;
    EXPECT_NEAR(report.objective, optimum, 0.1 * optimum);
    EXPECT_NEAR(report.lower_bound, optimum, 0.02 * optimum);
  }
}

// With so high a price on L the zero model is optimal, and the first bound proves it.
TEST(AdmmGrid, ProvesTheZeroModel) {
  const SolveReport report = run_alone(label_problem(20, 2, 1e4)).report;
  EXPECT_EQ(report.status, Status::kOptimal);
  EXPECT_EQ(report.iterations, 0);
}

// All pairs as a list and as labels are one problem.
TEST(AdmmGrid, LabelPairsAreAllPairs) {
  LearningProblem problem = label_problem(15);
  const Solution from_labels = test::solve(problem);
  Pairs list;
  for (const Pair pair : std::get<LabelPairs>(problem.supervision)) list.push_back(pair);
  ASSERT_EQ(list.size(), 15U * 14U);
  for (std::size_t t = 0; t < list.size(); ++t) {
    EXPECT_EQ(std::get<LabelPairs>(problem.supervision)[t].j, list[t].j);
    EXPECT_EQ(std::get<LabelPairs>(problem.supervision)[t].i, list[t].i);
  }
  // The dual variables of the list as `by_row` divides their sums: see DualSolution.
  Solution listed = from_labels, by_row = from_labels;
  DualSolution& dual = listed.dual;
  Matrix sums = dual.convexity;
  for (Index t = 0; t < std::ssize(list); ++t) {
    const Pair& pair = list[static_cast<std::size_t>(t)];
    double &sum = sums(pair.i, pair.j), &convexity = dual.convexity(pair.i, pair.j);
    sum += pair.similar ? pair.weight - dual.items(t) : dual.items(t);
    dual.items(t) = pair.similar ? pair.weight : std::min(sum, pair.weight);
    convexity = pair.similar ? sum : sum - dual.items(t);
  }
  by_row.dual = {};
  by_row.dual.by_row = [&](Index begin, Index end, MatrixSpan block) { block = sums.middleRows(begin, end - begin); };
  const Certificate of_labels = certify(problem, by_row);
  problem.supervision = list;
  const Certificate of_list = certify(problem, listed);
  EXPECT_NEAR(of_labels.objective, of_list.objective, 1e-14 * of_list.objective);
  EXPECT_NEAR(of_labels.lower_bound, of_list.lower_bound, 1e-14 * of_list.objective);
  EXPECT_LE(std::abs(of_labels.relative_gap), 1e-7);
  EXPECT_EQ(test::solve(problem).report.objective, from_labels.report.objective);
}

// Sums are made in the same parts whoever makes them.
TEST(AdmmGrid, DoesNotDependOnTheNumberOfThreads) {
  const LearningProblem problem = label_problem(420);
  const auto report = [&](int threads) {
    const ThreadLimit limit(threads);
    return run_on_grid(problem, {.max_iterations = 30}).report;
  };
  const SolveReport one = report(1), two = report(2);
  EXPECT_EQ(two.objective, one.objective);
  EXPECT_EQ(two.lower_bound, one.lower_bound);
}

TEST(AdmmGrid, ResumesToTheSameBits) {
  const TemporaryDirectory directory;
  const LearningProblem problem = label_problem(60);
  const std::string file = directory / "state";
  for (const auto precision : {StoragePrecision::kDouble, StoragePrecision::kFloat}) {
    AdmmOptions options{.tolerance = 1e-8, .max_iterations = 230, .precision = precision};
    const Solution whole = run_alone(problem, options);
    for (const int first : {1, 20, 50, 117}) {
      AdmmOptions begin = options;
      begin.max_iterations = first;
      begin.checkpoint = file;
      run_alone(problem, begin);
      options.resume = file;
      const Solution rest = run_alone(problem, options);
      EXPECT_EQ(rest.report.objective, whole.report.objective) << first;
      EXPECT_EQ(rest.report.lower_bound, whole.report.lower_bound) << first;
      EXPECT_EQ(rest.slopes, whole.slopes) << first;
      options.resume.clear();
    }
  }
}

TEST(AdmmGrid, AppliesOnlyToLabelPairsWithOnePiecePerRow) {
  LearningProblem problem = label_problem(12);
  EXPECT_TRUE(internal::grid_engine_applies(problem));
  std::swap(problem.piece_of[0], problem.piece_of[1]);
  EXPECT_FALSE(internal::grid_engine_applies(problem));
  problem = label_problem(12);
  problem.supervision = Pairs{{0, 1, true}};
  EXPECT_FALSE(internal::grid_engine_applies(problem));
}

}  // namespace
}  // namespace bregmax
