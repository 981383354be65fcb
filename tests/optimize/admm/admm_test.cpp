#include "bregmax/optimize/admm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/supervision/sample.hpp"
#include "data/temporary_directory.hpp"
#include "optimize/admm/engine.hpp"
#include "optimize/admm/entries.hpp"
#include "optimize/admm/norm.hpp"
#include "optimize/problems.hpp"

namespace bregmax {
namespace {

using bregmax::testing::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Draw {
  Index rows = 40, features = 3, items = 150;
  std::uint64_t seed = 1;
};

LearningProblem problem_of(test::Kind kind, Draw draw = {}, int pieces = 40, double lambda = 0.5) {
  Random random(draw.seed);
  Matrix points = test::normal_rows(random, draw.rows, draw.features);
  auto supervision = test::random_supervision(random, kind, draw.rows, draw.items);
  auto piece_of = pieces == draw.rows ? test::own_pieces(draw.rows) : test::nearest_pieces(random, points, pieces);
  return test::make_problem(std::move(points), std::move(piece_of), std::move(supervision), lambda);
}

// The objective is of a feasible model and the bound is proved, so the optimum lies between them.
TEST(Admm, BoundsHoldTheOptimumOf200RandomProblems) {
  Random random(11);
  const int problems = test::repeats(200);
  for (int t = 0; t < problems; ++t) {
    const LearningProblem problem = test::random_problem(random, test::kKinds[t % 3]);
    const double optimum = test::solve(problem).report.objective;
    const ThreadLimit single(1);
    const SolveReport report = solve_admm(problem).report;
    const double unit = std::max(optimum, test::zero_objective(problem) / 1000);
    EXPECT_GE(report.objective, optimum - 1e-6 * unit) << test::describe(problem);
    EXPECT_LE(report.lower_bound, optimum + 1e-6 * unit) << test::describe(problem);
    EXPECT_LE(report.lipschitz, problem.lipschitz_bound * (1 + 1e-9)) << test::describe(problem);
    EXPECT_EQ(report.status, Status::kOptimal) << test::describe(problem);
    EXPECT_LE(report.relative_gap, 1e-4);
    EXPECT_LE(std::abs(report.objective - optimum), 1.01e-4 * unit) << test::describe(problem);
  }
}

TEST(Admm, ReachesTheExactOptimum) {
  for (const auto kind : test::kKinds)
    for (const int pieces : {40, 8}) {
      const LearningProblem problem = problem_of(kind, {}, pieces);
      const double optimum = test::solve(problem).report.objective;
      const SolveReport report = solve_admm(problem).report;
      EXPECT_EQ(report.status, Status::kOptimal);
      EXPECT_NEAR(report.objective, optimum, 1e-4 * optimum);
    }
}

// Comparisons that can all be met: only the small lambda costs, and the optimum is tiny relative to the zero
// model's objective. It is still met relative to itself.
TEST(Admm, ReachesAnOptimumBelowTheFloorOfTheGap) {
  constexpr Index kRows = 30;
  Random random(7);
  Matrix points = test::normal_rows(random, kRows, 2);
  Comparisons comparisons;
  while (comparisons.size() < 200) {
    const Index i = random.uniform_index(kRows), j = random.uniform_index(kRows), k = random.uniform_index(kRows);
    const double near = (points.row(i) - points.row(j)).squaredNorm(),
                 far = (points.row(i) - points.row(k)).squaredNorm();
    if (near + 0.5 < far) comparisons.push_back({i, j, i, k});
  }
  const LearningProblem problem = test::make_problem(points, test::own_pieces(kRows), comparisons, 1e-3);
  const double optimum = test::solve(problem, {.tolerance = 1e-10}).report.objective;
  EXPECT_LT(optimum, 1e-3 * static_cast<double>(comparisons.size()));
  const SolveReport report = solve_admm(problem).report;
  EXPECT_EQ(report.status, Status::kOptimal);
  EXPECT_NEAR(report.objective, optimum, 1e-4 * optimum);
}

// Close rows of different classes: what the convexity constraints between them ask for is small as a divergence.
TEST(Admm, ReachesTheOptimumOfRowsThatNearlyTouch) {
  constexpr Index kRows = 120;
  Random random(3);
  Matrix points(kRows, 2);
  std::vector<int> classes(kRows);
  for (Index i = 0; i < kRows; ++i) {
    const double angle = 6.283185307179586 * random.uniform();
    points.row(i) << std::cos(angle), std::sin(angle);
    classes[static_cast<std::size_t>(i)] = static_cast<int>(angle / 2.0943951023931957);
  }
  LearningProblem problem = test::make_problem(points, Comparisons{}, 1);
  problem.supervision = sample_comparisons(classes, 500, 0);
  const double optimum = test::solve(problem).report.objective;
  const SolveReport report = solve_admm(problem, {.max_iterations = 5000}).report;
  EXPECT_EQ(report.status, Status::kOptimal);
  EXPECT_NEAR(report.objective, optimum, 1e-4 * optimum);
}

// Most of the items cannot be met.
LearningProblem contradictions(test::Kind kind, int pieces, double lambda) {
  return problem_of(kind, {.rows = 60, .features = 2, .items = 300, .seed = 5}, pieces, lambda);
}

// The multipliers are large relative to lambda, which the derivatives of the Lagrangian must stay below.
TEST(Admm, ProvesTheOptimumOfASmallLambda) {
  using KindAndPieces = std::pair<test::Kind, int>;
  // Each has a gap of more than a hundredth after as many iterations without corrected multipliers.
  for (const auto& [kind, pieces] :
       {KindAndPieces{test::Kind::kComparisons, 60}, {test::Kind::kComparisons, 8}, {test::Kind::kPairs, 60}}) {
    const LearningProblem problem = contradictions(kind, pieces, 1e-4);
    const double optimum = test::solve(problem).report.objective;
    const SolveReport report = solve_admm(problem, {.max_iterations = 3000}).report;
    EXPECT_EQ(report.status, Status::kOptimal) << test::describe(problem);
    EXPECT_NEAR(report.objective, optimum, 1e-4 * optimum) << test::describe(problem);
  }
}

TEST(Admm, DoesNotDependOnTheNumberOfThreads) {
  for (const auto kind : test::kKinds) {
    const LearningProblem problem = problem_of(kind, {.rows = 420}, 420);  // too large for one thread
    const auto objective = [&](int threads) {
      const ThreadLimit limit(threads);
      return solve_admm(problem, {.max_iterations = 30}).report.objective;
    };
    const double one = objective(1);
    EXPECT_NEAR(objective(2), one, 1e-9 * one);
  }
}

TEST(Admm, ResumesToTheSameBits) {
  const TemporaryDirectory directory;
  for (const auto kind : test::kKinds) {
    const LearningProblem problem = problem_of(kind);
    const std::string file = directory / "state";
    const Solution whole = solve_admm(problem, {.tolerance = 1e-8, .max_iterations = 230});
    for (const int first : {1, 49, 50, 117}) {
      solve_admm(problem, {.tolerance = 1e-8, .max_iterations = first, .checkpoint = file});
      const Solution rest = solve_admm(problem, {.tolerance = 1e-8, .max_iterations = 230, .resume = file});
      EXPECT_EQ(rest.report.objective, whole.report.objective) << first;
      EXPECT_EQ(rest.report.lower_bound, whole.report.lower_bound) << first;
      EXPECT_EQ(rest.slopes, whole.slopes) << first;
      EXPECT_EQ(rest.report.iterations, whole.report.iterations);
    }
  }
}

// A correction takes as long as many iterations; one that is stopped in the middle is continued.
TEST(Admm, ResumesToTheSameBitsWhereACorrectionWasStopped) {
  const TemporaryDirectory directory;
  const std::string file = directory / "state";
  const LearningProblem problem = contradictions(test::Kind::kComparisons, 60, 1e-7);
  const AdmmOptions options{.tolerance = 1e-8, .max_iterations = 2500};
  AdmmOptions first = options, second = options;
  first.checkpoint = second.resume = file;
  const Solution whole = solve_admm(problem, options);
  // Only a correction reports an iteration twice. Stopped: in the middle of the first round and of a later one of the
  // second correction.
  for (const int report_to_stop_at : {5, 250}) {
    std::atomic<bool> stop = false;
    std::int64_t last = -1, first_corrected = -1;
    int reports = 0;
    RunControl control;
    control.stop = &stop;
    control.on_progress = [&](const Progress& progress) {
      if (progress.iteration == last && first_corrected < 0) first_corrected = last;
      if (progress.iteration == last && last != first_corrected && ++reports == report_to_stop_at) stop = true;
      last = progress.iteration;
    };
    const SolveReport stopped = solve_admm(problem, first, control).report;
    EXPECT_EQ(stopped.status, Status::kStopped);
    EXPECT_GE(reports, report_to_stop_at) << "the second correction was not reached";
    const Solution rest = solve_admm(problem, second);
    EXPECT_EQ(rest.report.lower_bound, whole.report.lower_bound);
    EXPECT_EQ(rest.report.objective, whole.report.objective);
    EXPECT_EQ(rest.report.iterations, whole.report.iterations);
    EXPECT_EQ(rest.slopes, whole.slopes);
    EXPECT_EQ(rest.dual.convexity, whole.dual.convexity);
  }
}

TEST(Admm, RefusesACheckpointThatIsNotItsOwn) {
  const TemporaryDirectory directory;
  const std::string file = directory / "state";
  const LearningProblem problem = problem_of(test::Kind::kPairs);
  solve_admm(problem, {.tolerance = 1e-8, .max_iterations = 3, .checkpoint = file});
  LearningProblem other = problem;
  other.lambda *= 2;
  EXPECT_THAT([&] { solve_admm(other, {.resume = file}); }, ThrowsMessage<Error>(HasSubstr("other data")));
  EXPECT_THAT([&] { solve_admm(problem, {.checkpoint = directory.write("data.csv", "x,y\n1,2\n")}); },
              ThrowsMessage<Error>(HasSubstr("would be lost")));
  std::string content;
  {
    std::ifstream in(file, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(in), {});
  }
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
  std::ofstream(file, std::ios::binary) << content;
  EXPECT_THAT([&] { solve_admm(problem, {.resume = file}); }, ThrowsMessage<Error>(HasSubstr("checksum")));
  std::ofstream(file, std::ios::binary) << content.substr(0, content.size() - 9);
  EXPECT_THAT([&] { solve_admm(problem, {.resume = file}); }, ThrowsMessage<Error>(HasSubstr("cut off")));
}

TEST(Admm, EarlyStopIsNeverCalledOptimal) {
  const LearningProblem problem = problem_of(test::Kind::kComparisons);
  AdmmOptions options{.tolerance = 1e-8};
  double calls = 0;
  options.validation = [&](const AffinePieces&) { return ++calls; };
  const SolveReport report = solve_admm(problem, options).report;
  EXPECT_EQ(report.status, Status::kEarlyStopped);
  EXPECT_EQ(calls, 1 + internal::kPatience);
}

// An engine whose run begins with a gap of `gap`, uses all that separate_pieces() may cost, and cannot iterate.
class StubEngine final : public internal::AdmmEngine {
 public:
  StubEngine(const LearningProblem& problem, double gap) : AdmmEngine(problem), gap_(gap) {}

