#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "divergence/polar_embedding.hpp"

namespace bregmax {
namespace {

Matrix normal_matrix(Random& random, Index rows, Index cols) {
  return Matrix::NullaryExpr(rows, cols, [&] { return random.normal(); });
}

void expect_distances(const Divergence& divergence, const Matrix& rows) {
  const Matrix embedded = embedded_rows(divergence, rows);
  ASSERT_EQ(embedded.rows(), rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.rows(); ++j) {
      const double value = divergence.value(rows.row(i), rows.row(j));
      EXPECT_NEAR((embedded.row(i) - embedded.row(j)).squaredNorm(), value, 1e-10 * (1 + value)) << i << " " << j;
    }
  }
}

TEST(EmbeddedRows, HaveTheDivergencesAsSquaredDistances) {
  Random random(1);
  expect_distances(SquaredEuclidean(), normal_matrix(random, 9, 3));
  expect_distances(PolarEmbedding(), normal_matrix(random, 9, 2));
  for (const Index rank : {1, 3, 5}) {
    const Matrix root = normal_matrix(random, rank, 5);
    const Mahalanobis mahalanobis(root.transpose() * root);
    const Matrix rows = normal_matrix(random, 9, 5);
    expect_distances(mahalanobis, rows);
    EXPECT_EQ(embedded_rows(mahalanobis, rows).cols(), rank);
  }
}

TEST(EmbeddedRows, KeepOneColumnOfAMatrixOfZeros) {
  Random random(2);
  const Matrix rows = normal_matrix(random, 4, 3);
  EXPECT_EQ(embedded_rows(Mahalanobis(Matrix::Zero(3, 3)), rows), Matrix::Zero(4, 1));
}

TEST(EmbeddedRows, RefuseDivergencesThatAreNotSquaredDistances) {
  Random random(3);
  const Matrix rows = normal_matrix(random, 4, 2);
  const MaxAffine max_affine(Matrix::Identity(2, 2), Vector::Zero(2));
  EXPECT_THAT([&] { embedded_rows(max_affine, rows); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("max_affine is not a squared distance")));
  EXPECT_THROW(embedded_rows(Mahalanobis(Matrix::Identity(3, 3)), rows), Error);
}

}  // namespace
}  // namespace bregmax
