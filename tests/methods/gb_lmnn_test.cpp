#include "methods/gb_lmnn.hpp"

#include <gtest/gtest.h>

#include "bregmax/core/threads.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "methods/labelled_rows.hpp"
#include "methods/regression_tree.hpp"

namespace bregmax {
namespace {

std::size_t tree_count(const Learned& learned) {
  return dynamic_cast<const TreeEmbedding&>(*learned.divergence).trees().roots.size();
}

// Four blobs at the corners of a square, opposite corners of one class: no linear map tells the classes apart.
LabelledRows exclusive_or(Index count, std::uint64_t seed) {
  Random random(seed);
  LabelledRows data{Matrix(count, 2), ClassOfRow(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const double x = i % 2 == 0 ? 1 : -1, y = (i / 2) % 2 == 0 ? 1 : -1;
    data.rows.row(i) << x + 0.5 * random.normal(), y + 0.5 * random.normal();
    data.classes[static_cast<std::size_t>(i)] = x * y > 0 ? 0 : 1;
  }
  return data;
}

TEST(TreeGrower, FindsTheBestSplitOfAll) {
  const Matrix rows = random_matrix(25, 3, 1), targets = random_matrix(25, 2, 2);
  const internal::TreeGrower grower(rows);
  TreeEnsemble trees;
  trees.leaves.resize(0, 2);
  Matrix fitted;
  grower.grow(targets, 1, 3, trees, fitted);
  // Every split, the slow way.
  double lowest = std::numeric_limits<double>::infinity();
  for (Index f = 0; f < 3; ++f) {
    for (Index r = 0; r < 25; ++r) {
      Matrix means = Matrix::Zero(2, 2);
      Index counts[2] = {0, 0};
      for (Index i = 0; i < 25; ++i) {
        const Index side = rows(i, f) <= rows(r, f) ? 0 : 1;
        means.row(side) += targets.row(i);
        ++counts[side];
      }
      if (counts[0] < 3 || counts[1] < 3) continue;
      double squares = 0;
      for (Index i = 0; i < 25; ++i) {
        const Index side = rows(i, f) <= rows(r, f) ? 0 : 1;
        squares += (targets.row(i) - means.row(side) / static_cast<double>(counts[side])).squaredNorm();
      }
      lowest = std::min(lowest, squares);
    }
  }
  EXPECT_NEAR((targets - fitted).squaredNorm(), lowest, 1e-10);
  Matrix applied = Matrix::Zero(25, 2);
  trees.add_to(rows, applied);
  EXPECT_LT((applied - fitted).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(TreeGrower, FitsExactlyWhenItIsDeepAndNeverSplitsEqualRows) {
  Matrix rows = random_matrix(30, 2, 3);
  rows.row(7) = rows.row(8);
  Matrix targets = random_matrix(30, 2, 4), fitted;
  const internal::TreeGrower grower(rows);
  TreeEnsemble trees;
  trees.leaves.resize(0, 2);
  grower.grow(targets, 30, 1, trees, fitted);
  EXPECT_EQ(fitted.row(7), fitted.row(8));
  for (Index i = 0; i < 30; ++i) {
    if (i != 7 && i != 8) {
      EXPECT_LT((fitted.row(i) - targets.row(i)).norm(), 1e-12);
    }
  }
  // A second tree on what is left does not disturb the first.
  Matrix rest;
  grower.grow(targets - fitted, 2, 1, trees, rest);
  Matrix applied = Matrix::Zero(30, 2);
  trees.add_to(rows, applied);
  EXPECT_LT((applied - fitted - rest).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(trees.roots.size(), 2U);
}

TEST(LargeMarginBooster, EveryTreeDecreasesTheLossAndTheEnsembleEmbedsAlike) {
  const LabelledRows data = ordered(exclusive_or(80, 1));
  const Matrix linear = Matrix::Identity(2, 2);
  internal::LargeMarginBooster booster(data.rows, data.classes, linear, 3, 0.5);
  double last = booster.loss();
  for (int tree = 0; tree < 15; ++tree) {
    ASSERT_TRUE(booster.add_tree(3, 0.5));
    EXPECT_LT(booster.loss(), last);
    last = booster.loss();
  }
  const TreeEmbedding embedding(linear, booster.trees());
  EXPECT_LT((embedding.embed(data.rows) - booster.embedded()).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(HeldOut, TheNearestRowsVote) {
  const Vector distances = Vector::LinSpaced(5, 1, 5);
  EXPECT_EQ(internal::voted_class(distances, {0, 1, 1, 0, 0}, 1), 0);
  EXPECT_EQ(internal::voted_class(distances, {0, 1, 1, 0, 0}, 3), 1);
  EXPECT_EQ(internal::voted_class(distances, {2, 0, 1, 0, 0}, 3), 2) << "one vote each";
  EXPECT_EQ(internal::voted_class(distances, {1, 0, 0, 1, 2}, 4), 0) << "two votes each: the first that had two";
  EXPECT_EQ(internal::voted_class(distances, {2, 0, 1, 1, 1}, 9), 1) << "fewer rows than voters";
}

TEST(HeldOut, ScoreIsThatOfTheDefinition) {
  Matrix embedded(4, 1), held_out(2, 1);
  embedded << 0, 1, 10, 11;
  held_out << 0.5, 9;
  const ClassOfRow classes = {0, 0, 1, 1}, held_out_classes = {0, 0};
  const internal::HeldOutRows rows(embedded, classes, held_out, held_out_classes, 1, 0.25);
  const auto [wrong, loss] = rows.score(embedded, held_out);
  EXPECT_EQ(wrong, 1);
  // The targets are the rows 0 (the first of two at the same distance) and 1, at 0.25 and 64; of the impostors those
  // at 1 and 4 from the second row are too near.
  EXPECT_DOUBLE_EQ(loss, 0.75 * (0.25 + 64) + 0.25 * ((1 + 64 - 1) + (1 + 64 - 4)));
}

// Four regions along the last feature. Which of the other features tells the classes apart depends on the region, so
// that each linear map keeps three features that are noise.
LabelledRows regions(Index count, std::uint64_t seed) {
  Random random(seed);
  LabelledRows data{Matrix(count, 5), ClassOfRow(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    for (Index f = 0; f < 4; ++f) data.rows(i, f) = 2 * random.uniform() - 1;
    data.rows(i, 4) = static_cast<double>(4 * (i % 4));
    data.classes[static_cast<std::size_t>(i)] = data.rows(i, i % 4) > 0 ? 1 : 0;
  }
  return data;
}

TEST(GbLmnn, TellsApartWhatNoLinearMapDoes) {
  const ThreadLimit single(1);
  for (const std::uint64_t seed : {1, 11, 21}) {
    const LabelledRows train = regions(300, seed), test = regions(1000, seed + 1);
    const Learned learned = learn("gb-lmnn", train.rows, train.classes);
    EXPECT_EQ(learned.report.status, Status::kConverged);
    EXPECT_EQ(learned.report.stationarity, 0);
    EXPECT_GT(tree_count(learned), 0U);
    const auto accuracy = [&](const Divergence& divergence) {
      return expected_accuracy(classify_nearest(divergence, train.rows, train.classes, test.rows), test.classes);
    };
    const Learned linear = learn("lmnn", train.rows, train.classes);
    EXPECT_LT(learned.report.objective, linear.report.objective);
    EXPECT_GT(accuracy(*learned.divergence), accuracy(*linear.divergence) + 0.02) << seed;
  }
}

TEST(GbLmnn, WithoutTreesIsLmnn) {
  const LabelledRows data = noisy_clouds(60, 3, 2, 1, 2);
  const Learned learned = learn("gb-lmnn", data.rows, data.classes, {.parameters = {{"trees", 0}}});
  const Learned linear = learn("lmnn", data.rows, data.classes);
  EXPECT_EQ(tree_count(learned), 0U);
  EXPECT_NEAR(learned.divergence->value(data.rows.row(0), data.rows.row(1)),
              linear.divergence->value(data.rows.row(0), data.rows.row(1)), 1e-9);
}

TEST(LargeMarginBooster, ShrinkageTakesAPartOfTheStep) {
  const ThreadLimit single(1);
  const LabelledRows data = ordered(exclusive_or(80, 1));
  const Matrix linear = Matrix::Identity(2, 2);
  internal::LargeMarginBooster whole(data.rows, data.classes, linear, 3, 0.5);
  internal::LargeMarginBooster part(data.rows, data.classes, linear, 3, 0.5);
  const double before = whole.loss();
  ASSERT_TRUE(whole.add_tree(3, 1));
  ASSERT_TRUE(part.add_tree(3, 0.25));
  EXPECT_LT(part.loss(), before);
  EXPECT_LT((part.trees().leaves - 0.25 * whole.trees().leaves).norm(), 1e-12 * whole.trees().leaves.norm());
}

TEST(GbLmnn, SaysHowManyRowsItNeeds) {
  const LabelledRows data = noisy_clouds(4, 2, 2, 1, 1);
  expect_refused("gb-lmnn", data, {}, "found 4 rows; allowed: 5 or more");
}

TEST(GbLmnn, RefusesBadInput) {
  const LabelledRows data = noisy_clouds(30, 3, 3, 3, 1);
  expect_refused("gb-lmnn", data, {{"trees", -1}}, "trees is -1; allowed: a whole number from 0 to 100000");
  expect_refused("gb-lmnn", data, {{"depth", 0}}, "depth is 0; allowed: a whole number from 1 to 20");
  expect_refused("gb-lmnn", data, {{"shrinkage", 0}}, "shrinkage is 0; allowed: a number above 0, up to 1");
  expect_refused("gb-lmnn", data, {{"push", 1}}, "push is 1");
  expect_refused("gb-lmnn", data, {{"neighbours", 0}}, "neighbours is 0");
}

}  // namespace
}  // namespace bregmax
