#include "optimize/multiplier_polish.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "core/cholesky.hpp"
#include "core/compensated_sum.hpp"
#include "core/double_double.hpp"
#include "optimize/at.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kMostUnknowns = 2500, kFewUnknowns = 200;
constexpr double kMostWork = 1e9, kLittleWork = 1e6;  // products in the matrix that is factored
constexpr int kMostRounds = 12;
constexpr double kToEnd = 0.99;      // of the way that a multiplier may go to an end of its range
constexpr double kWorthwhile = 0.5;  // what a round leaves of the excess

Index unknowns(const LearningProblem& problem) { return problem.pieces * (problem.points.cols() + 1); }

double assembly_work(const LearningProblem& problem) {
  const auto width = static_cast<double>(problem.points.cols() + 1);
  const Index multipliers = problem.points.rows() * problem.pieces + 4 * item_count(problem.supervision);
  return 4 * static_cast<double>(multipliers) * width * width;
}

// sign * D(row, piece) in the Lagrangian.
struct Term {
  Index row, piece;
  double sign;
};

// One multiplier: a number of twice the digits between 0 and `most`, times the sum of its terms.
struct Multiplier {
  std::array<Term, 2> terms;
  Index count;
  double high, low, most;
  double curvature = 0;  // 0: between 0 and `most`; else free, at the cost of its change squared over this
  double weight = 0;     // in the least squares that were factored last

  // How far it may go.
  double room() const {
    const double value = high + low;
    return curvature > 0 ? curvature : std::max(0.0, std::min(value, most - value));
  }
  void change_by(double change) {
    if (curvature == 0) change = std::clamp(change, -kToEnd * room(), kToEnd * room());
    CompensatedSum sum;
    for (const double part : {high, low, change}) sum.add(part);
    high = sum.value();
    sum.add(-high);
    low = sum.value();
  }
};

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

// Number: of the least squares. Weights differ by as many powers of ten as multipliers do; in doubles the smallest of
// them may be lost in the rounding of the largest.
template <class Number>
class Polish {
  using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

 public:
  Polish(const LearningProblem& problem, const Vector& price, const DualSolution& dual)
      : problem_(problem),
        price_(price),
        factor_(unknowns(problem)),
        width_(problem.points.cols() + 1),
        residual_(problem.pieces, width_),
        slack_(Matrix::Zero(problem.pieces, width_)) {
    const Matrix& points = problem.points;
    center_ = points.colwise().mean();
    unit_ = points.colwise().maxCoeff() - points.colwise().minCoeff();
    for (Index j = 0; j < unit_.size(); ++j) {
      if (unit_(j) > 0) continue;  // a constant feature has no part in anything
      unit_(j) = 1;
      center_(j) = points(0, j);
    }
    rows_.setOnes(points.rows(), width_);
    for (Index i = 0; i < points.rows(); ++i) {
      for (Index j = 0; j + 1 < width_; ++j) {
        rows_(i, j + 1) = (Number(points(i, j)) - Number(center_(j))) / Number(unit_(j));
      }
    }
    take_items(dual.items);
    for (Index i = 0; i < points.rows(); ++i) {
      for (Index k = 0; k < problem.pieces; ++k) {
        if (k == own(i) || !(dual.convexity(i, k) > 0)) continue;
        multipliers_.push_back({{Term{i, k, -1}}, 1, dual.convexity(i, k), 0, kNoEnd});
      }
    }
  }

  // Derivatives have twice the digits, steps have not: rounds with one factorization repeat as long as they gain much.
  void run(const RunControl& control) {
    double excess = measure();
    for (int round = 0; excess > 0 && round < kMostRounds;) {
      if (!factor()) return;
      const double before = excess;
      while (excess > 0 && round++ < kMostRounds && !control.stop_requested() && gains_much(excess)) {
      }
      if (!(excess <= kWorthwhile * before)) return;
    }
  }

  void give(DualSolution& dual) {
    const Index items = dual.items.size();
    dual.items_low.resize(items);
    dual.convexity.setZero();
    dual.entries.clear();
    for (std::size_t t = 0; t < multipliers_.size(); ++t) {
      Multiplier& one = multipliers_[t];
      if (static_cast<Index>(t) < items) {
        dual.items(static_cast<Index>(t)) = one.high;
        dual.items_low(static_cast<Index>(t)) = one.low;
        continue;
      }
      round_down(one);
      dual.convexity(one.terms[0].row, one.terms[0].piece) = one.high;
      if (one.low > 0) dual.entries.push_back({one.terms[0].row, one.terms[0].piece, one.low});
    }
  }

 private:
  static constexpr double kNoEnd = std::numeric_limits<double>::infinity();

  Index own(Index row) const { return problem_.piece_of[at(row)]; }

  void take_items(const Vector& items) {
    const auto term = [&](Index point, Index reference, double sign) {
      return Term{point, problem_.piece_of[at(reference)], sign};
    };
    Index t = 0;
    if (const auto* comparisons = std::get_if<Comparisons>(&problem_.supervision)) {
      for (const Comparison& item : *comparisons) {
        multipliers_.push_back({{term(item.i, item.j, 1), term(item.k, item.l, -1)}, 2, items(t++), 0, item.weight});
      }
    } else if (is_pairs(problem_.supervision)) {
      for_each_pair(problem_.supervision, [&](const Pair& item) {
        multipliers_.push_back({{term(item.i, item.j, item.similar ? 1 : -1)}, 1, items(t++), 0, item.weight});
      });
    } else {
      for (const Target& item : std::get<Targets>(problem_.supervision)) {
        multipliers_.push_back({{term(item.i, item.j, 1)}, 1, items(t++), 0, kNoEnd, 2 * item.weight});
      }
    }
  }

