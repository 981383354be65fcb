#include "optimize/proof/multiplier_polish.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/cholesky.hpp"
#include "core/double_double.hpp"
#include "optimize/proof/multiplier_system.hpp"
#include "optimize/proof/orthogonal_least_squares.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kMostUnknowns = 2500, kFewUnknowns = 200;
constexpr double kMostWork = 1e9, kLittleWork = 1e6;  // products in the matrix that is factored
constexpr int kMostRounds = 12;
constexpr double kWorthwhile = 0.5;                    // what a round leaves of the excess
constexpr double kAsGoodAsAtItsEnd[] = {1e-11, 1e-9};  // of the largest multiplier: what is tried
constexpr double kMostOrthogonalWork = 4e7;            // rows times unknowns squared, in numbers of 32 digits

Index unknowns(const LearningProblem& problem) { return problem.pieces * (problem.points.cols() + 1); }

double assembly_work(const LearningProblem& problem) {
  const auto width = static_cast<double>(problem.points.cols() + 1);
  const Index multipliers = problem.points.rows() * problem.pieces + 4 * item_count(problem.supervision);
  return 4 * static_cast<double>(multipliers) * width * width;
}

template <class Number>
using Square = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Factors the lower triangle of a matrix in place, and solves with it.
template <class Number>
class Factor;

template <>
class Factor<double> {
 public:
  static constexpr double kRidge = 1e-13;  // of the diagonal: adding one affine function to all pieces changes nothing

  explicit Factor(Index size) : cholesky_(size) {}
  bool compute(Matrix& matrix) { return cholesky_.factor(matrix.data(), matrix.rows(), matrix.cols()); }
  static void solve(const Matrix& factor, Vector& x) {
    factor.triangularView<Eigen::Lower>().solveInPlace(x);
    factor.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  }

 private:
  Cholesky cholesky_;
};

template <>
class Factor<DoubleDouble> {
 public:
  static constexpr double kRidge = 1e-28;

  explicit Factor(Index /*size*/) {}
  bool compute(Square<DoubleDouble>& matrix) {
    factor_.compute(matrix);
    return factor_.info() == Eigen::Success;
  }
  void solve(const Square<DoubleDouble>& /*matrix*/, Eigen::Matrix<DoubleDouble, Eigen::Dynamic, 1>& x) const {
    x = factor_.solve(x).eval();
  }

 private:
  Eigen::LLT<Square<DoubleDouble>> factor_;
};

// Steps of least sum of change^2 / room, by the normal equations. Number: of these. Rooms differ by as many powers of
// ten as multipliers do; in doubles the smallest of them may be lost in the rounding of the largest.
template <class Number>
class NormalSteps {
  using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

 public:
  explicit NormalSteps(MultiplierSystem<Number>& system)
      : system_(system), factor_(system.unknowns()), width_(system.width()) {}

  // sum w m m' + diag(slack), scaled to a diagonal of ones; m is what a multiplier adds to the derivatives.
  bool factor() {
    using std::sqrt;
    normal_.setZero(system_.unknowns(), system_.unknowns());
    room_.resize(static_cast<Index>(system_.multipliers.size()));
    for (Index t = 0; t < room_.size(); ++t) {
      const Multiplier& one = system_.multipliers[at(t)];
      room_(t) = one.room();
      if (room_(t) > 0) add_outer(one, room_(t));
    }
    scale_.resize(normal_.rows());
    for (Index u = 0; u < scale_.size(); ++u) {
      normal_(u, u) += Number(system_.slack(u));
      scale_(u) = normal_(u, u) > Number(0) ? Number(1) / sqrt(normal_(u, u)) : Number(0);
    }
    for (Index u = 0; u < scale_.size(); ++u) {
      for (Index v = 0; v < u; ++v) normal_(u, v) *= scale_(u) * scale_(v);
      normal_(u, u) = Number(1) + Number(Factor<Number>::kRidge);
    }
    return factor_.compute(normal_);
  }

