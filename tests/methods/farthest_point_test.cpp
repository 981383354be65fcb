#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/methods/pbdl.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Matrix random_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (double& x : out.reshaped()) x = random.normal();
  return out;
}

// Largest distance from a row to the nearest of the chosen rows.
double radius(const Matrix& rows, const std::vector<Index>& centres) {
  double largest = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Index centre : centres) nearest = std::min(nearest, (rows.row(i) - rows.row(centre)).norm());
    largest = std::max(largest, nearest);
  }
  return largest;
}

// The same where each piece is covered by the best of its own rows.
double radius_of_pieces(const Matrix& rows, const std::vector<int>& piece_of, int pieces) {
  double largest = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    double best = std::numeric_limits<double>::infinity();
    for (Index centre = 0; centre < rows.rows(); ++centre) {
      if (piece_of[static_cast<std::size_t>(centre)] != piece) continue;
      double reach = 0;
      for (Index i = 0; i < rows.rows(); ++i) {
        if (piece_of[static_cast<std::size_t>(i)] == piece) {
          reach = std::max(reach, (rows.row(i) - rows.row(centre)).norm());
        }
      }
      best = std::min(best, reach);
    }
    largest = std::max(largest, best);
  }
  return largest;
}

double best_radius(const Matrix& rows, int pieces) {
  std::vector<bool> chosen(static_cast<std::size_t>(rows.rows()), false);
  std::fill(chosen.begin(), chosen.begin() + pieces, true);
  double best = std::numeric_limits<double>::infinity();
  do {
    std::vector<Index> centres;
    for (Index i = 0; i < rows.rows(); ++i) {
      if (chosen[static_cast<std::size_t>(i)]) centres.push_back(i);
    }
    best = std::min(best, radius(rows, centres));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return best;
}

TEST(FarthestPointPieces, AreAtMostTwiceAsWideAsTheBest) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    Random random(seed);
    const Index rows = 1 + random.uniform_index(9);
    const int pieces = 1 + static_cast<int>(random.uniform_index(rows));
    const Matrix points = random_rows(random, rows, 1 + random.uniform_index(3));
    const auto piece_of = farthest_point_cells(points, pieces, seed).piece_of;
    RC_ASSERT(static_cast<Index>(piece_of.size()) == rows);
    RC_ASSERT(std::set<int>(piece_of.begin(), piece_of.end()).size() == static_cast<std::size_t>(pieces));
    RC_ASSERT(*std::min_element(piece_of.begin(), piece_of.end()) == 0);
    RC_ASSERT(*std::max_element(piece_of.begin(), piece_of.end()) == pieces - 1);
    RC_ASSERT(radius_of_pieces(points, piece_of, pieces) <= 2 * best_radius(points, pieces) * (1 + 1e-12));
    RC_ASSERT(piece_of == farthest_point_cells(points, pieces, seed).piece_of);
  }));
}

TEST(FarthestPointPieces, StartFromARowThatTheSeedChooses) {
  Random random(1);
  const Matrix points = random_rows(random, 50, 2);
  std::set<std::vector<int>> different;
  for (std::uint64_t seed = 0; seed < 10; ++seed) different.insert(farthest_point_cells(points, 5, seed).piece_of);
  EXPECT_GT(different.size(), 1U);
}

TEST(FarthestPointPieces, KeepDuplicatesTogether) {
  Matrix points(6, 1);
  points << 0, 1, 0, 5, 1, 5;
  const auto piece_of = farthest_point_cells(points, 3, 0).piece_of;
  EXPECT_EQ(piece_of[0], piece_of[2]);
  EXPECT_EQ(piece_of[1], piece_of[4]);
  EXPECT_EQ(piece_of[3], piece_of[5]);
  EXPECT_THAT([&] { farthest_point_cells(points, 4, 0); },
              ThrowsMessage<Error>(HasSubstr("only 3 distinct locations")));
}

TEST(FarthestPointPieces, RefuseANumberThatDoesNotFit) {
  const Matrix points = Matrix::Identity(3, 3);
  for (const int pieces : {0, -1, 4}) {
    EXPECT_THAT([&] { farthest_point_cells(points, pieces, 0); }, ThrowsMessage<Error>(HasSubstr("allowed: 1 to 3")));
  }
}

TEST(FarthestPoint, EveryRowIsOnThePieceOfItsNearestCentre) {
  Random random(9);
  const Matrix rows = random_rows(random, 200, 3);
  const FarthestPointCells cells = farthest_point_cells(rows, 12, 1);
  ASSERT_EQ(cells.centres.size(), 12U);
  for (Index i = 0; i < 200; ++i) {
    const auto distance = [&](int piece) {
      return (rows.row(i) - rows.row(cells.centres[static_cast<std::size_t>(piece)])).norm();
    };
    for (int piece = 0; piece < 12; ++piece) {
      EXPECT_LE(distance(cells.piece_of[static_cast<std::size_t>(i)]), distance(piece) + 1e-12);
    }
  }
}

}  // namespace
}  // namespace bregmax
