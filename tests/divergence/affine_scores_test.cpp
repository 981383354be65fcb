#include "divergence/affine_scores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/max_affine.hpp"

namespace bregmax::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Matrix normal_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

TEST(AffineScores, AgreeWithTheDefinition) {
  Random random(1);
  for (const Index pieces : {1, 7, 8, 9, 33}) {
    for (const Index features : {1, 3, 20}) {
      const Matrix slopes = normal_rows(random, pieces, features), rows = normal_rows(random, 11, features);
      const Vector offsets = normal_rows(random, pieces, 1);
      Matrix scores(11, pieces), portable(11, pieces);
      const AffineScores kernel(slopes, offsets);
      kernel.compute(rows.data(), features, 11, scores.data());
      kernel.compute(rows.data(), features, 11, portable.data(), Instructions::kAny);
      const Matrix expected = (rows * slopes.transpose()).rowwise() + offsets.transpose();
      for (const Matrix* found : {&scores, &portable}) {
        EXPECT_LT((*found - expected).cwiseAbs().maxCoeff(), 1e-13) << pieces << " pieces, " << features << " features";
      }
    }
  }
}

// Equal to the last bit: alone, in blocks of any size, and with other columns between the rows.
TEST(AffineScores, DoNotDependOnWhereARowStands) {
  Random random(2);
  const Index pieces = 21, features = 13, count = 37;
  const AffineScores kernel(normal_rows(random, pieces, features), normal_rows(random, pieces, 1));
  const Matrix wide = normal_rows(random, count, features + 5);
  Matrix all(count, pieces);
  kernel.compute(wide.data(), features + 5, count, all.data());
  for (Index begin = 0; begin < count; ++begin) {
    for (Index size = 1; begin + size <= count; size += 3) {
      const Matrix block = wide.block(begin, 0, size, features);
      Matrix scores(size, pieces);
      kernel.compute(block.data(), features, size, scores.data());
      ASSERT_EQ(scores, all.middleRows(begin, size)) << begin << " " << size;
    }
  }
}

// One pair of rows, a whole matrix, and references given by their pieces: the same double.
TEST(AffineScores, GiveTheSameDivergenceInEveryForm) {
  Random random(3);
  const MaxAffine phi(normal_rows(random, 40, 6), normal_rows(random, 40, 1));
  const Matrix x = normal_rows(random, 300, 6), y = normal_rows(random, 29, 6);
  const Matrix matrix = phi.matrix(x, y);
  Matrix by_piece(x.rows(), y.rows());
  phi.prepare_pieces(phi.pieces_of(y))->divergences_from(x, by_piece);
  EXPECT_EQ(by_piece, matrix);
  for (Index i = 0; i < x.rows(); i += 7) {
    for (Index j = 0; j < y.rows(); ++j) ASSERT_EQ(phi.value(x.row(i), y.row(j)), matrix(i, j)) << i << " " << j;
  }
  EXPECT_THAT([&] { phi.prepare_pieces({40}); }, ThrowsMessage<Error>(HasSubstr("piece 40; allowed: 0 to 39")));
  EXPECT_THAT([&] { phi.prepare_pieces({-1}); }, ThrowsMessage<Error>(HasSubstr("piece -1; allowed: 0 to 39")));
}

}  // namespace
}  // namespace bregmax::internal
