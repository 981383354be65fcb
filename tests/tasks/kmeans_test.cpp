#include "bregmax/tasks/kmeans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/tasks/scores.hpp"
#include "divergence/polar_embedding.hpp"
#include "tasks/cases.hpp"
#include "tasks/lloyd.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

double objective_of(const Divergence& divergence, const Matrix& rows, const KMeansRun& run) {
  double sum = 0;
  for (Index row = 0; row < rows.rows(); ++row) {
    const int cluster = run.cluster_of_row[static_cast<std::size_t>(row)];
    sum += divergence.value(rows.row(row).transpose(), run.centroids.row(cluster).transpose());
  }
  return sum;
}

std::size_t clusters_used(const KMeansRun& run) {
  return std::set<int>(run.cluster_of_row.begin(), run.cluster_of_row.end()).size();
}

// Three blobs far apart, 20 rows each.
Matrix blobs(std::vector<int>& classes) {
  Random random(3);
  Matrix rows = test::normal_rows(random, 60, 2);
  classes.clear();
  for (Index i = 0; i < 60; ++i) {
    classes.push_back(static_cast<int>(i % 3));
    rows(i, 0) += 20.0 * static_cast<double>(i % 3);
  }
  return rows;
}

class KMeansOfEveryDivergence : public testing::TestWithParam<test::Case> {};

TEST_P(KMeansOfEveryDivergence, ObjectiveNeverIncreasesAndIsWhatItSays) {
  Random random(31);
  const Divergence& divergence = *GetParam().divergence;
  const Matrix rows = GetParam().rows(random, 150, 4);
  for (const auto start : {KMeansStart::kEuclidean, KMeansStart::kDivergence}) {
    for (const Index clusters : {1, 3, 12}) {
      const KMeansResult result =
          kmeans(divergence, rows, {.clusters = clusters, .start = start, .restarts = 5, .keep_restarts = true});
      ASSERT_EQ(result.restarts.size(), 5u);
      for (const KMeansRun& run : result.restarts) {
        EXPECT_TRUE(run.converged);
        EXPECT_TRUE(std::is_sorted(run.objectives.rbegin(), run.objectives.rend()));
        EXPECT_EQ(run.objectives.back(), run.objective);
        EXPECT_NEAR(run.objective, objective_of(divergence, rows, run), 1e-7 * (1 + run.objective));
        EXPECT_GE(run.objective, result.best.objective);
        // Each row is with a nearest centroid.
        const Matrix divergences = divergence.matrix(rows, run.centroids);
        for (Index row = 0; row < rows.rows(); ++row) {
          EXPECT_NEAR(divergences(row, run.cluster_of_row[static_cast<std::size_t>(row)]),
                      divergences.row(row).minCoeff(), 1e-9);
        }
      }
      EXPECT_EQ(result.best.centroids.rows(), clusters);
    }
  }
}

// The guard in lloyd() ends a run whose objective rises; here nothing but rounding may ever make it rise.
TEST_P(KMeansOfEveryDivergence, MeansAndReassignmentLowerTheObjective) {
  Random random(32);
  const Divergence& divergence = *GetParam().divergence;
  const Matrix rows = GetParam().rows(random, 80, 4);
  for (int repeat = 0; repeat < 10; ++repeat) {
    Matrix centroids = internal::plus_plus_centroids(internal::MeasuredRows(divergence, rows), 5, random);
    double before = divergence.matrix(rows, centroids).rowwise().minCoeff().sum();
    for (int iteration = 0; iteration < 8; ++iteration) {
      const Matrix divergences = divergence.matrix(rows, centroids);
      Matrix sums = Matrix::Zero(5, 4);
      Vector sizes = Vector::Zero(5);
      for (Index row = 0; row < rows.rows(); ++row) {
        Index nearest = 0;
        divergences.row(row).minCoeff(&nearest);
        sums.row(nearest) += rows.row(row);
        ++sizes(nearest);
      }
      for (Index c = 0; c < 5; ++c) {
        if (sizes(c) > 0) centroids.row(c) = sums.row(c) / sizes(c);
      }
      const double after = divergence.matrix(rows, centroids).rowwise().minCoeff().sum();
      EXPECT_LE(after, before + 1e-7 * (1 + before));
      before = after;
    }
  }
}

