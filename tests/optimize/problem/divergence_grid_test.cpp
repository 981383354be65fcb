#include "optimize/problem/divergence_grid.hpp"

#include <gtest/gtest.h>

#include "optimize/problem/entry_set.hpp"
#include "optimize/problems.hpp"

namespace bregmax::internal {
namespace {

// So many rows that the set starts with a part of the grid.
CanonicalProblem large_problem(bool own_pieces, std::uint64_t seed) {
  Random random(seed);
  Matrix points = test::normal_rows(random, 90, 3);
  auto pieces = own_pieces ? test::own_pieces(90) : test::nearest_pieces(random, points, 60);
  auto items = test::random_supervision(random, test::Kind::kComparisons, 90, 50);
  return canonicalize(test::make_problem(std::move(points), std::move(pieces), std::move(items), 0.1));
}

TEST(EntrySet, NumbersItsMembersByPieceAndLocation) {
  const CanonicalProblem problem = large_problem(true, 1);
  EntrySet entries(problem);
  ASSERT_FALSE(entries.complete());
  for (const HingeItem& item : problem.coupled) {
    EXPECT_TRUE(entries.contains(item.plus));
    EXPECT_TRUE(entries.contains(item.minus));
  }
  Index missing = 0;
  while (entries.contains(missing)) ++missing;
  const Index before = entries.size();
  entries.add(missing);
  entries.renumber();
  EXPECT_EQ(entries.size(), before + 1);
  for (Index k = 0; k < problem.pieces; ++k) {
    for (Index p = entries.begin(k); p < entries.begin(k + 1); ++p) {
      EXPECT_EQ(entries.entry(p), problem.entry(k, entries.location(p)));
      EXPECT_EQ(entries.position(entries.entry(p)), p);
    }
  }
}

TEST(DivergenceGrid, OfASetIsPartOfTheWholeAndHasItsAdjoint) {
  for (const bool own_pieces : {true, false}) {
    const CanonicalProblem problem = large_problem(own_pieces, 2);
    const EntrySet entries(problem);
    ASSERT_FALSE(entries.complete());
    DivergenceGrid grid(problem, entries);
    const Vector z = Vector::Random(problem.z_count), values = Vector::Random(entries.size());
    const Matrix slopes = Matrix::Random(problem.pieces, problem.features);
    Vector whole(problem.entries()), part(entries.size()), z_out(problem.z_count);
    Matrix slopes_out(problem.pieces, problem.features);
    grid.apply_everywhere(z.data(), slopes.data(), whole.data());
    grid.apply(z.data(), slopes.data(), part.data());
    for (Index p = 0; p < entries.size(); ++p) EXPECT_NEAR(part(p), whole(entries.entry(p)), 1e-12);
    grid.adjoint(values.data(), z_out.data(), slopes_out.data());
    const double expected = z.dot(z_out) + slopes.cwiseProduct(slopes_out).sum();
    EXPECT_NEAR(values.dot(part), expected, 1e-10);
  }
}

}  // namespace
}  // namespace bregmax::internal
