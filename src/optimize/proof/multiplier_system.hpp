#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"
#include "core/compensated_sum.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {

// sign * D(row, piece) in the Lagrangian.
struct Term {
  Index row, piece;
  double sign;
};

// One multiplier: high + low, between 0 and `most`, times the sum of its terms.
struct Multiplier {
  static constexpr double kToEnd = 0.99;  // of the way to an end of its range: at most this in one step
  static constexpr double kNoEnd = std::numeric_limits<double>::infinity();

  std::array<Term, 2> terms;
  Index count;
  double high, low, most;
  double curvature = 0;  // 0: between 0 and `most`; else free, and a change costs change^2 / curvature

  bool is_free() const { return curvature > 0; }
  // How far it may go.
  double room() const {
    const double value = high + low;
    return is_free() ? curvature : std::max(0.0, std::min(value, most - value));
  }
  void change_by(double change) {
    if (!is_free()) change = std::clamp(change, -kToEnd * room(), kToEnd * room());
    CompensatedSum sum;
    for (const double part : {high, low, change}) sum.add(part);
    high = sum.value();
    sum.add(-high);
    low = sum.value();
  }
};

// The multipliers of a problem, and the derivatives of its Lagrangian by the pieces. Number is the type in which rows
// are stored.
template <class Number>
class MultiplierSystem {
 public:
  using Rows = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  MultiplierSystem(const LearningProblem& problem, const Vector& price, const DualSolution& dual)
      : problem_(problem), price_(price) {
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
        multipliers.push_back({{Term{i, k, -1}}, 1, dual.convexity(i, k), 0, Multiplier::kNoEnd});
      }
    }
  }

  std::vector<Multiplier> multipliers;  // of the items, then those of convexity

  Index own(Index row) const { return problem_.piece_of[row]; }
  Index width() const { return width_; }  // unknowns of a piece: its offset and its slopes
  Index unknowns() const { return problem_.pieces * width_; }
  const Rows& rows() const { return rows_; }  // 1 and the features, centred and scaled

  // Of the last measure(), in units of the rows: a derivative's excess over its price, and the room below it.
  double residual(Index unknown) const { return residual_(unknown / width_, unknown % width_); }
  double slack(Index unknown) const { return slack_(unknown / width_, unknown % width_); }

  // Calls each(row, piece, sign) for both pieces of each term of a multiplier.
  template <class Each>
  void for_each_piece(const Multiplier& one, const Each& each) const {
    for (Index c = 0; c < one.count; ++c) {
      const Term& term = one.terms[c];
      each(term.row, own(term.row), term.sign);
      each(term.row, term.piece, -term.sign);
    }
  }

  // Sets residuals and slacks. Returns the sum over the pieces of the largest excess of their derivatives.
  double measure() {
    std::vector<CompensatedSum> offsets(problem_.pieces);
    CompensatedRows slope_sums(problem_.pieces, width_ - 1);
    for (const Multiplier& one : multipliers) {
      for_each_piece(one, [&](Index row, Index piece, double sign) {
        for (const double part : {sign * one.high, sign * one.low}) {
          if (part == 0) continue;
          offsets[piece].add(part);
          slope_sums.add_to_row(piece, part, problem_.points.row(row).data());
        }
      });
    }
    const Matrix slopes = slope_sums.values();
    double excess = 0;
    for (Index k = 0; k < problem_.pieces; ++k) {
      residual_(k, 0) = offsets[k].value();
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

  void give(DualSolution& dual) {
    const Index items = dual.items.size();
    dual.items_low.resize(items);
    dual.convexity.setZero();
    dual.entries.clear();
    for (Index t = 0; t < std::ssize(multipliers); ++t) {
      Multiplier& one = multipliers[t];
      if (t < items) {
        dual.items(t) = one.high;
        dual.items_low(t) = one.low;
        continue;
      }
      round_down(one);
      dual.convexity(one.terms[0].row, one.terms[0].piece) = one.high;
      if (one.low > 0) dual.entries.push_back({one.terms[0].row, one.terms[0].piece, one.low});
    }
  }

 private:
  void take_items(const Vector& items) {
    for_each_item(problem_.supervision, [&](Index t, const Item& item) {
      Multiplier one{{}, 0, items(t), 0, item.squared ? Multiplier::kNoEnd : item.weight};
      if (item.squared) one.curvature = 2 * item.weight;
      const auto add = [&](const DivergenceTerm& d, double sign) {
        if (d.exists()) one.terms[one.count++] = {d.point, problem_.piece_of[d.reference], sign};
      };
      add(item.plus, 1);
      add(item.minus, -1);
      multipliers.push_back(one);
    });
  }

  // Makes the low part non-negative, since both parts are returned as multipliers.
  static void round_down(Multiplier& one) {
    if (one.low >= 0) return;
    const double rounded = one.high;
    one.high = std::nextafter(one.high, 0.0);
    one.low += rounded - one.high;
  }

  const LearningProblem& problem_;
  const Vector& price_;
  Index width_ = problem_.points.cols() + 1;
  Vector center_, unit_;
  Rows rows_;
  Matrix residual_ = Matrix::Zero(problem_.pieces, width_), slack_ = residual_;
};

// Takes one round of steps, and undoes it if it gains nothing. Returns whether it leaves at most half of the excess.
template <class Number, class Steps>
bool take_round(MultiplierSystem<Number>& system, Steps& steps, double& excess) {
  constexpr double kMuch = 0.5;
  const std::vector<Multiplier> before = system.multipliers;
  steps.move();
  const double after = system.measure();
  const bool much = after <= kMuch * excess;
  if (after < excess) {
    excess = after;
  } else {
    system.multipliers = before;
    system.measure();
  }
  return much;
}

// Derivatives are computed with compensated sums, but steps are less accurate. So rounds with one factorization are
// repeated as long as they gain much. Returns the excess that is left.
template <class Number, class Steps>
double take_rounds(MultiplierSystem<Number>& system, Steps steps, const RunControl& control) {
  constexpr int kMostRounds = 12;
  double excess = system.measure();
  for (int round = 0; excess > 0 && round < kMostRounds;) {
    if (control.stop_requested() || !steps.factor()) break;
    bool gained = false;
    while (excess > 0 && round++ < kMostRounds && !control.stop_requested() && take_round(system, steps, excess)) {
      gained = true;
    }
    if (!gained) break;
  }
  return excess;
}

}  // namespace bregmax::internal