  std::string_view name() const override { return "fixed_gap"; }
  void start() override {}
  bool iterate() override { return false; }
  int iteration() const override { return 0; }
  internal::AdmmResiduals residuals() const override { return {}; }
  Solution zero_solution() override {
    Solution zero = certified_zero_model(internal::DualForm::kMatrix);
    zero.report.lower_bound = (1 - gap_) * zero.report.objective;
    return zero;
  }
  void prove(Solution&) override {}
  void separate_pieces(double most, Solution& best) override { best.report.objective = most; }
  internal::RawParts raw_state() override { return {}; }
  void after_restore() override {}

 private:
  double gap_;
};

TEST(Admm, StaysWithinTheToleranceWhenItSeparatesPieces) {
  constexpr double kTolerance = 1e-4;
  const LearningProblem problem = problem_of(test::Kind::kPairs);
  for (const double part : {0.1, 0.5, 0.95, 0.999}) {
    StubEngine engine(problem, part * kTolerance);
    const SolveReport report = internal::run_admm(engine, problem, {.tolerance = kTolerance}).report;
    EXPECT_EQ(report.status, Status::kOptimal) << part;
    EXPECT_GT(report.relative_gap, part * kTolerance) << part;
    EXPECT_LE(report.relative_gap, kTolerance) << part;
  }
}

TEST(Admm, EndsWithWhatItHasWhenIterationsFail) {
  const LearningProblem problem = problem_of(test::Kind::kPairs);
  StubEngine engine(problem, 0.5);
  const SolveReport report = internal::run_admm(engine, problem, {}).report;
  EXPECT_EQ(report.status, Status::kNumericalError);
  EXPECT_EQ(report.lower_bound, 0.5 * test::zero_objective(problem));
}

// A space whose normal equations can never be factored.
TEST(Admm, IterationsSayThatTheNormalEquationsCannotBeFactored) {
  class Singular final : public internal::AdmmSpace {
   public:
    explicit Singular(const LearningProblem& problem) : space_(internal::make_canonical_space(problem)) {}
    const internal::CanonicalUnits& units() const override { return space_->units(); }
    Index unknowns() const override { return space_->unknowns(); }
    Index size() const override { return space_->size(); }
    const internal::EntryCosts& costs() const override { return space_->costs(); }
    const std::vector<internal::HingeItem>& coupled() const override { return space_->coupled(); }
    void apply(const double* x, double* values) override { space_->apply(x, values); }
    void adjoint(const double* values, double* x) override { space_->adjoint(values, x); }
    bool factor(const Vector&, const Vector&, double) override { return false; }
    void solve(const double* right, double* x) override { space_->solve(right, x); }
    std::vector<Index> grow(const double* x, double limit) override { return space_->grow(x, limit); }
    std::vector<Index> members() const override { return space_->members(); }
    void set_members(const std::vector<Index>& members) override { space_->set_members(members); }
    DualSolution dual_solution(const internal::EntryMultipliers& m) const override { return space_->dual_solution(m); }

   private:
    std::unique_ptr<internal::AdmmSpace> space_;
  };
  Singular space(problem_of(test::Kind::kPairs));
  internal::AdmmEntries method(space);
  method.start();
  EXPECT_FALSE(method.iterate());
  EXPECT_EQ(method.iteration(), 0);
}

TEST(Admm, RefusesWhatItCannotDo) {
  const LearningProblem problem = problem_of(test::Kind::kPairs);
  const auto refused = [&](const AdmmOptions& options, const char* message) {
    EXPECT_THAT([&] { solve_admm(problem, options); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({.tolerance = 0}, "tolerance");
  refused({.max_iterations = 0}, "max_iterations");
  refused({.time_limit = -1}, "time_limit");
  refused({.memory_limit = 1000}, "need less");
  refused({.resume = "/nonexistent/file"}, "cannot be read");
}

// The minimum of lambda L + sum_k v_k / 2 ||P_k - X_k||^2 is where the derivative by L changes its sign.
TEST(LipschitzProx, SatisfiesItsOptimalityConditions) {
  Random random(3);
  for (int t = 0; t < 100; ++t) {
    const Index pieces = 1 + random.uniform_index(6), features = 1 + random.uniform_index(4);
    Vector weight(features);
    for (double& w : weight) w = 1 + 3 * random.uniform();
    const Matrix x = test::normal_rows(random, pieces, features);
    Matrix shrunk(pieces, features);
    const double lambda = 3 * random.uniform();
    Vector penalties(pieces);
    for (double& p : penalties) p = 0.5 + random.uniform();
    const double lipschitz = internal::LipschitzProx(pieces, weight).apply(x, lambda, 1e300, penalties, shrunk);
    double price = 0;
    for (Index k = 0; k < pieces; ++k) {
      EXPECT_LE(shrunk.row(k).cwiseAbs().dot(weight), lipschitz + 1e-9);
      price += penalties(k) * ((x - shrunk).row(k).cwiseAbs().transpose().array() / weight.array()).maxCoeff();
    }
    if (lipschitz > 0) {
      EXPECT_NEAR(price, lambda, 1e-9);
    }
    if (lipschitz == 0) {
      EXPECT_LE(price, lambda + 1e-9);
    }
  }
}

}  // namespace
}  // namespace bregmax