  void move() {
    Numbers u(scale_.size());
    for (Index v = 0; v < u.size(); ++v) u(v) = scale_(v) * Number(system_.residual(v));
    factor_.solve(normal_, u);
    u = scale_.cwiseProduct(u).eval();
    for (Index t = 0; t < room_.size(); ++t) {
      if (room_(t) == 0) continue;
      Multiplier& one = system_.multipliers[at(t)];
      Number change = 0;
      system_.for_each_piece(one, [&](Index row, Index piece, double sign) {
        change -= Number(sign) * system_.rows().row(row).transpose().dot(u.segment(piece * width_, width_));
      });
      one.change_by(room_(t) * static_cast<double>(change));
    }
  }

 private:
  // Blocks on and below the diagonal, which is what is factored.
  void add_outer(const Multiplier& one, double room) {
    for (Index c = 0; c < one.count; ++c) {
      for (Index e = 0; e < one.count; ++e) {
        const Term &a = one.terms[at(c)], &b = one.terms[at(e)];
        const auto &row_a = system_.rows().row(a.row), &row_b = system_.rows().row(b.row);
        outer_.noalias() = row_a.transpose() * row_b * Number(room * a.sign * b.sign);
        const std::array<Index, 2> of_a = {system_.own(a.row), a.piece}, of_b = {system_.own(b.row), b.piece};
        for (std::size_t p = 0; p < 2; ++p) {
          for (std::size_t q = 0; q < 2; ++q) {
            if (of_b[q] > of_a[p]) continue;
            auto block = normal_.block(of_a[p] * width_, of_b[q] * width_, width_, width_);
            if (p == q) {
              block += outer_;
            } else {
              block -= outer_;
            }
          }
        }
      }
    }
  }

  MultiplierSystem<Number>& system_;
  Factor<Number> factor_;
  Index width_;
  Vector room_;                    // of the multipliers, as factored
  Square<Number> normal_, outer_;  // normal_: the factor, once there is one
  Numbers scale_;
};

// Steps of least sum of (change / room)^2 (of change^2 / curvature for those that are free): a small multiplier changes
// by less of itself than a large one, which keeps it in its range. The squares of rooms differ by too much for the
// normal equations.
class OrthogonalSteps {
  using Number = DoubleDouble;

 public:
  explicit OrthogonalSteps(MultiplierSystem<Number>& system) : system_(system) {}

  static double work(const MultiplierSystem<Number>& system) {
    const auto movable = std::ranges::count_if(system.multipliers, [](const auto& one) { return one.room() > 0; });
    const auto unknowns = static_cast<double>(system.unknowns());
    return (static_cast<double>(movable) + 2 * unknowns) * unknowns * unknowns;
  }

  bool factor() {
    const Index unknowns = system_.unknowns(), width = system_.width();
    movable_.clear();
    for (std::size_t t = 0; t < system_.multipliers.size(); ++t) {
      const Multiplier& one = system_.multipliers[t];
      if (one.room() > 0) movable_.push_back({t, one.is_free() ? std::sqrt(one.room()) : one.room()});
    }
    const auto count = static_cast<Index>(movable_.size());
    OrthogonalLeastSquares::Rows j = OrthogonalLeastSquares::Rows::Zero(count + unknowns, unknowns);
    for (Index t = 0; t < count; ++t) {
      const auto& [multiplier, reach] = movable_[at(t)];
      system_.for_each_piece(system_.multipliers[multiplier], [&, reach = reach](Index row, Index piece, double sign) {
        j.row(t).segment(piece * width, width) += system_.rows().row(row) * Number(reach * sign);
      });
    }
    for (Index u = 0; u < unknowns; ++u) j(count + u, u) = system_.slack(u);
    least_squares_.factor(j);
    return true;
  }

  void move() {
    OrthogonalLeastSquares::Numbers target(system_.unknowns());
    for (Index u = 0; u < target.size(); ++u) target(u) = -system_.residual(u);
    const OrthogonalLeastSquares::Numbers parts = least_squares_.solve(target);
    for (std::size_t t = 0; t < movable_.size(); ++t) {
      const auto& [multiplier, reach] = movable_[t];
      system_.multipliers[multiplier].change_by(reach * static_cast<double>(parts(static_cast<Index>(t))));
    }
  }