TEST_P(KMeansOfEveryDivergence, MeasuredRowsAreTheDivergence) {
  Random random(39);
  const Matrix rows = GetParam().rows(random, 50, 4);
  const Matrix centroids = GetParam().rows(random, 6, 4);
  const internal::MeasuredRows measured(*GetParam().divergence, rows);
  Matrix found(20, 6);
  measured.divergences(measured.prepare(centroids), 30, found);
  for (Index i = 0; i < 20; ++i) {
    for (Index c = 0; c < 6; ++c) {
      const double expected = GetParam().divergence->value(rows.row(30 + i).transpose(), centroids.row(c).transpose());
      EXPECT_NEAR(found(i, c), expected, 1e-10 * (1 + expected));
      EXPECT_GE(found(i, c), 0);
    }
  }
}

TEST_P(KMeansOfEveryDivergence, IgnoresRowOrderAndThreads) {
  Random random(33);
  const Matrix rows = GetParam().rows(random, 90, 4);
  for (const auto start : {KMeansStart::kEuclidean, KMeansStart::kDivergence}) {
    const KMeansOptions options{.clusters = 4, .start = start, .restarts = 4, .seed = 5, .keep_restarts = true};
    const KMeansResult first = kmeans(*GetParam().divergence, rows, options);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const ThreadLimit limit(1 + repeat % 2);
      const auto order = random.permutation(90);
      const KMeansResult again = kmeans(*GetParam().divergence, test::permuted(rows, order), options);
      for (std::size_t i = 0; i < first.restarts.size(); ++i) {
        EXPECT_EQ(test::permuted(first.restarts[i].cluster_of_row, order), again.restarts[i].cluster_of_row);
        EXPECT_EQ(first.restarts[i].objective, again.restarts[i].objective);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KMeansOfEveryDivergence, testing::ValuesIn(test::all_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(KMeans, FindsWellSeparatedGroups) {
  std::vector<int> classes;
  const Matrix rows = blobs(classes);
  for (const auto start : {KMeansStart::kEuclidean, KMeansStart::kDivergence}) {
    const KMeansResult result = kmeans(SquaredEuclidean(), rows, {.clusters = 3, .start = start, .restarts = 5});
    EXPECT_EQ(rand_index(result.best.cluster_of_row, classes), 1);
    EXPECT_TRUE(result.restarts.empty());
    EXPECT_FALSE(result.stopped);
  }
}

TEST(KMeans, ReachesTheBestOfAllGroupings) {
  Random random(34);
  const Matrix rows = test::positive_rows(random, 9, 2);
  const auto divergence = make_closed_form("itakura_saito");
  double best = INFINITY;
  for (unsigned mask = 1; mask < 255; ++mask) {  // row 8 stays with cluster 0
    KMeansRun run;
    run.cluster_of_row.resize(9);
    run.centroids = Matrix::Zero(2, 2);
    Vector sizes = Vector::Zero(2);
    for (Index row = 0; row < 9; ++row) {
      const int cluster = (mask >> row) & 1u;
      run.cluster_of_row[static_cast<std::size_t>(row)] = cluster;
      run.centroids.row(cluster) += rows.row(row);
      ++sizes(cluster);
    }
    for (Index c = 0; c < 2; ++c) run.centroids.row(c) /= sizes(c);
    best = std::min(best, objective_of(*divergence, rows, run));
  }
  const KMeansResult result =
      kmeans(*divergence, rows, {.clusters = 2, .start = KMeansStart::kDivergence, .restarts = 40});
  EXPECT_NEAR(result.best.objective, best, 1e-10);
}

TEST(KMeans, AnEmptiedClusterTakesTheFarthestRow) {
  // All start on one place: clusters 1 and 2 are empty after the first assignment.
  Matrix rows(5, 1), start(3, 1);
  rows << 0, 1, 10, 11, 30;
  start << 0, 0, 0;
  const SquaredEuclidean divergence;
  const KMeansRun run = internal::lloyd(internal::MeasuredRows(divergence, rows), start, 100, {});
  EXPECT_EQ(clusters_used(run), 3u);
  EXPECT_NEAR(run.objective, 1, 1e-12);
  EXPECT_TRUE(std::is_sorted(run.objectives.rbegin(), run.objectives.rend()));
}

TEST(KMeans, FewerDistinctRowsThanClustersLeavesClustersEmpty) {
  Matrix rows(6, 1);
  rows << 1, 1, 1, 2, 2, 2;
  for (const auto start : {KMeansStart::kEuclidean, KMeansStart::kDivergence}) {
    const KMeansResult result = kmeans(SquaredEuclidean(), rows, {.clusters = 4, .start = start, .restarts = 3});
    EXPECT_EQ(clusters_used(result.best), 2u);
    EXPECT_EQ(result.best.objective, 0);
    EXPECT_TRUE(result.best.converged);
  }
}

TEST(KMeans, FewerPiecesThanClustersLeavesClustersEmpty) {
  Matrix slopes(2, 1);
  slopes << 1, -1;  // |x|
  const MaxAffine divergence(slopes, Vector::Zero(2));
  Matrix rows(6, 1);
  rows << -3, -2, -1, 1, 2, 3;
  for (const auto start : {KMeansStart::kEuclidean, KMeansStart::kDivergence}) {
    const KMeansResult result = kmeans(divergence, rows, {.clusters = 4, .start = start});
    EXPECT_EQ(clusters_used(result.best), 2u);
    EXPECT_EQ(result.best.objective, 0);
  }
}

TEST(KMeans, AsManyClustersAsRows) {
  Random random(35);
  const Matrix rows = test::normal_rows(random, 7, 3);
  const KMeansResult result = kmeans(SquaredEuclidean(), rows, {.clusters = 7, .restarts = 1});
  EXPECT_EQ(clusters_used(result.best), 7u);
  EXPECT_NEAR(result.best.objective, 0, 1e-12);
}

TEST(KMeans, SeedsDecideTheResult) {
  Random random(36);
  const Matrix rows = test::normal_rows(random, 200, 3);
  const KMeansOptions options{.clusters = 8, .restarts = 1, .seed = 1};
  KMeansOptions other = options;
  other.seed = 2;
  EXPECT_EQ(kmeans(SquaredEuclidean(), rows, options).best.cluster_of_row,
            kmeans(SquaredEuclidean(), rows, options).best.cluster_of_row);
  EXPECT_NE(kmeans(SquaredEuclidean(), rows, options).best.cluster_of_row,
            kmeans(SquaredEuclidean(), rows, other).best.cluster_of_row);
}

TEST(KMeans, PlusPlusDrawsByDivergence) {
  // From 0 the other rows lie at squared distances 1 and 3: the second seed is the farther one in 3 of 4 draws.
  Matrix rows(3, 1);
  rows << 0, 1, std::sqrt(3.0);
  Random random(37);
  const SquaredEuclidean divergence;
  const internal::MeasuredRows measured(divergence, rows);
  int from_first = 0, farther = 0;
  for (int repeat = 0; repeat < 30000; ++repeat) {
    const Matrix seeds = internal::plus_plus_centroids(measured, 2, random);
    if (seeds(0, 0) != 0) continue;
    ++from_first;
    farther += seeds(1, 0) > 1.5;
  }
  EXPECT_NEAR(from_first / 30000.0, 1.0 / 3.0, 0.015);
  EXPECT_NEAR(static_cast<double>(farther) / from_first, 0.75, 0.02);
}

TEST(KMeans, StopsOnRequestWithWhatThereIs) {
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  int reports = 0;
  control.on_progress = [&](const Progress& progress) {
    ++reports;
    EXPECT_EQ(progress.phase, "cluster");
    stop = progress.iteration >= 3 || reports > 3;
  };
  std::vector<int> classes;
  const Matrix rows = blobs(classes);
  const KMeansOptions options{.clusters = 3, .restarts = 9, .keep_restarts = true};
  const ThreadLimit limit(1);  // there is one restart per thread
  const KMeansResult result = kmeans(SquaredEuclidean(), rows, options, control);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.restarts.size(), 3u);
  const KMeansResult at_once = kmeans(SquaredEuclidean(), rows, options, control);
  EXPECT_TRUE(at_once.stopped);
  const Matrix divergences = SquaredEuclidean().matrix(rows, at_once.best.centroids);
  ASSERT_EQ(at_once.best.cluster_of_row.size(), 60u);
  for (Index row = 0; row < 60; ++row) {
    EXPECT_LE(divergences(row, at_once.best.cluster_of_row[static_cast<std::size_t>(row)]),
              divergences.row(row).minCoeff() + 1e-12)
        << row;
  }
  EXPECT_FALSE(at_once.best.converged);
}

TEST(KMeans, StopsAtTheIterationLimit) {
  Random random(38);
  const Matrix rows = test::normal_rows(random, 500, 3);
  const KMeansResult result =
      kmeans(SquaredEuclidean(), rows,
             {.clusters = 10, .start = KMeansStart::kDivergence, .restarts = 1, .max_iterations = 2});
  EXPECT_EQ(result.best.objectives.size(), 2u);
  EXPECT_FALSE(result.best.converged);
}

TEST(KMeans, RefusesBadInput) {
  const Matrix rows = Matrix::Ones(3, 2);
  const SquaredEuclidean divergence;
  EXPECT_THAT([&] { kmeans(divergence, rows, {.clusters = 4}); },
              ThrowsMessage<Error>(HasSubstr("clusters is 4; allowed: 1 to 3 (the number of rows)")));
  EXPECT_THAT([&] { kmeans(divergence, rows, {.clusters = 0}); }, ThrowsMessage<Error>(HasSubstr("clusters is 0")));
  EXPECT_THAT([&] { kmeans(divergence, rows, {.restarts = 0}); }, ThrowsMessage<Error>(HasSubstr("restarts is 0")));
  EXPECT_THAT([&] { kmeans(divergence, rows, {.max_iterations = 0}); },
              ThrowsMessage<Error>(HasSubstr("max_iterations is 0")));
  EXPECT_THAT([&] { kmeans(divergence, Matrix(0, 2), {}); }, ThrowsMessage<Error>(HasSubstr("rows has 0 rows")));
  Matrix with_zero(2, 2);
  with_zero << 0, 1, 0.5, 0.5;
  EXPECT_THROW(kmeans(*make_closed_form("kl"), with_zero, {.clusters = 1}), Error);
}

// Two rings around one centre: no two means of the plane tell them apart, two radii do.
TEST(KMeans, OfAnEmbeddingAveragesTheImages) {
  const PolarEmbedding polar;
  Matrix rows(40, 2);
  for (Index i = 0; i < 40; ++i) {
    const double radius = i % 2 == 0 ? 1 : 3, angle = 0.3 * static_cast<double>(i);
    rows.row(i) << radius * std::cos(angle), radius * std::sin(angle);
  }
  for (const KMeansStart start : {KMeansStart::kEuclidean, KMeansStart::kDivergence}) {
    KMeansOptions options;
    options.start = start;
    const KMeansRun best = kmeans(polar, rows, options).best;
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(best.cluster_of_row[i], best.cluster_of_row[i % 2]);
    EXPECT_NE(best.cluster_of_row[0], best.cluster_of_row[1]);
    ASSERT_EQ(best.centroids.cols(), 1);
    EXPECT_NEAR(best.centroids(best.cluster_of_row[1], 0), 3, 1e-12);
    EXPECT_NEAR(best.objective, 0, 1e-12);
  }
}

}  // namespace
}  // namespace bregmax
