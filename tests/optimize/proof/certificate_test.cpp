#include "bregmax/optimize/certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bregmax/optimize/interior_point.hpp"
#include "optimize/problems.hpp"
#include "optimize/proof/convex_repair.hpp"
#include "optimize/proof/solve_support.hpp"

namespace bregmax {
namespace {

using test::Kind;
using test::kKinds;
using test::make_problem;

Matrix column(std::initializer_list<double> values) {
  Matrix points(static_cast<Index>(values.size()), 1);
  std::copy(values.begin(), values.end(), points.data());
  return points;
}

// The solver finds the value that was derived by hand, and the certificate proves it.
void expect_optimum(const LearningProblem& problem, double optimum) {
  SCOPED_TRACE(test::describe(problem));
  const Solution solution = test::solve_to_optimality(problem);
  const double tolerance = 2e-8 * std::max(optimum, 1e-3 * test::zero_objective(problem));
  EXPECT_NEAR(solution.report.objective, optimum, tolerance);
  EXPECT_NEAR(certify(problem, solution).lower_bound, optimum, tolerance);
}

// Rows 0 and r on pieces of their own. D(0, 1) + D(1, 0) = (a_1 - a_0) r, and both are >= 0: D(0, 1) can be anything
// in [0, 2 L r], whatever D(1, 0) has left over.
constexpr double kDistances[] = {0.5, 2, 1e3};
constexpr double kLambdas[] = {0.01, 0.7, 30};
constexpr double kBounds[] = {0.2, 3};

TEST(HandSolved, OneDissimilarPair) {
  for (const double r : kDistances) {
    const Pairs pair = {{0, 1, false}};
    // min over L of max(0, 2 - 2 L r) + lambda L
    for (const double lambda : kLambdas) {
      expect_optimum(make_problem(column({0, r}), pair, lambda), std::min(2.0, lambda / r));
    }
    for (const double bound : kBounds) {
      expect_optimum(make_problem(column({0, r}), pair, 0, bound), std::max(0.0, 2 - 2 * bound * r));
      // Both: L stops at the bound or at 1 / r.
      const double best = std::min(bound, 1 / r);
      expect_optimum(make_problem(column({0, r}), pair, r, bound), std::max(0.0, 2 - 2 * best * r) + r * best);
    }
  }
}

TEST(HandSolved, OneSimilarPairCostsNothing) {
  expect_optimum(make_problem(column({0, 1}), Pairs{{0, 1, true}}, 0.5), 0);
  expect_optimum(make_problem(column({0, 1}), Pairs{{0, 1, true}}, 0), 0);
}

TEST(HandSolved, TheSamePairSimilarAndDissimilar) {
  // D + max(0, 2 - D) >= 2, and any L costs.
  expect_optimum(make_problem(column({0, 1}), Pairs{{0, 1, true}, {0, 1, false}}, 0.1), 2);
  expect_optimum(make_problem(column({0, 1}), Pairs{{0, 1, true, 0.5}, {0, 1, false}}, 0.1), 1 + 0.1);
}

TEST(HandSolved, OneComparison) {
  for (const double r : kDistances) {
    // D(0, 1) = 0 and D(1, 0) = 2 L r; or the first is a self comparison, which is always 0.
    for (const Comparison& item : {Comparison{0, 1, 1, 0}, Comparison{0, 0, 1, 0}, Comparison{1, 1, 0, 1}}) {
      for (const double lambda : kLambdas) {
        expect_optimum(make_problem(column({0, r}), Comparisons{item}, lambda), std::min(1.0, lambda / (2 * r)));
      }
      for (const double bound : kBounds) {
        expect_optimum(make_problem(column({0, r}), Comparisons{item}, 0, bound), std::max(0.0, 1 - 2 * bound * r));
      }
    }
  }
}

TEST(HandSolved, ComparisonsThatNothingCanSatisfy) {
  expect_optimum(make_problem(column({0, 1}), Comparisons{{0, 1, 0, 0}}, 0.1), 1);  // 1 + D(0, 1)
  expect_optimum(make_problem(column({0, 1}), Comparisons{{0, 1, 0, 1}}, 0.1), 1);  // 1, for every model
  expect_optimum(make_problem(column({0, 1}), Comparisons{{0, 0, 1, 1, 3}}, 0.1), 3);
  expect_optimum(make_problem(column({0, 1}), Comparisons{{0, 1, 1, 0}, {1, 0, 0, 1}}, 0.1), 2);  // contradictory
}

TEST(HandSolved, OneTarget) {
  for (const double r : kDistances) {
    for (const double y : {-1.0, 0.0, 0.3, 5.0}) {
      const Targets target = {{0, 1, y}};
      // min over D >= 0 of (D - y)^2 + c D, c = lambda / (2 r): D = y - c / 2 if that is positive.
      for (const double lambda : kLambdas) {
        const double c = lambda / (2 * r);
        expect_optimum(make_problem(column({0, r}), target, lambda), y > c / 2 ? c * y - c * c / 4 : y * y);
      }
      for (const double bound : kBounds) {
        const double miss = y - std::clamp(y, 0.0, 2 * bound * r);
        expect_optimum(make_problem(column({0, r}), target, 0, bound), miss * miss);
      }
      expect_optimum(make_problem(column({0, r}), target, 0), y < 0 ? y * y : 0);
    }
  }
}

TEST(HandSolved, TheLargestCoordinateDecides) {
  // (a_1 - a_0)' x <= 2 L ||x||_inf
  Matrix points(2, 3);
  points << 1, 1, 1, 2, -3, 1;
  expect_optimum(make_problem(points, Pairs{{0, 1, false}}, 1), 1.0 / 4);
}

TEST(HandSolved, SquaredEuclideanIsExactOnALine) {
  // z = x^2 and a = 2 x reproduce (x - y)^2; slopes 0 .. 4 are -2 .. 2 after adding a linear function.
  Targets targets;
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) targets.push_back({i, j, static_cast<double>((i - j) * (i - j))});
  }
  expect_optimum(make_problem(column({0, 1, 2}), targets, 0, 2), 0);
  expect_optimum(make_problem(column({0, 1, 2}), targets, 0), 0);
}

