#include "bregmax/optimize/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "core/compensated_sum.hpp"
#include "core/products.hpp"
#include "optimize/problem/items.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax {
namespace {

using internal::CompensatedRows;
using internal::CompensatedSum;
using internal::DivergenceTerm;
using internal::Item;
using internal::item_of;

constexpr Index kRowBlock = 256;

// phi(x_row) minus the value of the piece there. For rows far from zero both are large and nearly equal.
double divergence_at(const LearningProblem& problem, const Solution& solution, Index row, Index piece) {
  const Index own = problem.piece_of[row];
  CompensatedSum sum;
  sum.add(solution.offsets(own));
  sum.add(-solution.offsets(piece));
  sum.add_dot_difference(problem.points.row(row).data(), solution.slopes.row(own).data(),
                         solution.slopes.row(piece).data(), problem.points.cols());
  return sum.value();
}

// The same for rows begin .. end - 1 and every piece, in plain sums. Callers take blocks, so no n x K array is made.
void set_divergences(const LearningProblem& problem, const Solution& solution, Index begin, Index end, Matrix& block) {
  block.resize(end - begin, problem.pieces);
  internal::set_product_transposed(problem.points.middleRows(begin, end - begin), solution.slopes, block);
  block *= -1;
  block.rowwise() -= solution.offsets.transpose();
  for (Index i = begin; i < end; ++i) {
    const Index own = problem.piece_of[i];
    block.row(i - begin).array() += problem.points.row(i).dot(solution.slopes.row(own)) + solution.offsets(own);
  }
}

// The Lagrangian is linear in the model: sum of slope * D over rows and references, plus a constant. Its derivatives by
// the offsets must vanish; those by the slopes of a piece, g_k, must satisfy sum_k ||g_k||_inf <= lambda, the dual
// norm of max_k ||a_k||_1. Both are small differences of large sums, and lambda may be smaller than the rounding errors
// of plain summation, hence compensated sums.
class Lagrangian {
 public:
  explicit Lagrangian(const LearningProblem& problem)
      : problem_(problem),
        varies_((problem.points.colwise().minCoeff().array() < problem.points.colwise().maxCoeff().array())),
        row_norm_(problem.points.rows()) {
    for (Index i = 0; i < row_norm_.size(); ++i) {
      row_norm_(i) = varies_.select(problem.points.row(i).array().abs(), 0).maxCoeff();
    }
  }

  // Adds coefficient * (phi(x_row) - value of `piece` at x_row).
  void add_divergence(Index row, Index piece, double coefficient) {
    const Index own = problem_.piece_of[row];
    if (own == piece || coefficient == 0) return;
    offset_slope_.add_to_entry(0, own, coefficient);
    offset_slope_.add_to_entry(0, piece, -coefficient);
    const double* x = problem_.points.row(row).data();
    slope_slope_.add_to_row(own, coefficient, x);
    slope_slope_.add_to_row(piece, -coefficient, x);
    count(row, std::abs(coefficient), 1);
  }

  // Adds -coefficients(k) * (phi(x_row) - value of piece k at x_row) of every piece k but the row's own.
  void subtract_divergences(Index row, VectorSpan coefficients) {
    const Index own = problem_.piece_of[row];
    coefficients(own) = 0;
    const double* x = problem_.points.row(row).data();
    offset_slope_.add_to_row(0, 1, coefficients.data());
    slope_slope_.add_to_rows(coefficients.data(), x);
    CompensatedSum sum;
    sum.add_all(coefficients.data(), problem_.pieces);
    for (const double part : {sum.high(), sum.low()}) {
      offset_slope_.add_to_entry(0, own, -part);
      slope_slope_.add_to_row(own, -part, x);
    }
    count(row, coefficients.lpNorm<1>(), problem_.pieces);
  }

  // Balances the derivatives by the offsets with further non-negative multipliers of convexity: each one moves weight
  // from the piece of its row to another, at a cost proportional to their distance.
  void balance_offsets() {
    std::vector<Index> row_on(problem_.pieces, 0);
    for (Index i = problem_.points.rows() - 1; i >= 0; --i) row_on[problem_.piece_of[i]] = i;
    // A round leaves only rounding errors, which the next one balances.
    for (int round = 0; round < kMostRounds; ++round) {
      for (Index from = 0; from < problem_.pieces; ++from) {
        for (double weight = 0; (weight = offset_slope_.value(0, from)) > 0;) {
          const Index to = nearest_deficit(row_on, from);
          if (to < 0) break;  // the sum over all pieces is zero up to rounding
          add_divergence(row_on[from], to, -std::min(weight, -offset_slope_.value(0, to)));
        }
      }
    }
  }

