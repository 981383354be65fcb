#include "optimize/proof/piece_borders.hpp"

#include <algorithm>

#include "optimize/problem/row_blocks.hpp"

namespace bregmax::internal {

PieceBorders::PieceBorders(Index pieces, Index depth)
    : pieces_(pieces), depth_(depth), rows_(pieces * pieces * depth), threshold_(pieces * pieces) {}

void PieceBorders::find(const LearningProblem& problem, const AffinePieces& pieces, double limit, const Skip& skip) {
  std::fill(rows_.begin(), rows_.end(), Row{limit, -1});
  threshold_.setConstant(limit);
  largest_ = 0;
  const PieceBorders empty = *this;
  for_each_row_block(
      problem, pieces, empty,
      [&](PieceBorders& own, const Matrix& values, Index begin) { own.look_at(problem, values, begin, skip); },
      [&](const PieceBorders& own) { merge(own); });
}

void PieceBorders::look_at(const LearningProblem& problem, const Matrix& values, Index begin, const Skip& skip) {
  for (Index i = 0; i < values.rows(); ++i) {
    const Index row = begin + i, own = problem.piece_of[row];
    const auto value = values.row(i).array();
    const double own_value = value(own);
    const double* threshold = threshold_.data() + own * pieces_;
    largest_ = std::max(largest_, own_value - value.minCoeff());
    // Most rows have nothing low: one pass that the compiler can vectorise finds that out.
    const auto low = own_value - value <= Eigen::Map<const Eigen::ArrayXd>(threshold, pieces_).transpose();
    if (low.count() == (low(own) ? 1 : 0)) continue;
    for (Index k = 0; k < pieces_; ++k) {
      if (k == own || own_value - value(k) > threshold[k] || (skip && skip(row, k))) continue;
      insert(own * pieces_ + k, {own_value - value(k), row});
    }
  }
}

void PieceBorders::insert(Index pair, const Row& found) {
  Row* lowest = rows_.data() + pair * depth_;
  // A row that is missing has the limit as its divergence and precedes nothing.
  const auto precedes = [&](const Row& held) {
    if (held.row < 0 || found.divergence != held.divergence) return found.divergence < held.divergence;
    return found.row < held.row;
  };
  if (!precedes(lowest[depth_ - 1])) return;
  Index place = depth_ - 1;
  for (; place > 0 && precedes(lowest[place - 1]); --place) lowest[place] = lowest[place - 1];
  lowest[place] = found;
  threshold_(pair) = lowest[depth_ - 1].divergence;
}

void PieceBorders::merge(const PieceBorders& other) {
  largest_ = std::max(largest_, other.largest_);
  for (Index pair = 0; pair < pieces_ * pieces_; ++pair) {
    for (Index rank = 0; rank < depth_; ++rank) {
      const Row& found = other.rows_[pair * depth_ + rank];
      if (found.row >= 0) insert(pair, found);
    }
  }
}

}  // namespace bregmax::internal