TEST(HandSolved, OnePieceHasNoDivergence) {
  const std::vector<int> one_piece = {0, 0, 0};
  const Matrix points = column({0, 1, 5});
  expect_optimum(make_problem(points, one_piece, Comparisons{{0, 1, 1, 2}, {2, 1, 0, 1, 2}}, 0.1), 3);
  expect_optimum(make_problem(points, one_piece, Pairs{{0, 1, true}, {0, 2, false}}, 0, 4), 2);
  expect_optimum(make_problem(points, one_piece, Targets{{0, 1, 3}, {0, 2, -1}}, 0), 10);
}

TEST(HandSolved, DuplicatesHaveNoDivergenceBetweenThem) {
  const Matrix points = column({1, 1, 2});
  expect_optimum(make_problem(points, Pairs{{0, 1, false}, {1, 0, false}}, 0.1), 4);
  // Both rows at 1 use the same L: D(0, 2) = D(1, 2) = 2 L.
  expect_optimum(make_problem(points, Pairs{{0, 2, false}, {1, 2, false}}, 0.1), 0.1);
}

// The losses as core/supervision.hpp defines them, from the divergences of all rows and pieces.
double loss_of(const LearningProblem& problem, const Matrix& grid) {
  const auto d = [&](Index i, Index j) { return grid(i, problem.piece_of[static_cast<std::size_t>(j)]); };
  double loss = 0;
  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (const Comparison& c : *comparisons) loss += c.weight * std::max(0.0, 1 + d(c.i, c.j) - d(c.k, c.l));
  } else if (const auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (const Pair& p : *pairs) loss += p.weight * std::max(0.0, p.similar ? d(p.i, p.j) : 2 - d(p.i, p.j));
  } else {
    for (const Target& t : std::get<Targets>(problem.supervision))
      loss += t.weight * std::pow(d(t.i, t.j) - t.value, 2);
  }
  return loss;
}

