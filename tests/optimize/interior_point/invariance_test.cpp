// What must not change the optimum, and how it changes with lambda.
#include <gtest/gtest.h>

#include <cmath>

#include "optimize/problems.hpp"

namespace bregmax {
namespace {

using test::Kind;
using test::kKinds;

// Calls check(random, problem) on random problems of every kind.
template <class Check>
void for_random_problems(std::uint64_t seed, int count, const Check& check) {
  Random random(seed);
  for (int repeat = 0; repeat < test::repeats(count); ++repeat) {
    const LearningProblem problem = test::random_problem(random, kKinds[repeat % 3]);
    SCOPED_TRACE(test::describe(problem));
    check(random, problem);
  }
}

double optimum(const LearningProblem& problem) { return test::solve_to_optimality(problem).report.objective; }

void expect_same(double found, double expected, const LearningProblem& problem) {
  // A gap of 1e-8 is relative to this.
  const double unit = std::max(expected, 1e-3 * test::zero_objective(problem));
  EXPECT_NEAR(found, expected, 1e-7 * unit);
}

// Members of the supervision, whichever kind it is.
template <class Change>
void for_each_member(Supervision& supervision, const Change& change) {
  if (auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    for (auto& item : *comparisons) {
      for (Index* member : {&item.i, &item.j, &item.k, &item.l}) change(*member);
    }
  } else if (auto* pairs = std::get_if<Pairs>(&supervision)) {
    for (auto& item : *pairs) {
      for (Index* member : {&item.i, &item.j}) change(*member);
    }
  } else {
    for (auto& item : std::get<Targets>(supervision)) {
      for (Index* member : {&item.i, &item.j}) change(*member);
    }
  }
}

TEST(Optimum, IgnoresShiftsOfTheRows) {
  for_random_problems(1, 60, [](Random& random, const LearningProblem& problem) {
    LearningProblem shifted = problem;
    shifted.points.rowwise() += 100 * test::normal_rows(random, 1, problem.points.cols()).row(0);
    expect_same(optimum(shifted), optimum(problem), problem);
  });
}

// Its slope can move to the other feature, where it is worth as much and costs no more.
TEST(Optimum, IgnoresAFeatureThatIsASmallerMultipleOfAnother) {
  for_random_problems(7, 30, [](Random& random, const LearningProblem& problem) {
    LearningProblem wider = problem;
    const Index features = problem.points.cols();
    const double factor = 2 * random.uniform() - 1, constant = random.normal();
    wider.points.conservativeResize(Eigen::NoChange, features + 1);
    wider.points.col(features) = (factor * problem.points.col(0).array() + constant).matrix();
    const Solution solution = test::solve_to_optimality(wider);
    expect_same(solution.report.objective, optimum(problem), problem);
    EXPECT_TRUE(solution.slopes.col(features).isZero(0)) << "the added feature has the smaller spread";
  });
}

TEST(Optimum, IgnoresTheOrderOfRowsPiecesFeaturesAndItems) {
  for_random_problems(2, 60, [](Random& random, const LearningProblem& problem) {
    const Index rows = problem.points.rows();
    const auto to_row = random.permutation(rows), to_piece = random.permutation(problem.pieces),
               to_feature = random.permutation(problem.points.cols());
    LearningProblem permuted = problem;
    for (Index i = 0; i < rows; ++i) {
      const Index row = to_row[static_cast<std::size_t>(i)];
      for (Index j = 0; j < problem.points.cols(); ++j) {
        permuted.points(row, to_feature[static_cast<std::size_t>(j)]) = problem.points(i, j);
      }
      permuted.piece_of[static_cast<std::size_t>(row)] =
          static_cast<int>(to_piece[static_cast<std::size_t>(problem.piece_of[static_cast<std::size_t>(i)])]);
    }
    for_each_member(permuted.supervision, [&](Index& row) { row = to_row[static_cast<std::size_t>(row)]; });
    test::change_items(permuted.supervision, [&](auto& items) { random.shuffle(items); });
    expect_same(optimum(permuted), optimum(problem), problem);
  });
}

TEST(Optimum, IgnoresTheSignOfFeatures) {
  for_random_problems(3, 30, [](Random&, const LearningProblem& problem) {
    LearningProblem mirrored = problem;
    mirrored.points.col(0) *= -1;
    expect_same(optimum(mirrored), optimum(problem), problem);
  });
}

TEST(Optimum, CountsAnItemOfWeightTwoTwice) {
  for_random_problems(4, 60, [](Random& random, const LearningProblem& problem) {
    LearningProblem weighted = problem, repeated = problem;
    test::change_items(weighted.supervision, [&](auto& items) {
      auto& copies = std::get<std::decay_t<decltype(items)>>(repeated.supervision);
      for (std::size_t t = 0, count = items.size(); t < count; ++t) {
        if (random.uniform() < 0.5) continue;
        items[t].weight = 2;
        copies.push_back(copies[t]);
      }
    });
    expect_same(optimum(weighted), optimum(repeated), repeated);
  });
}

TEST(Optimum, DoesNotSeeItemsOfWeightZero) {
  for_random_problems(5, 30, [](Random& random, const LearningProblem& problem) {
    LearningProblem more = problem;
    test::change_items(more.supervision, [&](auto& items) {
      for (std::size_t t = 0, count = items.size(); t < count; ++t) {
        items.push_back(items[static_cast<std::size_t>(random.uniform_index(static_cast<Index>(count)))]);
        std::swap(items.back().i, items.back().j);
        items.back().weight = 0;
      }
    });
    expect_same(optimum(more), optimum(problem), problem);
  });
}

// Rows times s: slopes / s give the same D, and L falls by s. So lambda s and bound / s give the same optimum.
TEST(Optimum, FollowsTheUnitOfTheFeatures) {
  for_random_problems(6, 60, [](Random&, const LearningProblem& problem) {
    for (const double s : {0.01, 50.0}) {
      LearningProblem scaled = problem;
      scaled.points *= s;
      scaled.lambda *= s;
      scaled.lipschitz_bound /= s;
      expect_same(optimum(scaled), optimum(problem), problem);
    }
  });
}

// Weights and lambda times w: the objective times w. Targets times c: D and L times c, the loss times c^2, so lambda
// times c.
TEST(Optimum, FollowsTheUnitsOfWeightsAndTargets) {
  for_random_problems(7, 60, [](Random&, const LearningProblem& problem) {
    LearningProblem weighted = problem;
    test::change_items(weighted.supervision, [](auto& items) {
      for (auto& item : items) item.weight *= 30;
    });
    weighted.lambda *= 30;
    expect_same(optimum(weighted), 30 * optimum(problem), weighted);
    if (!std::holds_alternative<Targets>(problem.supervision)) return;
    LearningProblem larger = problem;
    for (auto& item : std::get<Targets>(larger.supervision)) item.value *= 20;
    larger.lambda *= 20;
    larger.lipschitz_bound *= 20;
    expect_same(optimum(larger), 400 * optimum(problem), larger);
  });
}

// f(lambda) = min loss + lambda L is a minimum of lines: concave, with slope L at lambda, which therefore falls.
TEST(Optimum, IsConcaveInLambdaAndItsLipschitzConstantFalls) {
  for_random_problems(8, 30, [](Random&, LearningProblem problem) {
    std::vector<SolveReport> reports;
    std::vector<double> lambdas;
    for (int exponent = -10; exponent <= 7; exponent += 2) {
      problem.lambda = std::exp2(exponent);
      lambdas.push_back(problem.lambda);
      reports.push_back(test::solve_to_optimality(problem).report);
    }
    const double zero = test::zero_objective(problem);
    for (std::size_t a = 0; a < reports.size(); ++a) {
      const double tolerance = 1e-7 * std::max(reports[a].objective, 1e-3 * zero);
      // No other model beats the optimum at its own lambda.
      for (std::size_t b = 0; b < reports.size(); ++b) {
        EXPECT_LE(reports[a].objective, reports[b].loss + lambdas[a] * reports[b].lipschitz + tolerance);
      }
      if (a == 0) continue;
      EXPECT_GE(reports[a].objective, reports[a - 1].objective - tolerance);
      EXPECT_LE(reports[a].lipschitz, reports[a - 1].lipschitz + 2 * tolerance / (lambdas[a] - lambdas[a - 1]));
      if (a == 1) continue;
      const double share = (lambdas[a - 1] - lambdas[a - 2]) / (lambdas[a] - lambdas[a - 2]);
      EXPECT_GE(reports[a - 1].objective,
                (1 - share) * reports[a - 2].objective + share * reports[a].objective - tolerance);
    }
  });
}

TEST(Optimum, FallsAsTheBoundIsRelaxed) {
  for_random_problems(9, 30, [](Random&, LearningProblem problem) {
    problem.lambda = 0;
    double last = test::zero_objective(problem);
    for (const double bound : {0.01, 0.1, 1.0, 10.0, 100.0}) {
      problem.lipschitz_bound = bound;
      const double now = optimum(problem);
      EXPECT_LE(now, last + 1e-7 * std::max(last, 1e-3 * test::zero_objective(problem)));
      last = now;
    }
  });
}

// The conditions of optimality, from the multipliers that are returned.
TEST(Optimum, SatisfiesComplementarySlackness) {
  for_random_problems(10, 90, [](Random&, const LearningProblem& problem) {
    const Solution solution = test::solve_to_optimality(problem);
    const Matrix grid = test::divergence_grid(problem, solution);
    const double tolerance = 1e-6 * (1 + test::zero_objective(problem));
    EXPECT_GE(solution.dual.convexity.minCoeff(), 0);
    EXPECT_NEAR(solution.dual.convexity.cwiseProduct(grid).sum(), 0, tolerance);
    const auto divergence = [&](Index i, Index j) { return grid(i, problem.piece_of[static_cast<std::size_t>(j)]); };
    // Of a hinge max(0, margin): 0 where it is slack, the weight where it costs, anything between at the corner.
    const auto expect_hinge = [&](double multiplier, double weight, double margin) {
      EXPECT_GE(multiplier, 0);
      EXPECT_LE(multiplier, weight);
      EXPECT_NEAR(multiplier * std::max(0.0, -margin), 0, tolerance);
      EXPECT_NEAR((weight - multiplier) * std::max(0.0, margin), 0, tolerance);
    };
    Index t = 0;
    if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
      for (const auto& c : *comparisons) {
        expect_hinge(solution.dual.items(t++), c.weight, 1 + divergence(c.i, c.j) - divergence(c.k, c.l));
      }
    } else if (const auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
      for (const auto& p : *pairs) {
        const double d = divergence(p.i, p.j);
        expect_hinge(solution.dual.items(t++), p.weight, p.similar ? std::max(d, 0.0) : 2 - d);
      }
    } else {
      for (const auto& g : std::get<Targets>(problem.supervision)) {
        EXPECT_NEAR(solution.dual.items(t++), 2 * g.weight * (divergence(g.i, g.j) - g.value), tolerance);
      }
    }
  });
}

}  // namespace
}  // namespace bregmax
