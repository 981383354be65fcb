#include "optimize/proof/convex_repair.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/products.hpp"
#include "optimize/problem/items.hpp"
#include "optimize/problem/row_blocks.hpp"
#include "optimize/proof/piece_borders.hpp"

namespace bregmax::internal {
namespace {

constexpr double kRounding = 1e-11;  // relative to the largest divergence
constexpr int kMostSweeps = 40;
constexpr double kLead = 3e-14;      // relative to the value at the row: three times the limit of a tie
constexpr double kSamePiece = 1e-7;  // difference of slopes, relative to the largest

// Calls each(values of a block of rows, first row, end), blocks on several threads.
template <class Each>
void for_each_block(const LearningProblem& problem, const AffinePieces& pieces, const Each& each) {
  struct Nothing {};
  for_each_row_block(
      problem, pieces, Nothing{},
      [&](const Nothing&, const Matrix& values, Index begin) { each(values, begin, begin + values.rows()); },
      [](const Nothing&) {});
}

// Where the tangents touch, less the mean of all rows: at the centres of the pieces or, where those are not known, at
// the means of their rows.
Matrix tangent_points(const LearningProblem& problem, const Vector& mean) {
  Matrix point = Matrix::Zero(problem.pieces, problem.points.cols());
  if (!problem.centres.empty()) {
    for (Index k = 0; k < problem.pieces; ++k) {
      point.row(k) = problem.points.row(problem.centres[k]) - mean.transpose();
    }
    return point;
  }
  Vector count = Vector::Zero(problem.pieces);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    point.row(problem.piece_of[i]) += problem.points.row(i) - mean.transpose();
    count(problem.piece_of[i]) += 1;
  }
  point.array().colwise() /= count.array();
  return point;
}

// Tangents of the squared distance: the one that assigned rows to centres or, without centres, that of features
// divided by their deviation.
AffinePieces tangents(const LearningProblem& problem) {
  const Matrix& points = problem.points;
  const auto rows = static_cast<double>(points.rows());
  Vector mean = Vector::Zero(points.cols()), variance = mean;
  for (Index i = 0; i < points.rows(); ++i) mean += points.row(i).transpose() / rows;
  for (Index i = 0; i < points.rows(); ++i) variance += (points.row(i).transpose() - mean).cwiseAbs2() / rows;
  const Matrix point = tangent_points(problem, mean);
  Vector feature_weight = Vector::Ones(points.cols());
  if (problem.centres.empty()) feature_weight = (variance.array() > 0).select(variance.cwiseInverse(), 0.0);
  AffinePieces tangent;
  tangent.slopes = point * feature_weight.asDiagonal();
  tangent.offsets = -0.5 * point.cwiseProduct(tangent.slopes).rowwise().sum() - apply(tangent.slopes, mean);
  const double lipschitz = lipschitz_of(tangent);
  if (lipschitz > 0 && std::isfinite(lipschitz)) {
    tangent.slopes /= lipschitz;
    tangent.offsets /= lipschitz;
  } else {
    tangent.slopes.setZero();
    tangent.offsets.setZero();
  }
  return tangent;
}

}  // namespace

ConvexRepair::ConvexRepair(const LearningProblem& problem) : problem_(problem), interior_(tangents(problem)) {}

ConvexRepair::Sweep ConvexRepair::sweep(const AffinePieces& pieces) const {
  Vector lack(problem_.points.rows()), reach(problem_.points.rows());
  for_each_block(problem_, pieces, [&](const Matrix& values, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto row = values.row(i - begin);
      const double own = row(problem_.piece_of[i]);
      lack(i) = row.maxCoeff() - own;
      reach(i) = own - row.minCoeff();
    }
  });
  Sweep result{Vector::Zero(problem_.pieces), std::max(0.0, reach.maxCoeff())};
  for (Index i = 0; i < lack.size(); ++i) {
    double& raise = result.raise(problem_.piece_of[i]);
    raise = std::max(raise, lack(i));
  }
  return result;
}

ConvexRepair::Violation ConvexRepair::violation(const AffinePieces& pieces) const {
  const Sweep found = sweep(pieces);
  return {found.raise.maxCoeff(), found.scale};
}

