#include "bregmax/search/top_k.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "tasks/cases.hpp"

namespace bregmax {

// For the messages of failed comparisons, and for the comparisons.
static bool operator==(const Neighbour& a, const Neighbour& b) {
  return a.row == b.row && a.divergence == b.divergence;
}
static void PrintTo(const Neighbour& neighbour, std::ostream* out) {
  *out << neighbour.row << " at " << neighbour.divergence;
}

namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Lists = std::vector<std::vector<Neighbour>>;

// All divergences, sorted.
Lists brute_force(const Divergence& divergence, const Matrix& references, const Matrix& queries, Index k) {
  const Matrix divergences = divergence.matrix(queries, references);
  Lists lists;
  for (Index q = 0; q < queries.rows(); ++q) {
    auto& list = lists.emplace_back();
    for (Index row = 0; row < references.rows(); ++row) list.push_back({row, divergences(q, row)});
    std::stable_sort(list.begin(), list.end(),
                     [](const Neighbour& a, const Neighbour& b) { return a.divergence < b.divergence; });
    if (k > 0 && k < references.rows()) list.resize(static_cast<std::size_t>(k));
  }
  return lists;
}

// Every entry of one row of the result may differ from that of brute force by the rounding of its place in a product
// of matrices; where two divergences differ by less than that, their order may, too.
void expect_nearly_equal(const Lists& found, const Lists& expected, double rounding) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t q = 0; q < found.size(); ++q) {
    ASSERT_EQ(found[q].size(), expected[q].size());
    for (std::size_t i = 0; i < found[q].size(); ++i) {
      EXPECT_NEAR(found[q][i].divergence, expected[q][i].divergence, rounding) << "query " << q << ", place " << i;
      if (i > 0) {
        EXPECT_LE(found[q][i - 1].divergence, found[q][i].divergence);
      }
    }
  }
}

class TopKOfEveryDivergence : public testing::TestWithParam<test::Case> {};

TEST_P(TopKOfEveryDivergence, EqualsBruteForce) {
  Random random(31);
  const Divergence& divergence = *GetParam().divergence;
  for (const Index count : {1, 7, 63, 300}) {
    const Matrix references = GetParam().rows(random, count, 4), queries = GetParam().rows(random, 70, 4);
    for (const Index k : {0, 1, 5, 64, 1000}) {
      EXPECT_EQ(top_k(divergence, references, queries, k), brute_force(divergence, references, queries, k))
          << count << " references, k = " << k;
    }
  }
}

// More than one tile of queries and of references.
TEST_P(TopKOfEveryDivergence, EqualsBruteForceOverManyTiles) {
  Random random(32);
  const Divergence& divergence = *GetParam().divergence;
  const Matrix references = GetParam().rows(random, 1300, 4);
  const Matrix queries = GetParam().rows(random, 150, 4);
  const double rounding = 1e-11 * (1 + divergence.matrix(queries, references).maxCoeff());
  for (const Index k : {1, 10, 1300}) {
    expect_nearly_equal(top_k(divergence, references, queries, k), brute_force(divergence, references, queries, k),
                        rounding);
  }
}

TEST_P(TopKOfEveryDivergence, IsTheSameForEveryNumberOfThreads) {
  Random random(33);
  const Matrix references = GetParam().rows(random, 700, 4), queries = GetParam().rows(random, 300, 4);
  const auto with_threads = [&](int threads) {
    const ThreadLimit limit(threads);
    return top_k(*GetParam().divergence, references, queries, 6);
  };
  const Lists alone = with_threads(1);
  EXPECT_EQ(with_threads(2), alone);
  EXPECT_EQ(with_threads(5), alone);
}

