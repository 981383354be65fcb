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

// The operator written out, from what the divergence grid does to each unit vector.
Matrix normal_matrix(const CanonicalProblem& problem, const EntrySet& entries, const NormalWeights& weights) {
  DivergenceGrid grid(problem, entries);
  const Index z = problem.z_count, d = problem.features, last = z + problem.pieces * d;
  Matrix map(entries.size(), last), matrix = Matrix::Zero(last + 1, last + 1);
  for (Index u = 0; u < last; ++u) {
    const Vector unit = Vector::Unit(last, u);
    Vector image(entries.size());
    grid.apply(unit.data(), unit.data() + z, image.data());
    map.col(u) = image;
  }
  auto inner = matrix.topLeftCorner(last, last);
  inner = map.transpose() * weights.grid.head(entries.size()).asDiagonal() * map;
  for (Index t = 0; t < std::ssize(problem.coupled); ++t) {
    const HingeItem& item = problem.coupled[static_cast<std::size_t>(t)];
    const Vector row = map.row(entries.position(item.plus)) - map.row(entries.position(item.minus));
    inner += weights.coupled(t) * row * row.transpose();
  }
  inner.diagonal().array() += weights.proximal;
  inner.topLeftCorner(z, z).array() += grounding_weight(problem, weights);
  for (Index k = 0; k < problem.pieces; ++k) {
    Vector norm = Vector::Unit(last + 1, last);
    norm.segment(z + k * d, d) = weights.slope_rank_one.row(k);
    matrix += weights.norm(k) * norm * norm.transpose();
    matrix.diagonal().segment(z + k * d, d) += weights.slope_diagonal.row(k);
  }
  matrix(last, last) += weights.lipschitz;
  return matrix;
}

// The arrow leaves out couplings, so that conjugate gradients have something to do. Later systems at the same
// tolerance trust the error that the first one measured.
TEST(NormalEquations, SolveToTheTolerance) {
  Random random(6);
  constexpr Index kRows = 150;
  Matrix points = test::normal_rows(random, kRows, 4);
  auto items = test::random_supervision(random, test::Kind::kComparisons, kRows, 200);
  const CanonicalProblem problem = canonicalize(test::make_problem(std::move(points), std::move(items), 0.1));
  const EntrySet entries(problem);
  DivergenceGrid grid(problem, entries);
  const NormalWeights weights = random_weights(random, problem, entries);
  const Matrix matrix = normal_matrix(problem, entries, weights);
  NormalEquations normal(problem, entries, grid);
  normal.weights() = weights;
  ASSERT_TRUE(normal.uses_downdate());
  Vector x(matrix.rows());
  const auto residual = [&](const Vector& rhs) { return (matrix * x - rhs).lpNorm<Eigen::Infinity>(); };
  const auto arrow = make_arrow_factorization(problem, entries);
  ASSERT_TRUE(arrow->factor(weights));
  const Vector first = Vector::Random(matrix.rows());
  arrow->solve(first.data(), x.data());
  EXPECT_GT(residual(first), 1e-3) << "nothing is left to conjugate gradients";
  for (const bool dense : {false, true}) {
    if (dense) {
      ASSERT_TRUE(normal.use_dense());
      EXPECT_FALSE(normal.uses_downdate());
    }
    for (const double tolerance : {1e-10, 1e-6, 0.1}) {
      ASSERT_TRUE(normal.factor());
      for (int system = 0; system < 3; ++system) {
        const Vector rhs = Vector::Random(matrix.rows());
        const double reported = normal.solve(rhs, x, tolerance);
        EXPECT_LE(reported, tolerance);
        EXPECT_LE(residual(rhs), 1.1 * reported + 1e-12) << dense << " " << tolerance << " " << system;
      }
    }
  }
}

}  // namespace
}  // namespace bregmax::internal
