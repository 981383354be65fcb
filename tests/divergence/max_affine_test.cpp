#include "bregmax/divergence/max_affine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"

namespace bregmax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Matrix normal_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

// The definition, one number at a time.
double scalar_score(const MaxAffine& phi, const MatrixView& rows, Index row, Index piece) {
  double score = phi.offsets()(piece);
  for (Index j = 0; j < rows.cols(); ++j) score += phi.slopes()(piece, j) * rows(row, j);
  return score;
}

double scalar_generator(const MaxAffine& phi, const MatrixView& rows, Index row) {
  double largest = scalar_score(phi, rows, row, 0);
  for (Index k = 1; k < phi.pieces(); ++k) largest = std::max(largest, scalar_score(phi, rows, row, k));
  return largest;
}

Index scalar_piece(const MaxAffine& phi, const MatrixView& rows, Index row) {
  const double largest = scalar_generator(phi, rows, row);
  for (Index k = 0;; ++k) {
    if (scalar_score(phi, rows, row, k) >= largest - 1e-14 * (1 + std::abs(largest))) return k;
  }
}

// phi(x) = |x|: pieces -x (0) and x (1), which tie exactly at 0.
MaxAffine absolute_value() {
  Matrix slopes(2, 1);
  slopes << -1, 1;
  return {slopes, Vector::Zero(2)};
}

Vector at(double x) { return Vector::Constant(1, x); }

TEST(MaxAffine, MatrixAgreesWithTheScalarDefinition) {
  Random random(1);
  const MaxAffine phi(normal_rows(random, 37, 4), normal_rows(random, 37, 1));
  for (const auto& [points, references] : {std::pair<Index, Index>{50, 60}, {2100, 2001}}) {  // cached and streamed
    const Matrix x = normal_rows(random, points, 4), y = normal_rows(random, references, 4);
    const Matrix matrix = phi.matrix(x, y);
    for (Index i = 0; i < points; i += 7) {
      const double height = scalar_generator(phi, x, i);
      for (Index j = 0; j < references; j += 3) {
        const double expected = height - scalar_score(phi, x, i, scalar_piece(phi, y, j));
        ASSERT_NEAR(matrix(i, j), expected, 1e-12 * (1 + std::abs(height)));
      }
    }
  }
}

// Integer-valued: equality is exact.
TEST(MaxAffine, IntegerPiecesAreExact) {
  Matrix slopes(3, 2), x(3, 2);
  slopes << 1, 0, 0, 2, -1, -1;
  Vector offsets(3);
  offsets << 0, -1, 3;
  const MaxAffine phi(slopes, offsets);
  x << 4, 1, 0, 5, -2, -2;
  EXPECT_THAT(phi.pieces_of(x), ElementsAre(0, 1, 2));
  Matrix expected(3, 3);
  expected << 0, 3, 6, 9, 0, 11, 9, 12, 0;
  EXPECT_EQ(phi.matrix(x, x), expected);
  EXPECT_EQ(phi.gradients(x), slopes);
  EXPECT_EQ(phi.generator_values(x), (Vector(3) << 4, 9, 7).finished());
}

TEST(MaxAffine, LowestNumberedPieceWinsAnExactTie) {
  const MaxAffine phi = absolute_value();
  EXPECT_THAT(phi.pieces_of(at(0)), ElementsAre(0));
  EXPECT_EQ(phi.gradients(at(0))(0, 0), -1);
  EXPECT_EQ(phi.value(at(3), at(0)), 6);  // |3| - (-3)
  EXPECT_EQ(phi.value(at(-3), at(0)), 0);
  EXPECT_EQ(phi.value(at(0), at(0)), 0);
  EXPECT_EQ(phi.matrix(at(3), at(0))(0, 0), 6);
}

TEST(MaxAffine, ScoresWithinTheToleranceTie) {
  const MaxAffine phi = absolute_value();
  EXPECT_THAT(phi.pieces_of(at(4e-15)), ElementsAre(0));  // scores -4e-15 and 4e-15: 8e-15 apart
  EXPECT_THAT(phi.pieces_of(at(6e-15)), ElementsAre(1));
  // The chosen piece is below the maximum, and still D(x, x) = 0 both ways.
  EXPECT_EQ(phi.value(at(4e-15), at(4e-15)), 0);
  EXPECT_EQ(phi.matrix(at(4e-15), at(4e-15))(0, 0), 0);
  // The tolerance grows with phi.
  Matrix slopes(2, 1);
  slopes << 1, 1;
  Vector offsets(2);
  offsets << 0, 1e-9;
  EXPECT_THAT(MaxAffine(slopes, offsets).pieces_of(at(1e6)), ElementsAre(0));
  EXPECT_THAT(MaxAffine(slopes, offsets).pieces_of(at(1)), ElementsAre(1));
}

TEST(MaxAffine, ReferencesOnOnePieceAreInterchangeable) {
  const MaxAffine phi = absolute_value();
  for (const double x : {-2.0, -1e-12, 0.0, 5.0}) {
    EXPECT_EQ(phi.value(at(x), at(1)), phi.value(at(x), at(100)));
    EXPECT_EQ(phi.value(at(x), at(-1)), phi.value(at(x), at(0)));
  }
}

// The mean of -1 and 1 is where the pieces tie: whichever is chosen there, the mean must remain a minimiser.
TEST(MaxAffine, MeanMinimisesAtATie) {
  const MaxAffine phi = absolute_value();
  Matrix points(2, 1);
  points << -1, 1;
  const auto total = [&](double reference) { return phi.matrix(points, at(reference)).sum(); };
  for (const double other : {-2.0, -1.0, -1e-10, 1e-10, 0.5, 3.0}) EXPECT_LE(total(0), total(other));
}

TEST(MaxAffine, RefusesBadPieces) {
  const auto refused = [](const Matrix& slopes, const Vector& offsets, const char* message) {
    EXPECT_THAT([&] { MaxAffine(slopes, offsets); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused(Matrix(0, 2), Vector(0), "slopes is 0 x 2");
  refused(Matrix(2, 0), Vector::Zero(2), "slopes is 2 x 0");
  refused(Matrix::Zero(2, 2), Vector::Zero(3), "there are 3 offsets for 2 pieces");
  refused(Matrix::Constant(2, 2, NAN), Vector::Zero(2), "slopes(0, 0) is nan");
  refused(Matrix::Zero(2, 2), Vector::Constant(2, INFINITY), "offsets(0, 0) is inf");
}

TEST(MaxAffine, WithOnePieceIsZeroEverywhere) {
  const MaxAffine phi(Matrix::Ones(1, 2), Vector::Ones(1));
  Random random(3);
  const Matrix rows = normal_rows(random, 10, 2);
  EXPECT_EQ(phi.matrix(rows, rows), Matrix::Zero(10, 10));
}

}  // namespace
}  // namespace bregmax