INSTANTIATE_TEST_SUITE_P(All, TopKOfEveryDivergence, testing::ValuesIn(test::all_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(TopK, DuplicatesGoByTheirRowNumber) {
  Matrix references(6, 1);
  references << 2, 1, 2, 1, 0, 1;
  const Lists found = top_k(SquaredEuclidean(), references, Matrix::Constant(1, 1, 1), 4);
  EXPECT_THAT(found[0], testing::ElementsAre(Neighbour{1, 0}, Neighbour{3, 0}, Neighbour{5, 0}, Neighbour{0, 1}));
}

TEST(TopK, RowsOfPiecesAtOneDivergenceGoByTheirRowNumber) {
  // phi(x) = max(x, 2x - 5, -x): from the point 0 the pieces x and -x, at scores 0 and 0, are both at divergence 0.
  Matrix slopes(3, 1);
  slopes << 1, 2, -1;
  Vector offsets(3);
  offsets << 0, -5, 0;
  Matrix references(6, 1);
  references << -3, 3, 9, -1, 2, 9;
  const Lists found = top_k(*make_max_affine(slopes, offsets, 0), references, Matrix::Zero(1, 1), 5);
  EXPECT_THAT(found[0], testing::ElementsAre(Neighbour{0, 0}, Neighbour{1, 0}, Neighbour{3, 0}, Neighbour{4, 0},
                                             Neighbour{2, 5}));
}

TEST(TopK, StopsOnRequestAndReportsProgress) {
  Random random(34);
  const Matrix rows = test::normal_rows(random, 9000, 2);
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  double fraction = 0;
  control.on_progress = [&](const Progress& progress) {
    fraction = progress.fraction;
    stop = true;
  };
  const Lists found = top_k(SquaredEuclidean(), rows, rows, 3, control);
  EXPECT_GT(found.size(), 0u);
  EXPECT_LT(found.size(), 9000u);
  EXPECT_DOUBLE_EQ(fraction, static_cast<double>(found.size()) / 9000);
  EXPECT_EQ(found.back()[0].row, static_cast<Index>(found.size()) - 1) << "a row is nearest to itself";
}

TEST(TopK, RefusesBadInput) {
  const Matrix rows = Matrix::Random(3, 2);
  const SquaredEuclidean divergence;
  EXPECT_THAT([&] { top_k(divergence, Matrix(0, 2), rows, 1); },
              ThrowsMessage<Error>(HasSubstr("references has 0 rows")));
  EXPECT_THAT([&] { top_k(divergence, rows, Matrix::Random(3, 4), 1); },
              ThrowsMessage<Error>(HasSubstr("queries has 4 features; allowed: 2")));
  EXPECT_THAT([&] { top_k(divergence, rows, rows, -1); },
              ThrowsMessage<Error>(HasSubstr("k is -1; allowed: 0 or more")));
}

TEST(TopK, WhatTheSolverDoesNotTellApartGoesByTheRowNumber) {
  Random random(35);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const test::WithResidue divergence = test::with_residue(random, 7, 3);
    const Matrix references = test::normal_rows(random, 60, 3), queries = test::normal_rows(random, 20, 3);
    for (const Index k : {0, 1, 4, 25, 59, 60}) {
      const Lists clean = top_k(*divergence.clean, references, queries, k);
      const Lists learned = top_k(*divergence.learned, references, queries, k);
      for (std::size_t q = 0; q < clean.size(); ++q) {
        ASSERT_EQ(learned[q].size(), clean[q].size());
        for (std::size_t i = 0; i < clean[q].size(); ++i) {
          EXPECT_EQ(learned[q][i].row, clean[q][i].row) << "k = " << k << ", query " << q << ", place " << i;
          EXPECT_NEAR(learned[q][i].divergence, clean[q][i].divergence, 1e-9);
          if (i > 0) {
            EXPECT_LE(learned[q][i - 1].divergence, learned[q][i].divergence);
          }
        }
      }
    }
  }
}

TEST(TopK, ATieBeginsAtItsNearestMember) {
  // Distances 0, 0.6, 1.3 and 2.1 from the point 0 with a resolution of 1: {0, 0.6} and {1.3, 2.1}, not a chain.
  Matrix slopes(4, 1);
  slopes << 0, 1, 2, 3;
  Vector offsets(4);
  offsets << 0, -0.6, -1.3, -2.1;
  Matrix references(4, 1);
  references << 10, 0.65, -10, 0.75;  // on the pieces 3, 1, 0 and 2
  const auto divergence = make_max_affine(slopes, offsets, 0, 1);
  const Lists all = top_k(*divergence, references, Matrix::Zero(1, 1), 0);
  EXPECT_THAT(all[0], testing::ElementsAre(Neighbour{1, 0}, Neighbour{2, 0}, Neighbour{0, 1.3}, Neighbour{3, 1.3}));
}

}  // namespace
}  // namespace bregmax
