// The solvers allocate nothing inside their iterations, nor do the steps of the gradient learners: this program counts
// every allocation of its main thread. It holds nothing else, since it replaces malloc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "optimize/admm/engine.hpp"
#include "optimize/gradient/loops.hpp"
#include "optimize/gradient/objective.hpp"
#include "optimize/gradient/start.hpp"
#include "optimize/interior_point/primal_dual_method.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problems.hpp"

#if defined(__GLIBC__)
#define BREGMAX_COUNTS_ALLOCATIONS 1
#endif

namespace {

thread_local long allocations = 0;

}  // namespace

#ifdef BREGMAX_COUNTS_ALLOCATIONS
// operator new, Eigen and the BLAS all end here.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the C library's
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}
#endif

namespace bregmax {
namespace {

// Iterations alone: the proofs that follow them, also where they then go on, allocate.
void expect_no_allocation(const LearningProblem& problem) {
  SCOPED_TRACE(test::describe(problem));
  constexpr double kSmallGap = 1e-7;
  constexpr int kMostIterations = 60;
  const ThreadLimit single(1);
  const internal::CanonicalProblem canonical = internal::canonicalize(problem);
  internal::Recovery recovery;
  const internal::InteriorPointSettings settings;
  internal::PrimalDualMethod method(canonical, settings, recovery);
  method.start();
  int iteration = 0;
  for (double gap = 1; gap > kSmallGap; ++iteration) {
    ASSERT_LT(iteration, kMostIterations);
    const long before = allocations;
    const internal::IterateMeasures& now = method.measure();
    const double unit = std::max(std::abs(now.primal), 1e-3 * canonical.zero_objective / canonical.objective_unit);
    gap = std::abs(now.primal - now.dual) / unit;
    ASSERT_TRUE(method.advance(1e-10 * unit / static_cast<double>(method.iterate().product_count), unit));
    // The first iteration may still warm up the BLAS.
    if (iteration > 0) {
      EXPECT_EQ(allocations, before) << "in iteration " << iteration;
    }
  }
  EXPECT_GT(iteration, 4);
}

LearningProblem problem_of(test::Kind kind, Index rows, Index features, Index items, int pieces, double lambda,
                           double bound = test::kNoBound) {
  Random random(3);
  Matrix points = test::normal_rows(random, rows, features);
  auto supervision = test::random_supervision(random, kind, rows, items);
  auto piece_of = pieces == rows ? test::own_pieces(rows) : test::nearest_pieces(random, points, pieces);
  return test::make_problem(std::move(points), std::move(piece_of), std::move(supervision), lambda, bound);
}

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
#ifndef BREGMAX_COUNTS_ALLOCATIONS
    GTEST_SKIP() << "counting needs the GNU C library";
#endif
  }
};

TEST_F(Allocations, AreCounted) {
  const long before = allocations;
  const Vector vector = Vector::Zero(1000);
  EXPECT_EQ(vector.sum(), 0);
  EXPECT_GE(allocations, before + 1);
}

TEST_F(Allocations, NoneWithManyComparisons) {
  expect_no_allocation(problem_of(test::Kind::kComparisons, 30, 3, 500, 30, 0.1));
}

// So few, and so many unknowns, that the arrow with a low-rank term is the cheaper one; the set of constraints grows.
TEST_F(Allocations, NoneWithFewComparisonsAndManyFeatures) {
  expect_no_allocation(problem_of(test::Kind::kComparisons, 90, 12, 60, 90, 0.1));
}

TEST_F(Allocations, NoneWithPairs) { expect_no_allocation(problem_of(test::Kind::kPairs, 40, 4, 400, 40, 0.1)); }

TEST_F(Allocations, NoneWithTargets) {
  expect_no_allocation(problem_of(test::Kind::kTargets, 40, 4, 400, 40, 0.1));
  expect_no_allocation(problem_of(test::Kind::kTargets, 40, 4, 400, 40, 0, 2));
}

