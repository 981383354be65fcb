#include <gtest/gtest.h>

#include "optimize/problem/normal_equations.hpp"
#include "optimize/problems.hpp"

namespace bregmax::internal {
namespace {

NormalWeights random_weights(Random& random, const CanonicalProblem& problem, const EntrySet& entries) {
  const auto positive = [&](auto& values) {
    for (double& value : values.reshaped()) value = 0.1 + random.uniform();
  };
  NormalWeights weights(problem);
  weights.grid.setZero(problem.entries());
  auto members = weights.grid.head(entries.size());
  positive(members);
  for (const Index e : problem.zero_entries) {
    if (entries.contains(e)) weights.grid(entries.position(e)) = 0;
  }
  weights.coupled.resize(static_cast<Index>(problem.coupled.size()));
  positive(weights.coupled);
  weights.slope_diagonal.resize(problem.pieces, problem.features);
  positive(weights.slope_diagonal);
  weights.slope_rank_one = Matrix::Random(problem.pieces, problem.features);
  weights.norm.resize(problem.pieces);
  positive(weights.norm);
  weights.lipschitz = 0.5;
  weights.proximal = 1e-6;
  return weights;
}

struct Case {
  const char* name;
  test::Kind kind;
  Index rows, features, items;
  bool complete;
};

// The arrow and the dense factorization factor the same matrix. There are few comparisons here, so that all of them are
// in the downdate and nothing is left to conjugate gradients.
TEST(Factorizations, OfTheArrowAndOfEverythingAgree) {
  for (const Case& one : {Case{"all entries", test::Kind::kPairs, 12, 3, 140, true},
                          Case{"some entries", test::Kind::kPairs, 90, 3, 40, false},
                          Case{"one feature", test::Kind::kPairs, 15, 1, 250, true},
                          Case{"more than one batch of pieces", test::Kind::kPairs, 90, 20, 8000, true},
                          Case{"couplings", test::Kind::kComparisons, 90, 4, 12, false}}) {
    SCOPED_TRACE(one.name);
    Random random(5);
    Matrix points = test::normal_rows(random, one.rows, one.features);
    auto items = test::random_supervision(random, one.kind, one.rows, one.items);
    const CanonicalProblem problem =
        canonicalize(test::make_problem(std::move(points), test::own_pieces(one.rows), std::move(items), 0.1));
    const EntrySet entries(problem);
    ASSERT_EQ(entries.complete(), one.complete);
    NormalWeights weights = random_weights(random, problem, entries);
    // The arrow leaves out couplings of little leverage. Large weights make sure that it leaves out none.
    weights.coupled *= 100;
    const auto arrow = make_arrow_factorization(problem, entries), dense = make_dense_factorization(problem, entries);
    ASSERT_TRUE(arrow->factor(weights));
    ASSERT_TRUE(dense->factor(weights));
    const Index size = problem.z_count + problem.pieces * problem.features + 1;
    const Vector rhs = Vector::Random(size);
    Vector of_arrow(size), of_dense(size);
    arrow->solve(rhs.data(), of_arrow.data());
    dense->solve(rhs.data(), of_dense.data());
    EXPECT_LT((of_arrow - of_dense).norm(), 1e-9 * of_dense.norm());
  }
}

}  // namespace
}  // namespace bregmax::internal