 private:
  struct Movable {
    std::size_t multiplier;
    double reach;  // as factored
  };

  MultiplierSystem<Number>& system_;
  std::vector<Movable> movable_;
  OrthogonalLeastSquares least_squares_;
};

// One round, which is undone where it gains nothing.
template <class Number, class Steps>
bool gains_much(MultiplierSystem<Number>& system, Steps& steps, double& excess) {
  const std::vector<Multiplier> before = system.multipliers;
  steps.move();
  const double after = system.measure();
  const bool much = after <= kWorthwhile * excess;
  if (after < excess) {
    excess = after;
  } else {
    system.multipliers = before;
    system.measure();
  }
  return much;
}

// Derivatives have twice the digits, steps have not: rounds with one factorization repeat as long as they gain much.
// Returns the excess that is left.
template <class Number, class Steps>
double take_rounds(MultiplierSystem<Number>& system, Steps steps, const RunControl& control) {
  double excess = system.measure();
  for (int round = 0; excess > 0 && round < kMostRounds;) {
    if (control.stop_requested() || !steps.factor()) break;
    const double before = excess;
    while (excess > 0 && round++ < kMostRounds && !control.stop_requested() && gains_much(system, steps, excess)) {
    }
    if (!(excess <= kWorthwhile * before)) break;
  }
  return excess;
}

// Takes those to an end of their range that are as good as there.
void go_to_ends(double as_good_as_there, std::vector<Multiplier>& multipliers) {
  double largest = 0;
  for (const Multiplier& one : multipliers) largest = std::max(largest, std::abs(one.high));
  for (Multiplier& one : multipliers) {
    if (!one.is_free() && one.room() < as_good_as_there * largest) one.go_to_nearer_end();
  }
}

template <class Number>
void polish_usually(const LearningProblem& problem, const Vector& price, const RunControl& control,
                    DualSolution& dual) {
  MultiplierSystem<Number> system(problem, price, dual);
  take_rounds(system, NormalSteps(system), control);
  system.give(dual);
}

void polish_thoroughly(const LearningProblem& problem, const Vector& price, const RunControl& control,
                       DualSolution& dual) {
  MultiplierSystem<DoubleDouble> system(problem, price, dual);
  const std::vector<Multiplier> given = system.multipliers;
  std::vector<Multiplier> best = given;
  double least = std::numeric_limits<double>::infinity();
  for (const double as_good_as_there : kAsGoodAsAtItsEnd) {
    if (control.stop_requested()) break;
    system.multipliers = given;
    go_to_ends(as_good_as_there, system.multipliers);
    if (OrthogonalSteps::work(system) > kMostOrthogonalWork) continue;
    const double left = take_rounds(system, OrthogonalSteps(system), control);
    if (!(left < least)) continue;
    least = left;
    best = system.multipliers;
  }
  system.multipliers = std::move(best);
  system.give(dual);
}

}  // namespace

bool can_polish(const LearningProblem& problem) {
  return unknowns(problem) <= kMostUnknowns && assembly_work(problem) <= kMostWork;
}

bool polish_is_quick(const LearningProblem& problem) {
  return unknowns(problem) <= kFewUnknowns && assembly_work(problem) <= kLittleWork;
}

void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, PolishEffort effort,
                        const RunControl& control, DualSolution& dual) {
  assert(dual.items.size() == item_count(problem.supervision) && dual.entries.empty());
  const bool quick = polish_is_quick(problem);
  if (quick && effort == PolishEffort::kThorough) {
    polish_thoroughly(problem, price_of_piece, control, dual);
  } else if (quick) {
    polish_usually<DoubleDouble>(problem, price_of_piece, control, dual);
  } else {
    polish_usually<double>(problem, price_of_piece, control, dual);
  }
}

}  // namespace bregmax::internal
