#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>

#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/admm.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "optimize/problems.hpp"

namespace bregmax {
namespace {

struct ReferenceProblem {
  std::string name;
  LearningProblem problem;
  double objective, objective_error;
};

// The file says in its head what it holds.
class ReferenceFile {
 public:
  explicit ReferenceFile(const std::string& path) : stream_(path) {
    while (stream_ && stream_.peek() == '#') stream_.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }

  bool next() { return word() == "problem"; }

  ReferenceProblem read() {
    ReferenceProblem reference;
    LearningProblem& problem = reference.problem;
    reference.name = word();
    const std::string kind = word();
    const Index rows = index(), features = index();
    problem.pieces = static_cast<int>(index());
    const Index items = index();
    problem.lambda = number();
    problem.lipschitz_bound = number();
    reference.objective = number();
    reference.objective_error = number();
    problem.points.resize(rows, features);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < features; ++j) problem.points(i, j) = number();
      problem.piece_of.push_back(static_cast<int>(index()));
    }
    problem.supervision = read_items(kind, items);
    return reference;
  }

 private:
  Supervision read_items(const std::string& kind, Index count) {
    Comparisons comparisons;
    Pairs pairs;
    Targets targets;
    for (Index t = 0; t < count; ++t) {
      const Index i = index(), j = index();
      if (kind == "comparisons") {
        const Index k = index();
        comparisons.push_back({i, j, k, index()});
      } else if (kind == "pairs") {
        pairs.push_back({i, j, index() == 1});
      } else {
        targets.push_back({i, j, number()});
      }
    }
    if (kind == "comparisons") return comparisons;
    if (kind == "pairs") return pairs;
    return targets;
  }
  std::string word() {
    std::string text;
    stream_ >> text;
    return text;
  }
  double number() { return std::stod(word()); }
  Index index() { return std::stol(word()); }

  std::ifstream stream_;
};

TEST(ReferenceProblems, AreSolvedToTheirOptimum) {
  ReferenceFile file(BREGMAX_TEST_DATA_DIR "/reference_problems.txt");
  int count = 0;
  for (; file.next(); ++count) {
    const ReferenceProblem reference = file.read();
    SCOPED_TRACE(reference.name);
    const Solution solution = test::solve_to_optimality(reference.problem);
    const double found = solution.report.objective;
    EXPECT_LE(solution.report.iterations, 40);
    EXPECT_NEAR(found, reference.objective, reference.objective_error + 1e-6 * reference.objective + 1e-9);
  }
  EXPECT_EQ(count, 30);
}

TEST(ReferenceProblems, AreSolvedByAdmmToItsTolerance) {
  ReferenceFile file(BREGMAX_TEST_DATA_DIR "/reference_problems.txt");
  const ThreadLimit single(1);
  int count = 0;
  for (; file.next(); ++count) {
    const ReferenceProblem reference = file.read();
    SCOPED_TRACE(reference.name);
    const SolveReport report = solve_admm(reference.problem).report;
    EXPECT_EQ(report.status, Status::kOptimal) << report.relative_gap;
    const double slack = reference.objective_error + 1e-6 * reference.objective + 1e-9;
    const double unit = std::max(reference.objective, test::zero_objective(reference.problem) / 1000);
    EXPECT_NEAR(report.objective, reference.objective, 1e-4 * unit + slack);
    EXPECT_LE(report.lower_bound, reference.objective + slack);
    EXPECT_GE(report.objective, reference.objective - slack);
  }
  EXPECT_EQ(count, 30);
}

}  // namespace
}  // namespace bregmax
