#include "methods/pair_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "methods/labelled_rows.hpp"

namespace bregmax::internal {
namespace {

// Every length, so that what is left over by the wide loops is covered, too.
class EveryLength : public testing::TestWithParam<int> {};

TEST_P(EveryLength, TakesExponentials) {
  const Index count = GetParam();
  const double offset = -2;
  Vector distances = offset + 20 * random_matrix(count, 1, 3).cwiseAbs().array();
  if (count > 2) distances(2) = offset + 2 * kNegligibleExponent;
  Vector values = distances, portable = distances;
  const double sum = pair_kernels().exponentials(offset, count, values.data());
  EXPECT_NEAR(sum, values.sum(), 1e-13 * (1 + sum));
  EXPECT_NEAR(sum, portable_pair_kernels().exponentials(offset, count, portable.data()), 1e-13 * (1 + sum));
  for (Index j = 0; j < count; ++j) {
    const double exact = distances(j) - offset < kNegligibleExponent ? std::exp(offset - distances(j)) : 0;
    EXPECT_NEAR(values(j), exact, 1e-15 * exact);
    EXPECT_NEAR(portable(j), exact, 1e-15 * exact);
  }
}

TEST_P(EveryLength, MeasuresAndCollects) {
  const Index count = GetParam();
  const Vector heights = random_matrix(count, 1, 4).cwiseAbs();
  Vector wide = random_matrix(count, 1, 5), portable = wide;
  const Vector expected = heights - 2 * wide;
  const double lowest = pair_kernels().products_to_distances(heights.data(), count, wide.data());
  const double portable_lowest = portable_pair_kernels().products_to_distances(heights.data(), count, portable.data());
  if (count == 0) return;
  EXPECT_NEAR(lowest, portable_lowest, 1e-14);
  EXPECT_LT((wide - expected).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((portable - expected).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(lowest, wide.minCoeff());

  std::vector<int> index(static_cast<std::size_t>(count)), portable_index = index;
  Vector near(count), portable_near(count);
  const Index begin = count / 3;
  const Index found = pair_kernels().collect_near(wide.data(), 0.3, begin, count, index.data(), near.data());
  EXPECT_EQ(found, portable_pair_kernels().collect_near(wide.data(), 0.3, begin, count, portable_index.data(),
                                                        portable_near.data()));
  EXPECT_EQ(found, pair_kernels().count_near(wide.data() + begin, 0.3, count - begin));
  EXPECT_EQ(found, portable_pair_kernels().count_near(wide.data() + begin, 0.3, count - begin));
  EXPECT_EQ(found, (wide.tail(count - begin).array() < 0.3).count());
  for (Index k = 0; k < found; ++k) {
    EXPECT_EQ(index[static_cast<std::size_t>(k)], portable_index[static_cast<std::size_t>(k)]);
    EXPECT_EQ(near(k), wide(index[static_cast<std::size_t>(k)]));
    EXPECT_EQ(near(k), portable_near(k));
  }
}

TEST_P(EveryLength, SpreadsDifferences) {
  const Index rows = GetParam() + 1;
  const Matrix z = random_matrix(rows, 8, 6);
  const Vector weights = random_matrix(rows, 1, 7);
  std::vector<int> index;
  for (int j = 1; j < rows; j += 2) index.push_back(j);
  const auto count = static_cast<Index>(index.size());
  Matrix out = Matrix::Zero(rows, 8), portable = out;
  pair_kernels().spread_differences(z.data(), 8, 0, index.data(), weights.data(), count, out.data());
  portable_pair_kernels().spread_differences(z.data(), 8, 0, index.data(), weights.data(), count, portable.data());
  EXPECT_LT((out - portable).cwiseAbs().maxCoeff(), 1e-13);
  Vector distances(count), portable_distances(count);
  pair_kernels().pair_distances(z.data(), 8, 0, index.data(), count, distances.data());
  portable_pair_kernels().pair_distances(z.data(), 8, 0, index.data(), count, portable_distances.data());
  Matrix expected = Matrix::Zero(rows, 8);
  for (Index k = 0; k < count; ++k) {
    const Index j = index[static_cast<std::size_t>(k)];
    EXPECT_NEAR(distances(k), (z.row(0) - z.row(j)).squaredNorm(), 1e-13);
    EXPECT_NEAR(portable_distances(k), distances(k), 1e-13);
    expected.row(0) += weights(k) * (z.row(0) - z.row(j));
    expected.row(j) -= weights(k) * (z.row(0) - z.row(j));
  }
  EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(PairKernels, EveryLength, testing::Values(0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64, 101));

}  // namespace
}  // namespace bregmax::internal
