// The solver allocates nothing inside its iterations: this program counts every allocation of its main thread. It
// holds nothing else, since it replaces malloc.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "bregmax/core/threads.hpp"
#include "optimize/admm_engine.hpp"
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

// Allocations between one report of progress and the next.
class AllocationLog {
 public:
  void report(const Progress& progress) {
    const long now = allocations;
    if (progress.iteration > last_iteration_ && count_ < kMost) between_[count_++] = now - last_;
    last_iteration_ = progress.iteration;
    last_ = allocations;
  }
  std::size_t size() const { return count_; }
  long operator[](std::size_t iteration) const { return between_[iteration]; }

 private:
  static constexpr std::size_t kMost = 1000;
  std::array<long, kMost> between_{};
  std::size_t count_ = 0;
  long last_ = 0;
  int last_iteration_ = -1;
};

void expect_no_allocation(const LearningProblem& problem) {
  SCOPED_TRACE(test::describe(problem));
  AllocationLog log;
  RunControl control;
  control.on_progress = [&log](const Progress& progress) { log.report(progress); };
  const Solution solution = test::solve(problem, {}, control);
  EXPECT_EQ(solution.report.status, SolveStatus::kOptimal);
  ASSERT_GT(log.size(), 4U);
  // The first entry is from the start to the first report; the first iteration may still warm up the BLAS.
  for (std::size_t iteration = 2; iteration < log.size(); ++iteration) {
    EXPECT_EQ(log[iteration], 0) << "allocations in iteration " << iteration;
  }
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

// Penalties change at the 20th iteration and the 45th, then ever more rarely.
TEST_F(Allocations, NoneInIterationsOfAdmmOnEntries) {
  const ThreadLimit single(1);
  for (const test::Kind kind : test::kKinds) {
    for (const int pieces : {60, 8}) {
      const LearningProblem problem = problem_of(kind, 60, 4, 300, pieces, 0.1);
      SCOPED_TRACE(test::describe(problem));
      const auto engine = internal::make_entry_engine(problem, {});
      engine->start(nullptr);
      for (int t = 0; t < 20; ++t) engine->iterate();
      const long before = allocations;
      for (int t = 20; t < 44; ++t) engine->iterate();
      EXPECT_EQ(allocations, before);
      engine->iterate();
      EXPECT_GT(allocations, before) << "the next change was not at iteration 45: the test looks at the wrong ones";
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
  engine->start(nullptr);
  for (int t = 0; t < 5; ++t) engine->iterate();
  const long before = allocations;
  for (int t = 0; t < 10; ++t) engine->iterate();
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace bregmax
