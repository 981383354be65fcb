#include "optimize/multiplier_polish.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/compensated_sum.hpp"
#include "optimize/at.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kMostUnknowns = 2500, kFewUnknowns = 200;
constexpr int kMostRounds = 8;
constexpr double kRidge = 1e-13;     // of the diagonal: adding one affine function to all pieces changes nothing
constexpr double kToEnd = 0.99;      // of the way that a multiplier may go to an end of its range
constexpr double kWorthwhile = 0.5;  // what a round leaves of the excess

Index unknowns(const LearningProblem& problem) { return problem.pieces * (problem.points.cols() + 1); }

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

  double value() const { return high + low; }
  double weight() const { return curvature > 0 ? curvature : std::max(0.0, std::min(value(), most - value())); }
};

class Polish {
 public:
  Polish(const LearningProblem& problem, const Vector& price, const DualSolution& dual)
      : problem_(problem),
        price_(price),
        width_(problem.points.cols() + 1),
        residual_(problem.pieces, width_),
        slack_(Matrix::Zero(problem.pieces, width_)) {
    const Matrix& points = problem.points;
    center_ = points.colwise().mean();
    unit_ = (points.rowwise() - center_.transpose()).cwiseAbs().colwise().maxCoeff();
    unit_ = (unit_.array() > 0).select(unit_, 1.0).eval();
    rows_.setOnes(points.rows(), width_);
    rows_.rightCols(width_ - 1) =
        (points.rowwise() - center_.transpose()).array().rowwise() / unit_.transpose().array();
    take_items(dual.items);
    for (Index i = 0; i < points.rows(); ++i) {
      for (Index k = 0; k < problem.pieces; ++k) {
        if (k == own(i) || !(dual.convexity(i, k) > 0)) continue;
        multipliers_.push_back({{Term{i, k, -1}}, 1, dual.convexity(i, k), 0, kNoEnd});
      }
    }
  }

  void run() {
    double excess = measure();
    for (int round = 0; round < kMostRounds && excess > 0 && factor(); ++round) {
      const std::vector<Multiplier> before = multipliers_;
      move();
      const double after = measure();
      if (!(after < excess)) {
        multipliers_ = before;
        break;
      }
      if (after > kWorthwhile * excess) break;
      excess = after;
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

  // sum w m m' + diag(slack), scaled to a diagonal of ones; m is what a multiplier adds to the derivatives.
  bool factor() {
    const Index size = problem_.pieces * width_;
    Matrix normal = Matrix::Zero(size, size);
    for (const Multiplier& one : multipliers_) {
      const double weight = one.weight();
      if (!(weight > 0)) continue;
      for (Index c = 0; c < one.count; ++c) {
        for (Index e = 0; e < one.count; ++e) {
          const Term &a = one.terms[at(c)], &b = one.terms[at(e)];
          const Matrix outer = weight * a.sign * b.sign * rows_.row(a.row).transpose() * rows_.row(b.row);
          normal.block(own(a.row) * width_, own(b.row) * width_, width_, width_) += outer;
          normal.block(a.piece * width_, b.piece * width_, width_, width_) += outer;
          normal.block(own(a.row) * width_, b.piece * width_, width_, width_) -= outer;
          normal.block(a.piece * width_, own(b.row) * width_, width_, width_) -= outer;
        }
      }
    }
    normal.diagonal() += slack_.reshaped<Eigen::RowMajor>();
    scale_ = (normal.diagonal().array() > 0).select(normal.diagonal().array().rsqrt(), 0.0);
    normal = scale_.asDiagonal() * normal * scale_.asDiagonal();
    normal.diagonal().setConstant(1 + kRidge);
    factor_.compute(normal);
    return factor_.info() == Eigen::Success;
  }

  void move() {
    const Vector solution =
        scale_.cwiseProduct(factor_.solve(scale_.cwiseProduct(residual_.reshaped<Eigen::RowMajor>())));
    const Eigen::Map<const Matrix> u(solution.data(), problem_.pieces, width_);
    for (Multiplier& one : multipliers_) {
      double change = 0;
      for (Index c = 0; c < one.count; ++c) {
        const Term& term = one.terms[at(c)];
        change -= term.sign * rows_.row(term.row).dot(u.row(own(term.row)) - u.row(term.piece));
      }
      one.low += one.weight() * (one.curvature > 0 ? change : std::clamp(change, -kToEnd, kToEnd));
    }
  }

  // Both parts have to be multipliers.
  static void round_down(Multiplier& one) {
    CompensatedSum sum;
    sum.add(one.high);
    sum.add(one.low);
    one.high = sum.value();
    sum.add(-one.high);
    if (sum.value() < 0) {
      const double rounded = one.high;
      one.high = std::nextafter(one.high, 0.0);
      sum.add(rounded);
      sum.add(-one.high);
    }
    one.low = sum.value();
  }

  const LearningProblem& problem_;
  const Vector& price_;
  std::vector<Multiplier> multipliers_;  // of the items, then those of convexity
  Index width_;
  Vector center_, unit_;
  Matrix rows_;  // 1 and the features, centred and scaled
  Matrix residual_, slack_;
  Vector scale_;
  Eigen::LLT<Matrix> factor_;
};

}  // namespace

bool can_polish(const LearningProblem& problem) { return unknowns(problem) <= kMostUnknowns; }
bool polish_is_quick(const LearningProblem& problem) { return unknowns(problem) <= kFewUnknowns; }

void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, DualSolution& dual) {
  Polish polish(problem, price_of_piece, dual);
  polish.run();
  polish.give(dual);
}

}  // namespace bregmax::internal