  // An upper bound on sum_k ||g_k||_inf, by which the Lagrangian can fall per unit of the Lipschitz constant, including
  // rounding errors. Constant features do not count: with balanced offsets, shifting the rows changes nothing. What is
  // left of an imbalance is multiplied by the largest row: two pieces of a convex model differ by no more at rows.
  double dual_norm() const {
    const Matrix slopes = slope_slope_.values();
    double norm = 0;
    for (Index k = 0; k < problem_.pieces; ++k) {
      norm += varies_.select(slopes.row(k).array().abs(), 0).maxCoeff();
    }
    const double digits = terms_ * 0x1p-53, widest = row_norm_.size() > 0 ? row_norm_.maxCoeff() : 0;
    const double leftover = offset_slope_.values().cwiseAbs().sum() + digits * digits * weight_;
    return norm * (1 + 4 * static_cast<double>(problem_.pieces) * 0x1p-53) + digits * digits * magnitude_ +
           leftover * widest;
  }

 private:
  static constexpr int kMostRounds = 3;

  void count(Index row, double coefficients, Index terms) {
    weight_ += 2 * coefficients;
    magnitude_ += 2 * coefficients * row_norm_(row);
    terms_ += 2 * static_cast<double>(terms);
  }

  Index nearest_deficit(const std::vector<Index>& row_on, Index from) const {
    Index best = -1;
    double best_distance = 0;
    for (Index to = 0; to < problem_.pieces; ++to) {
      if (offset_slope_.value(0, to) >= 0) continue;
      const double distance =
          (problem_.points.row(row_on[from]) - problem_.points.row(row_on[to])).lpNorm<Eigen::Infinity>();
      if (best < 0 || distance < best_distance) {
        best = to;
        best_distance = distance;
      }
    }
    return best;
  }

  const LearningProblem& problem_;
  CompensatedRows offset_slope_{1, problem_.pieces};
  CompensatedRows slope_slope_{problem_.pieces, problem_.points.cols()};
  Eigen::Array<bool, 1, Eigen::Dynamic> varies_;   // per feature
  Vector row_norm_;                                // largest of the features that vary
  double weight_ = 0, magnitude_ = 0, terms_ = 0;  // sums of coefficients, of these times rows, of terms
};

// A double-double number, high + low.
struct Slope {
  double high, low;
  double value() const { return high + low; }
};

// The dual variable of an item in the solution; 0 if it is missing, which proves nothing about the item.
Slope given_slope(const DualSolution& dual, Index t) {
  const auto part = [&](const Vector& items) { return t < items.size() ? items(t) : 0.0; };
  return {part(dual.items), part(dual.items_low)};
}

// The same, clamped to 0 .. weight.
Slope hinge_slope(const DualSolution& dual, Index t, double weight) {
  const Slope slope = given_slope(dual, t);
  if (slope.value() <= 0) return {0, 0};
  if (slope.value() >= weight) return {weight, std::min(0.0, slope.low - (weight - slope.high))};
  return slope;
}

// The loss of the items under the model, and their part of the dual function theta -> theta linear - theta^2 quadratic.
struct ItemSums {
  CompensatedSum loss, linear, quadratic;
  double zero_loss = 0;