  // Sets what the derivatives have too much of, in units of the rows, and what their prices leave room for. Returns how
  // much that is in all.
  double measure() {
    std::vector<CompensatedSum> offsets(at(problem_.pieces));
    CompensatedRows slope_sums(problem_.pieces, width_ - 1);
    for (const Multiplier& one : multipliers_) {
      for (Index c = 0; c < one.count; ++c) {
        const Term& term = one.terms[at(c)];
        const double* x = problem_.points.row(term.row).data();
        for (const double part : {term.sign * one.high, term.sign * one.low}) {
          if (part == 0) continue;
          offsets[at(own(term.row))].add(part);
          offsets[at(term.piece)].add(-part);
          slope_sums.add_to_row(own(term.row), part, x);
          slope_sums.add_to_row(term.piece, -part, x);
        }
      }
    }
    const Matrix slopes = slope_sums.values();
    double excess = 0;
    for (Index k = 0; k < problem_.pieces; ++k) {
      residual_(k, 0) = offsets[at(k)].value();
      double worst = std::abs(residual_(k, 0)) * unit_.maxCoeff();
      for (Index j = 0; j + 1 < width_; ++j) {
        const double derivative = slopes(k, j) - residual_(k, 0) * center_(j);
        const double room = price_(k) - std::abs(derivative);
        residual_(k, j + 1) = room >= 0 ? 0 : std::copysign(-room, derivative) / unit_(j);
        slack_(k, j + 1) = std::max(room, 0.0) / unit_(j);
        worst = std::max(worst, -room);
      }
      excess += worst;
    }
    return excess;
  }

  // One round, which is undone where it gains nothing.
  bool gains_much(double& excess) {
    const std::vector<Multiplier> before = multipliers_;
    move();
    const double after = measure();
    const bool much = after <= kWorthwhile * excess;
    if (after < excess) {
      excess = after;
    } else {
      multipliers_ = before;
      measure();
    }
    return much;
  }

  // sum w m m' + diag(slack), scaled to a diagonal of ones; m is what a multiplier adds to the derivatives.
  bool factor() {
    using std::sqrt;
    normal_.setZero(problem_.pieces * width_, problem_.pieces * width_);
    for (Multiplier& one : multipliers_) {
      one.weight = one.room();
      if (one.weight > 0) add_outer(one);
    }
    scale_.resize(normal_.rows());
    for (Index u = 0; u < scale_.size(); ++u) {
      normal_(u, u) += Number(slack_(u / width_, u % width_));
      scale_(u) = normal_(u, u) > Number(0) ? Number(1) / sqrt(normal_(u, u)) : Number(0);
    }
    for (Index u = 0; u < scale_.size(); ++u) {
      for (Index v = 0; v < u; ++v) normal_(u, v) *= scale_(u) * scale_(v);
      normal_(u, u) = Number(1) + Number(Factor<Number>::kRidge);
    }
    return factor_.compute(normal_);
  }

  // Blocks on and below the diagonal, which is what is factored.
  void add_outer(const Multiplier& one) {
    for (Index c = 0; c < one.count; ++c) {
      for (Index e = 0; e < one.count; ++e) {
        const Term &a = one.terms[at(c)], &b = one.terms[at(e)];
        outer_.noalias() = rows_.row(a.row).transpose() * rows_.row(b.row) * Number(one.weight * a.sign * b.sign);
        const std::array<Index, 2> of_a = {own(a.row), a.piece}, of_b = {own(b.row), b.piece};
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

  void move() {
    Numbers u(scale_.size());
    for (Index v = 0; v < u.size(); ++v) u(v) = scale_(v) * Number(residual_(v / width_, v % width_));
    factor_.solve(normal_, u);
    u = scale_.cwiseProduct(u).eval();
    const auto of_piece = [&](Index piece) { return u.segment(piece * width_, width_); };
    for (Multiplier& one : multipliers_) {
      if (one.weight == 0) continue;
      Number change = 0;
      for (Index c = 0; c < one.count; ++c) {
        const Term& term = one.terms[at(c)];
        const auto row = rows_.row(term.row).transpose();
        change -= Number(term.sign) * (row.dot(of_piece(own(term.row))) - row.dot(of_piece(term.piece)));
      }
      one.change_by(one.weight * static_cast<double>(change));
    }
  }

  // Both parts have to be multipliers.
  static void round_down(Multiplier& one) {
    if (one.low >= 0) return;
    const double rounded = one.high;
    one.high = std::nextafter(one.high, 0.0);
    one.low += rounded - one.high;
  }

  const LearningProblem& problem_;
  const Vector& price_;
  Factor<Number> factor_;
  std::vector<Multiplier> multipliers_;  // of the items, then those of convexity
  Index width_;
  Vector center_, unit_;
  Square<Number> rows_;  // 1 and the features, centred and scaled
  Matrix residual_, slack_;
  Square<Number> normal_, outer_;  // normal_: the factor, once there is one
  Numbers scale_;
};

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
  const auto run = [&](auto polish) {
    polish.run(control);
    polish.give(dual);
  };
  if (polish_is_quick(problem)) {
    run(Polish<DoubleDouble>(problem, price_of_piece, dual));
  } else {
    run(Polish<double>(problem, price_of_piece, dual));
  }
}

}  // namespace bregmax::internal