TEST(Certificate, RecomputesLossNormAndViolation) {
  Random random(1);
  for (int repeat = 0; repeat < 30; ++repeat) {
    const LearningProblem problem = test::random_problem(random, kKinds[repeat % 3]);
    Solution solution = test::solve_to_optimality(problem);
    solution.slopes += 0.3 * test::normal_rows(random, problem.pieces, problem.points.cols());
    solution.offsets += 0.3 * test::normal_rows(random, problem.pieces, 1);
    const Certificate certificate = certify(problem, solution);
    const Matrix grid = test::divergence_grid(problem, solution);
    EXPECT_NEAR(certificate.convexity_violation, std::max(0.0, -grid.minCoeff()), 1e-12);
    EXPECT_NEAR(certificate.lipschitz, solution.slopes.cwiseAbs().rowwise().sum().maxCoeff(), 1e-12);
    const double loss = loss_of(problem, grid);
    EXPECT_NEAR(certificate.loss, loss, 1e-12 * (1 + loss));
    EXPECT_NEAR(certificate.objective, loss + problem.lambda * certificate.lipschitz, 1e-12 * (1 + loss));
  }
}

TEST(Certificate, NoPerturbedModelIsBetter) {
  Random random(2);
  int bounds = 0, repaired = 0;
  for (int repeat = 0; repeat < test::repeats(150); ++repeat) {
    const LearningProblem problem = test::random_problem(random, kKinds[repeat % 3]);
    SCOPED_TRACE(test::describe(problem));
    const Solution best = test::solve_to_optimality(problem);
    const double tolerance = 1e-7 * (1 + best.report.objective);
    const internal::ConvexRepair repair(problem);
    for (const double size : {1e-3, 0.1, 1.0}) {
      Solution other = best;
      other.slopes += size * test::normal_rows(random, problem.pieces, problem.points.cols());
      other.offsets += size * test::normal_rows(random, problem.pieces, 1);
      Certificate certificate = certify(problem, other);
      // The bound is about the problem, not about the model: at most about how large models may be.
      if (certificate.valid_up_to_lipschitz >= best.report.lipschitz) {
        EXPECT_LE(certificate.lower_bound, best.report.objective + tolerance);
        ++bounds;
      }
      // The same model made convex; hardly any perturbed model is.
      if (repair.repair(0.3, other.pieces()) && repair.violation(other).feasible()) {
        internal::respect_bound(problem.lipschitz_bound, other);
        EXPECT_GE(certify(problem, other).objective, best.report.objective - tolerance);
        ++repaired;
      }
      // Towards the zero model everything stays feasible.
      other = best;
      const double shrink = 1 / (1 + size);
      other.slopes *= shrink;
      other.offsets *= shrink;
      certificate = certify(problem, other);
      EXPECT_LE(certificate.convexity_violation, best.report.convexity_violation + 1e-14);
      EXPECT_GE(certificate.objective, best.report.objective - tolerance);
      EXPECT_GE(certificate.relative_gap, best.report.relative_gap - 1e-7);
    }
  }
  EXPECT_GT(bounds, test::repeats(150));
  EXPECT_GT(repaired, test::repeats(150));
}

