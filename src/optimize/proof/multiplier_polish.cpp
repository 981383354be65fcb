#include "optimize/proof/multiplier_polish.hpp"

#include <array>
#include <cassert>
#include <cmath>

#include "core/cholesky.hpp"
#include "core/double_double.hpp"
#include "optimize/proof/multiplier_system.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kMostUnknowns = 2500, kFewUnknowns = 200;
constexpr double kMostWork = 1e9, kLittleWork = 1e6;  // products in the matrix that is factored

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
  static constexpr double kRidge = 1e-13;  // of the diagonal; one affine function added to all pieces changes nothing

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
  static bool compute(Square<DoubleDouble>& matrix) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        DoubleDouble rest = matrix(i, j);
        for (Index k = 0; k < j; ++k) rest -= matrix(i, k) * matrix(j, k);
        if (i == j && !(rest > DoubleDouble(0))) return false;
        matrix(i, j) = i == j ? sqrt(rest) : rest / matrix(j, j);
      }
    }
    return true;
  }
  static void solve(const Square<DoubleDouble>& factor, Eigen::Matrix<DoubleDouble, Eigen::Dynamic, 1>& x) {
    for (Index i = 0; i < x.size(); ++i) {
      for (Index k = 0; k < i; ++k) x(i) -= factor(i, k) * x(k);
      x(i) /= factor(i, i);
    }
    for (Index i = x.size() - 1; i >= 0; --i) {
      x(i) /= factor(i, i);
      for (Index k = 0; k < i; ++k) x(k) -= factor(i, k) * x(i);
    }
  }
};

// Steps that minimise the sum of change^2 / room, by normal equations in the arithmetic of Number. Rooms differ by as
// many powers of ten as multipliers do; in doubles the smallest may be lost in the rounding of the largest.
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
    room_.resize(std::ssize(system_.multipliers));
    for (Index t = 0; t < room_.size(); ++t) {
      const Multiplier& one = system_.multipliers[t];
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
      Multiplier& one = system_.multipliers[t];
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
        const Term &a = one.terms[c], &b = one.terms[e];
        const auto &row_a = system_.rows().row(a.row), &row_b = system_.rows().row(b.row);
        outer_.noalias() = row_a.transpose() * row_b * Number(room * a.sign * b.sign);
        const std::array<Index, 2> of_a = {system_.own(a.row), a.piece}, of_b = {system_.own(b.row), b.piece};
        for (std::size_t p = 0; p < 2; ++p) {
          for (std::size_t q = 0; q < 2; ++q) {
            if (of_b[q] > of_a[p]) continue;
            auto block = normal_.block(of_a[p] * width_, of_b[q] * width_, width_, width_);
            p == q ? block += outer_ : block -= outer_;
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

template <class Number>
void polish(const LearningProblem& problem, const Vector& price, const RunControl& control, DualSolution& dual) {
  MultiplierSystem<Number> system(problem, price, dual);
  take_rounds(system, NormalSteps(system), control);
  system.give(dual);
}

}  // namespace

bool can_polish(const LearningProblem& problem) {
  return unknowns(problem) <= kMostUnknowns && assembly_work(problem) <= kMostWork;
}

bool polish_is_quick(const LearningProblem& problem) {
  return unknowns(problem) <= kFewUnknowns && assembly_work(problem) <= kLittleWork;
}

void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, const RunControl& control,
                        DualSolution& dual) {
  assert(dual.items.size() == item_count(problem.supervision) && dual.entries.empty());
  polish_is_quick(problem) ? polish<DoubleDouble>(problem, price_of_piece, control, dual)
                           : polish<double>(problem, price_of_piece, control, dual);
}

}  // namespace bregmax::internal