bool ConvexRepair::repair(double part, AffinePieces& pieces) const {
  if (part > 0) {
    // The tangents are scaled to the model's Lipschitz constant, so that the mixture's is not larger.
    const double lipschitz = lipschitz_of(pieces);
    pieces.slopes = (1 - part) * pieces.slopes + part * lipschitz * interior_.slopes;
    pieces.offsets = (1 - part) * pieces.offsets + part * lipschitz * interior_.offsets;
  }
  return problem_.pieces < problem_.points.rows() ? raise_by_borders(pieces) : raise_by_sweeps(pieces);
}

// The least raises with raise_o >= raise_k + (largest excess of piece k over o at the rows of o): longest paths by
// Bellman-Ford. If raises still change after as many rounds as there are pieces, there is a positive cycle.
bool ConvexRepair::raise_by_borders(AffinePieces& pieces) const {
  PieceBorders borders(problem_.pieces, 1);
  borders.find(problem_, pieces, std::numeric_limits<double>::infinity());
  const double rounding = kRounding * borders.largest_divergence();
  Vector raise = Vector::Zero(problem_.pieces);
  bool rising = true;
  for (Index round = 0; rising && round <= problem_.pieces; ++round) {
    rising = false;
    for (Index own = 0; own < problem_.pieces; ++own) {
      for (Index other = 0; other < problem_.pieces; ++other) {
        const PieceBorders::Row& worst = borders.row(own, other, 0);
        if (worst.row < 0 || !(raise(other) - worst.divergence > raise(own) + rounding)) continue;
        raise(own) = raise(other) - worst.divergence;
        rising = true;
      }
    }
  }
  pieces.offsets += raise;
  return !rising;
}

bool ConvexRepair::raise_by_sweeps(AffinePieces& pieces) const {
  double before = 0;
  for (int step = 0; step < kMostSweeps; ++step) {
    const Sweep now = sweep(pieces);
    const double lack = now.raise.maxCoeff();
    if (lack <= kRounding * now.scale) return true;
    // A violation that does not shrink moves around a cycle of pieces.
    if (step % 8 == 7 && lack > 0.9 * before) return false;
    if (step % 8 == 0) before = lack;
    pieces.offsets += now.raise;
  }
  return violation(pieces).feasible();
}

bool ConvexRepair::own_pieces_lead(const AffinePieces& pieces) const {
  const double same = kSamePiece * lipschitz_of(pieces);
  std::vector<std::vector<Index>> rows_on(problem_.pieces);
  for (Index i = 0; i < problem_.points.rows(); ++i) rows_on[problem_.piece_of[i]].push_back(i);
  const auto counts = [&](Index row, Index own, Index other) {
    if ((pieces.slopes.row(other) - pieces.slopes.row(own)).lpNorm<1>() <= same) return false;
    return std::none_of(rows_on[other].begin(), rows_on[other].end(),
                        [&](Index there) { return problem_.points.row(there) == problem_.points.row(row); });
  };
  std::atomic<bool> lead = true;
  for_each_block(problem_, pieces, [&](const Matrix& values, Index begin, Index end) {
    for (Index i = begin; i < end && lead; ++i) {
      const Index own = problem_.piece_of[i];
      const double least = values(i - begin, own) - kLead * (1 + std::abs(values(i - begin, own)));
      for (Index k = 0; k < problem_.pieces; ++k) {
        if (values(i - begin, k) > least && k != own && counts(i, own, k)) lead = false;
      }
    }
  });
  return lead;
}

void ConvexRepair::take_over(AffinePieces& pieces) const {
  const AffinePieces before = pieces;
  for_each_block(problem_, before, [&](const Matrix& values, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Index largest = 0;
      const Index own = problem_.piece_of[i];
      if (values.row(i - begin).maxCoeff(&largest) <= values(i - begin, own)) continue;
      pieces.slopes.row(own) = before.slopes.row(largest);
      pieces.offsets(own) = before.offsets(largest);
    }
  });
}

}  // namespace bregmax::internal
