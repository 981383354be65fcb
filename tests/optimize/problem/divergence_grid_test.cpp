#include "optimize/problem/divergence_grid.hpp"

#include <gtest/gtest.h>

#include "optimize/interior_point/cone.hpp"
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

TEST(Cone, KeepsItsMembersWhenItGrowsAndDirectionsWhenOneIsAccepted) {
  Cone cone;
  cone.reserve(5, 2);
  cone.s << 2, 3;
  cone.dy << 7, 8;
  cone.accept_direction();
  cone.set_size(3);
  EXPECT_EQ(cone.s(1), 3);
  EXPECT_EQ(cone.dy_accepted(1), 8);
  EXPECT_EQ(cone.s(2), 1) << "a new member starts at 1";
}

TEST(Cone, SolvesForTheChangeOfSlacksAndMultipliers) {
  Cone cone;
  cone.resize(4);
  cone.delta = 0.01;
  cone.s << 1, 0.5, 2, 1;
  cone.y << 2, 4, 0.25, 0;  // the last is not a constraint
  cone.r << 0.1, -0.2, 0, 0;
  Vector moved(4);
  moved << -3, 0.5, -0.1, 7;
  set_inverse(cone.rows());
  aim_at(0.1, cone.rows());
  StepRates rates;
  finish_direction(cone.rows(), moved.data(), rates);
  double primal = 1, dual = 1;
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(moved(i) - cone.ds(i) + cone.delta * cone.dy(i), -cone.r(i), 1e-12);
    EXPECT_NEAR(cone.y(i) * cone.ds(i) + cone.s(i) * cone.dy(i), 0.1 - cone.s(i) * cone.y(i), 1e-12);
    primal = std::max(primal, -cone.ds(i) / cone.s(i));
    dual = std::max(dual, -cone.dy(i) / cone.y(i));
  }
  EXPECT_EQ(cone.ds(3), 0);
  EXPECT_EQ(cone.dy(3), 0);
  EXPECT_DOUBLE_EQ(rates.primal, primal);
  EXPECT_DOUBLE_EQ(rates.dual, dual);
  EXPECT_GT(rates.primal, 1) << "the first slack falls below 0 in a whole step";
}

}  // namespace
}  // namespace bregmax::internal