TEST_F(Allocations, NoneWithFewerPiecesThanRows) {
  for (const test::Kind kind : test::kKinds) expect_no_allocation(problem_of(kind, 60, 4, 300, 10, 0.1));
}

// PenaltySchedule: penalties change after iteration 20 and after iteration 1.25 * 20 + 20 = 45, then ever more rarely.
TEST_F(Allocations, NoneInIterationsOfAdmmOnEntries) {
  const ThreadLimit single(1);
  for (const test::Kind kind : test::kKinds) {
    for (const int pieces : {60, 8}) {
      const LearningProblem problem = problem_of(kind, 60, 4, 300, pieces, 0.1);
      SCOPED_TRACE(test::describe(problem));
      const auto engine = internal::make_entry_engine(problem);
      engine->start();
      for (int t = 0; t < 20; ++t) engine->iterate();
      const long before = allocations;
      for (int t = 20; t < 44; ++t) engine->iterate();
      EXPECT_EQ(allocations, before);
      engine->iterate();
      EXPECT_GT(allocations, before) << "no penalty changed: the test looks at the wrong iterations";
    }
  }
}

// Between changes of the penalty, and between proofs.
TEST_F(Allocations, NoneInIterationsOfAdmmOnTheGrid) {
  LearningProblem problem = problem_of(test::Kind::kPairs, 70, 6, 10, 70, 1);
  LabelPairs pairs;
  for (int i = 0; i < 70; ++i) pairs.class_of_row.push_back(i % 3);
  problem.supervision = pairs;
  const auto engine = internal::make_grid_engine(problem, {});
  const ThreadLimit single(1);
  engine->start();
  for (int t = 0; t < 5; ++t) engine->iterate();
  const long before = allocations;
  for (int t = 0; t < 10; ++t) engine->iterate();
  EXPECT_EQ(allocations, before);
}

// A step of AdamW from labels and from comparisons, with and without a network.
TEST_F(Allocations, NoneInStepsOfTheGradientLearners) {
  constexpr Index kRows = 60, kBatch = 40;
  const ThreadLimit single(1);
  Random random(1);
  Matrix rows(kRows, 5);
  for (double& value : rows.reshaped()) value = random.normal();
  internal::TrainingItems labels{rows}, comparisons{rows};
  for (Index i = 0; i < kRows; ++i) labels.class_of_row.push_back(static_cast<int>(i % 3));
  for (Index i = 0; i + 3 < kRows; ++i) comparisons.items.push_back(internal::item_of(Comparison{i, i + 3, i, i + 1}));
  for (const auto& widths : {std::vector<Index>{5}, {5, 8, 8, 4}}) {
    internal::LearnerShape shape{widths};
    shape.pieces = 6;
    shape.rank = shape.dimension();
    const internal::ParameterLayout layout(shape);
    for (const internal::TrainingItems* training : {&labels, &comparisons}) {
      const auto objective = internal::make_objective<float>(layout, *training, {0.1, 0.1}, kBatch);
      Eigen::VectorXf at = internal::start_parameters(layout, rows, Random(2)).cast<float>(), gradient(layout.size);
      Eigen::VectorXf first = Eigen::VectorXf::Zero(layout.size), second = first;
      std::vector<Index> batch(kBatch);
      long before = 0;
      for (int step = 0; step < 4; ++step) {
        if (step == 1) before = allocations;  // the BLAS may need its buffers first
        for (Index& unit : batch) unit = random.uniform_index(objective->units());
        EXPECT_TRUE(std::isfinite(objective->evaluate(at.data(), batch, gradient.data())));
        internal::step_adam({0.01, 0.1}, layout.size, gradient.data(), first.data(), second.data(), at.data());
      }
      EXPECT_EQ(allocations, before);
    }
  }
}

}  // namespace
}  // namespace bregmax