// Bad multipliers may prove little, but nothing false.
DualSolution random_dual(Random& random, const DualSolution& good, double weight, bool signed_items) {
  DualSolution dual = good;
  const Index way = random.uniform_index(5);
  const double scale = std::pow(10, -3 + 6 * random.uniform());
  if (way == 0) {  // anything
    for (double& y : dual.convexity.reshaped()) y = scale * random.uniform();
    for (double& y : dual.items) y = signed_items ? scale * random.normal() : weight * random.uniform();
  } else if (way == 1) {  // the good one, scaled
    dual.convexity *= scale;
    dual.items *= scale;
  } else if (way == 2) {  // the good one, disturbed
    for (double& y : dual.convexity.reshaped()) y *= 0.9 + 0.2 * random.uniform();
    for (double& y : dual.items) y *= 0.9 + 0.2 * random.uniform();
  } else if (way == 3) {  // one half missing
    if (random.uniform() < 0.5) {
      dual.convexity.setZero();
    } else {
      dual.items.setZero();
    }
  } else {  // outside the allowed range
    for (double& y : dual.convexity.reshaped()) y -= 0.1 * random.uniform();
    for (double& y : dual.items) y += scale * random.normal();
  }
  return dual;
}

TEST(Certificate, NoMultipliersProveMoreThanTheOptimum) {
  Random random(3);
  for (int repeat = 0; repeat < test::repeats(240); ++repeat) {
    const Kind kind = kKinds[repeat % 3];
    const LearningProblem problem = test::random_problem(random, kind);
    SCOPED_TRACE(test::describe(problem));
    const Solution best = test::solve_to_optimality(problem);
    for (int draw = 0; draw < 20; ++draw) {
      Solution other = best;
      other.dual = random_dual(random, best.dual, 1, kind == Kind::kTargets);
      const Certificate certificate = certify(problem, other);
      EXPECT_EQ(certificate.objective, best.report.objective);
      EXPECT_GE(certificate.lower_bound, 0);
      EXPECT_LE(certificate.lower_bound, best.report.objective + 1e-7 * (1 + best.report.objective));
    }
  }
}

// Dual variables of 1 and 1 - e on the same divergence leave derivatives of e r, which rounding would hide. Models up
// to L = 1e9 turn these into 2 L e r: 1.8 of the 2 that the dual variables alone would prove.
TEST(Certificate, ForgivesNoRounding) {
  const double e = 0x1p-50, r = 1e6, bound = 1e9;
  const LearningProblem problem = make_problem(column({0, r}), Pairs{{1, 0, true, 1}, {1, 0, false, 1}}, 0, bound);
  Solution solution = test::solve(problem);
  solution.dual = {};
  solution.dual.items = (Vector(2) << 1 - e, 1).finished();
  const double proved = 2 - bound * 2 * e * r;
  EXPECT_NEAR(certify(problem, solution).lower_bound, proved, 1e-12);
  // The same with the last digits in numbers of their own.
  solution.dual.items = Vector::Ones(2);
  solution.dual.items_low = (Vector(2) << -e / 1024, 0).finished();
  EXPECT_NEAR(certify(problem, solution).lower_bound, 2 - bound * 2 * e / 1024 * r, 1e-12);
}

TEST(Certificate, MultipliersThatAreNoNumbersProveNothing) {
  const LearningProblem problem = make_problem(column({0, 1}), Pairs{{1, 0, true}, {1, 0, false}}, 0.1);
  const Solution best = test::solve_to_optimality(problem);
  for (const double odd : {std::nan(""), std::numeric_limits<double>::infinity(), 1e308, -1e308}) {
    for (Index which = 0; which < 4; ++which) {
      Solution other = best;
      (which < 2 ? other.dual.items(which) : other.dual.convexity(which % 2, 1 - which % 2)) = odd;
      const Certificate certificate = certify(problem, other);
      EXPECT_GE(certificate.lower_bound, 0) << odd << " " << which;
      EXPECT_LE(certificate.lower_bound, best.report.objective * (1 + 1e-8)) << odd << " " << which;
    }
  }
}

TEST(Certificate, RowsNearTheLargestDoubleProveNothingFalse) {
  const LearningProblem problem =
      make_problem(column({-1e308, 0, 1e308}), Comparisons{{0, 1, 2, 1}, {2, 1, 0, 1}}, 1e-300);
  Solution solution = test::solve(make_problem(column({-1, 0, 1}), problem.supervision, 1));
  solution.dual.convexity.setConstant(3);
  solution.dual.items.setOnes();
  EXPECT_LE(certify(problem, solution).lower_bound, 2);
  EXPECT_GE(certify(problem, solution).lower_bound, 0);
}