  // plus, minus: the item's divergences, 0 for a term that it does not have.
  void add_hinge(const Item& item, double plus, double minus) {
    loss.add(item.weight * std::max(0.0, item.margin + plus - minus));
    zero_loss += item.zero_loss();
  }
};

ItemSums add_items(const LearningProblem& problem, const Solution& solution, Lagrangian& lagrangian) {
  ItemSums sums;
  const auto divergence = [&](const DivergenceTerm& d) {
    return d.exists() ? divergence_at(problem, solution, d.point, problem.piece_of[d.reference]) : 0.0;
  };
  const auto add = [&](const DivergenceTerm& d, double sign, const Slope& slope) {
    if (!d.exists()) return;
    lagrangian.add_divergence(d.point, problem.piece_of[d.reference], sign * slope.high);
    lagrangian.add_divergence(d.point, problem.piece_of[d.reference], sign * slope.low);
  };
  internal::for_each_item(problem.supervision, [&](Index t, const Item& item) {
    Slope slope{0, 0};
    if (item.squared) {
      const double miss = divergence(item.plus) - item.value;
      sums.loss.add(item.weight * miss * miss);
      sums.zero_loss += item.zero_loss();
      // w (D - y)^2 = max over slope of slope (D - y) - slope^2 / (4 w)
      if (item.weight > 0) slope = given_slope(solution.dual, t);
      sums.linear.add_product(-slope.value(), item.value);
      if (item.weight > 0) sums.quadratic.add(slope.value() * slope.value() / (4 * item.weight));
    } else {
      sums.add_hinge(item, divergence(item.plus), divergence(item.minus));
      slope = hinge_slope(solution.dual, t, item.weight);
      sums.linear.add(item.margin * slope.value());
    }
    add(item.plus, 1, slope);
    add(item.minus, -1, slope);
  });
  return sums;
}

// All label pairs, a block of rows at a time, with dual variables by row or without dual variables.
ItemSums add_label_pairs(const LearningProblem& problem, const Solution& solution, Lagrangian& lagrangian) {
  const auto& pairs = std::get<LabelPairs>(problem.supervision);
  const bool proves = static_cast<bool>(solution.dual.by_row);
  ItemSums sums;
  Matrix divergences, coefficients;
  for (Index begin = 0; begin < pairs.rows(); begin += kRowBlock) {
    const Index end = std::min(pairs.rows(), begin + kRowBlock);
    set_divergences(problem, solution, begin, end, divergences);
    coefficients.setZero(end - begin, problem.pieces);
    if (proves) solution.dual.by_row(begin, end, coefficients);
    for (Index i = begin; i < end; ++i) {
      for (Index j = 0; j < pairs.rows(); ++j) {
        double& coefficient = coefficients(i - begin, problem.piece_of[j]);
        const Pair pair = pairs.pair(i, j);
        const double dual = std::max(0.0, coefficient);
        coefficient = i == j ? 0 : pair.similar ? dual - pair.weight : dual;
        if (i == j) continue;
        const double divergence = divergences(i - begin, problem.piece_of[j]);
        sums.add_hinge(item_of(pair), pair.similar ? divergence : 0, pair.similar ? 0 : divergence);
        if (!pair.similar) sums.linear.add(2 * std::min(dual, pair.weight));
      }
    }
    for (Index i = begin; proves && i < end; ++i) {
      lagrangian.subtract_divergences(i, coefficients.row(i - begin).transpose());
    }
  }
  return sums;
}

double largest_convexity_violation(const LearningProblem& problem, const Solution& solution) {
  const Index rows = problem.points.rows();
  double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest) if (rows * problem.pieces > 100'000)
  for (Index begin = 0; begin < rows; begin += kRowBlock) {
    Matrix divergences;
    set_divergences(problem, solution, begin, std::min(rows, begin + kRowBlock), divergences);
    largest = std::max(largest, -divergences.minCoeff());
  }
  return largest > 0 ? largest : 0;  // not -0, which a reduction may make of it
}

// The best lower bound along the ray theta * (multipliers), theta in [0, limit].
double best_along_ray(double linear, double quadratic, double limit) {
  double theta = limit;
  if (quadratic > 0) theta = std::clamp(linear / (2 * quadratic), 0.0, limit);
  return theta * linear - theta * theta * quadratic;
}

void add_convexity(const DualSolution& dual, Lagrangian& lagrangian) {
  Vector coefficients;
  for (Index i = 0; i < dual.convexity.rows(); ++i) {
    coefficients = (dual.convexity.row(i).transpose().array() > 0).select(dual.convexity.row(i).transpose(), 0);
    lagrangian.subtract_divergences(i, coefficients);
  }
  for (const ConvexityMultiplier& entry : dual.entries) {
    lagrangian.add_divergence(entry.row, entry.piece, -std::max(0.0, entry.value));
  }
}

}  // namespace

Certificate certify(const LearningProblem& problem, const Solution& solution) {
  const double lipschitz = lipschitz_of(solution);
  const bool unbounded = !std::isfinite(problem.lipschitz_bound) && lipschitz > 0;
  const double radius = unbounded ? internal::kCertifiedRadius * lipschitz : problem.lipschitz_bound;
  Certificate certificate = internal::certify_bounds(problem, solution, radius);
  certificate.convexity_violation = largest_convexity_violation(problem, solution);
  return certificate;
}

Certificate internal::certify_bounds(const LearningProblem& problem, const Solution& solution, double radius) {
  Certificate certificate;
  Lagrangian lagrangian(problem);
  const bool by_rows = std::holds_alternative<LabelPairs>(problem.supervision) && solution.dual.items.size() == 0;
  const ItemSums sums =
      by_rows ? add_label_pairs(problem, solution, lagrangian) : add_items(problem, solution, lagrangian);
  add_convexity(solution.dual, lagrangian);
  lagrangian.balance_offsets();
  certificate.lipschitz = lipschitz_of(solution);
  certificate.loss = sums.loss.value();
  certificate.objective = certificate.loss + problem.lambda * certificate.lipschitz;

  // Two ways to a bound. Shrinking all multipliers until sum_k ||g_k||_inf <= lambda gives a bound for every model.
  // Subtracting the excess times a Lipschitz constant gives a bound for models up to that constant: the only way if
  // lambda is zero, and the better one if it is not large relative to rounding errors in g. NaN proves nothing.
  const double linear = sums.linear.value(), quadratic = sums.quadratic.value(), norm = lagrangian.dual_norm();
  const double unit = gap_unit(certificate.objective, sums.zero_loss);
  certificate.valid_up_to_lipschitz = problem.lipschitz_bound;
  double bound = 0;  // losses are never negative
  if (norm <= problem.lambda) {
    bound = std::max(bound, linear - quadratic);
  } else if (std::isfinite(norm)) {
    if (problem.lambda > 0) bound = std::max(bound, best_along_ray(linear, quadratic, problem.lambda / norm));
    const double within = linear - quadratic - radius * (norm - problem.lambda);
    if (std::isfinite(radius) && within > bound + 1e-9 * unit) {
      bound = within;
      certificate.valid_up_to_lipschitz = radius;
    }
  }
  certificate.lower_bound = bound;
  certificate.relative_gap = relative_gap(certificate.objective, bound, sums.zero_loss);
  return certificate;
}

}  // namespace bregmax
