#include "optimize/proof/convex_repair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bregmax/core/threads.hpp"
#include "optimize/problems.hpp"
#include "optimize/proof/piece_borders.hpp"

namespace bregmax::internal {
namespace {

LearningProblem nearest_piece_problem(Random& random, Index rows, int pieces) {
  Matrix points = test::normal_rows(random, rows, 3);
  auto supervision = test::random_supervision(random, test::Kind::kPairs, rows, 5);
  auto piece_of = test::nearest_pieces(random, points, pieces);
  return test::make_problem(std::move(points), std::move(piece_of), std::move(supervision), 0.5);
}

Index piece_at(const LearningProblem& problem, Index row) { return problem.piece_of[static_cast<std::size_t>(row)]; }

AffinePieces random_model(Random& random, const LearningProblem& problem) {
  return {test::normal_rows(random, problem.pieces, problem.points.cols()),
          test::normal_rows(random, problem.pieces, 1).col(0)};
}

double divergence_of(const LearningProblem& problem, const AffinePieces& pieces, Index row, Index other) {
  const Index own = piece_at(problem, row);
  return problem.points.row(row).dot(pieces.slopes.row(own) - pieces.slopes.row(other)) + pieces.offsets(own) -
         pieces.offsets(other);
}

TEST(PieceBorders, AreTheLowestDivergencesOfEveryPairOfPieces) {
  constexpr Index kRows = 20'000;  // so many that several threads share them
  Random random(1);
  const LearningProblem problem = nearest_piece_problem(random, kRows, 6);
  const AffinePieces pieces = random_model(random, problem);
  const double limit = 0.3;
  const auto skipped = [](Index row, Index other) { return (row + other) % 5 == 0; };
  for (const int threads : {1, 3}) {
    const ThreadLimit several(threads);
    PieceBorders borders(6, 4);
    borders.find(problem, pieces, limit, skipped);
    for (Index own = 0; own < 6; ++own) {
      for (Index other = 0; other < 6; ++other) {
        std::vector<std::pair<double, Index>> expected;
        for (Index row = 0; row < kRows; ++row) {
          if (piece_at(problem, row) != own || own == other || skipped(row, other)) continue;
          const double d = divergence_of(problem, pieces, row, other);
          if (d < limit) expected.emplace_back(d, row);
        }
        std::sort(expected.begin(), expected.end());
        for (Index rank = 0; rank < 4; ++rank) {
          const PieceBorders::Row& found = borders.row(own, other, rank);
          ASSERT_EQ(found.row,
                    rank < static_cast<Index>(expected.size()) ? expected[static_cast<std::size_t>(rank)].second : -1);
          if (found.row >= 0) {
            EXPECT_NEAR(found.divergence, expected[static_cast<std::size_t>(rank)].first, 1e-12);
          }
        }
      }
    }
  }
}

// Two pieces have a row at one place, and so the same value there; neither has to be ahead.
TEST(ConvexRepair, RowsAtOnePlaceNeedNotLead) {
  Matrix points(4, 1);
  points << 0, 0, 1, 2;  // the first is on piece 0, its copy on piece 1, among others
  AffinePieces pieces{Matrix(2, 1), Vector(2)};
  pieces.slopes << -1, 1;
  pieces.offsets << 0, 0;
  LearningProblem problem = test::make_problem(points, {0, 1, 1, 1}, Supervision(Pairs{}), 0.1);
  EXPECT_TRUE(ConvexRepair(problem).own_pieces_lead(pieces));
  // At any other place a tie counts.
  problem.points(1, 0) = 3;
  problem.points(0, 0) = 0;
  EXPECT_FALSE(ConvexRepair(problem).own_pieces_lead(pieces));
}

// Raising pieces to what the others reach at their rows, again and again, ends in the least offsets.
TEST(ConvexRepair, RaisesToTheLeastConvexOffsets) {
  constexpr Index kRows = 12;
  constexpr int kPieces = 3;
  Random random(2);
  int feasible = 0;
  for (int t = 0; t < 50; ++t) {
    const LearningProblem problem = nearest_piece_problem(random, kRows, kPieces);
    // Slopes that grow in the direction of their rows are nearly those of a convex function.
    AffinePieces given = random_model(random, problem);
    for (Index i = 0; i < kRows; ++i) given.slopes.row(piece_at(problem, i)) += problem.points.row(i);
    AffinePieces slow = given, fast = given;
    double lack = 1;
    for (int sweep = 0; sweep < 300 && lack > 0; ++sweep) {
      lack = 0;
      for (Index i = 0; i < kRows; ++i) {
        for (Index k = 0; k < kPieces; ++k) {
          const double miss = -divergence_of(problem, slow, i, k);
          if (miss <= 1e-12) continue;
          slow.offsets(piece_at(problem, i)) += miss;
          lack = std::max(lack, miss);
        }
      }
    }
    EXPECT_EQ(ConvexRepair(problem).repair(0, fast), lack == 0);
    if (lack > 0) continue;
    ++feasible;
    EXPECT_TRUE(fast.offsets.isApprox(slow.offsets, 1e-9));
    EXPECT_TRUE(ConvexRepair(problem).violation(fast).feasible());
  }
  EXPECT_GT(feasible, 5);
  EXPECT_LT(feasible, 50);
}

}  // namespace
}  // namespace bregmax::internal