TEST(Certificate, WithoutLambdaOrBoundStatesTheLipschitzConstantUpToWhichItHolds) {
  Random random(4);
  int compared = 0;
  for (int repeat = 0; repeat < test::repeats(60); ++repeat) {
    const Kind kind = kKinds[repeat % 3];
    LearningProblem problem = test::random_problem(random, kind);
    problem.lambda = 0;
    problem.lipschitz_bound = test::kNoBound;
    SCOPED_TRACE(test::describe(problem));
    Solution solution = test::solve(problem);
    for (int draw = 0; draw < 10; ++draw) {
      const Certificate certificate = certify(problem, solution);
      ASSERT_GE(certificate.valid_up_to_lipschitz, certificate.lipschitz);
      if (certificate.valid_up_to_lipschitz > 0 && std::isfinite(certificate.valid_up_to_lipschitz)) {
        LearningProblem bounded = problem;
        bounded.lipschitz_bound = certificate.valid_up_to_lipschitz;
        const SolveReport report = test::solve(bounded).report;
        compared += report.status == Status::kOptimal ? 1 : 0;
        if (report.status == Status::kOptimal) {
          EXPECT_LE(certificate.lower_bound, report.objective + 1e-7 * (1 + report.objective));
        }
      }
      solution.dual = random_dual(random, solution.dual, 1, kind == Kind::kTargets);
    }
  }
  EXPECT_GT(compared, test::repeats(60) / 2);
}

TEST(Certificate, SaysForWhichModelsTheBoundHolds) {
  const auto certificate = [&](double lambda, double bound) {
    const LearningProblem problem = make_problem(column({0, 1}), Pairs{{0, 1, false}}, lambda, bound);
    return certify(problem, test::solve(problem));
  };
  EXPECT_EQ(certificate(0.1, test::kNoBound).valid_up_to_lipschitz, test::kNoBound);
  EXPECT_EQ(certificate(0, 3).valid_up_to_lipschitz, 3);
  EXPECT_EQ(certificate(0, test::kNoBound).valid_up_to_lipschitz, test::kNoBound) << "the optimum is 0";
  // Multipliers that nearly cancel prove nearly 2, of models up to ten times the one that is given.
  const LearningProblem problem = make_problem(column({0, 1}), Pairs{{1, 0, true}, {1, 0, false}}, 0);
  Solution solution;
  solution.slopes = column({-0.5, 0.5});
  solution.offsets = Vector::Zero(2);
  solution.dual.items = (Vector(2) << 1 - 1e-9, 1).finished();
  const Certificate nearly = certify(problem, solution);
  EXPECT_NEAR(nearly.lower_bound, 2, 1e-7);
  EXPECT_EQ(nearly.valid_up_to_lipschitz, 5);
}

TEST(Certificate, MissingMultipliersStillGiveABound) {
  Random random(5);
  for (int repeat = 0; repeat < 30; ++repeat) {
    const LearningProblem problem = test::random_problem(random, kKinds[repeat % 3]);
    const Solution best = test::solve_to_optimality(problem);
    for (const bool keep_items : {true, false}) {
      Solution other = best;
      other.dual.convexity.resize(0, 0);
      if (!keep_items) other.dual.items.resize(0);
      const Certificate certificate = certify(problem, other);
      EXPECT_GE(certificate.lower_bound, 0);
      EXPECT_LE(certificate.lower_bound, best.report.objective + 1e-7 * (1 + best.report.objective));
      EXPECT_EQ(certificate.objective, best.report.objective);
      EXPECT_GE(certificate.relative_gap, best.report.relative_gap - 1e-8);
    }
  }
}

}  // namespace
}  // namespace bregmax
