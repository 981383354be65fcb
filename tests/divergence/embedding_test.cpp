#include "bregmax/divergence/embedding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"
#include "divergence/polar_embedding.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Embedding, IsTheSquaredDistanceOfTheImages) {
  const PolarEmbedding polar;
  Matrix rows(3, 2);
  rows << 3, 4, 0, 2, -1, 0;
  const Matrix images = polar.embed(rows);
  const Matrix measured = polar.matrix(rows, rows);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const double expected = (images.row(i) - images.row(j)).squaredNorm();
      EXPECT_NEAR(measured(i, j), expected, 1e-12);
      EXPECT_EQ(polar.value(rows.row(i), rows.row(j)), expected);
    }
    EXPECT_EQ(polar.value(rows.row(i), rows.row(i)), 0);
  }
  EXPECT_DOUBLE_EQ(polar.generator_values(rows)(0), images.row(0).squaredNorm());
}

TEST(Embedding, RefusesWhatItCannotMeasure) {
  const PolarEmbedding polar;
  const Matrix wide = Matrix::Ones(2, 3), good = Matrix::Ones(2, 2);
  Matrix infinite = good;
  infinite(1, 0) = 1e200;
  EXPECT_THROW(polar.matrix(wide, good), Error);
  EXPECT_THROW(polar.matrix(good, wide), Error);
  EXPECT_THAT([&] { polar.prepare(infinite); }, ThrowsMessage<Error>(HasSubstr("reference row 1, feature 0")));
  EXPECT_THROW(polar.embed(infinite), Error);
  EXPECT_THROW(polar.value(wide.row(0), good.row(0)), Error);
  EXPECT_THAT([&] { polar.gradients(good); }, ThrowsMessage<Error>(HasSubstr("no gradient")));
  EXPECT_THAT([] { make_embedding("polar", {}); }, ThrowsMessage<Error>(HasSubstr("unknown embedding 'polar'")));
}

}  // namespace
}  // namespace bregmax
