#pragma once

#include <functional>
#include <vector>

#include "optimize/proof/convex_repair.hpp"

namespace bregmax::internal {

// Where pieces meet: for every ordered pair (own, other), the rows on `own` at which `other` comes closest to its value
// or exceeds it the most. The constraints D(row, other) >= 0 of the rows on `own` depend on the difference of two
// pieces only, d + 1 numbers, so few of them can be active together; these rows are the candidates.
//
// One product of rows and pieces, in blocks of rows on several threads. Stores K^2 numbers, never n K.
class PieceBorders {
 public:
  struct Row {
    double divergence;  // value of `own` less value of `other`, at the row
    Index row;          // -1: missing
  };

  // depth: rows per pair, >= 1.
  PieceBorders(Index pieces, Index depth);

  using Skip = std::function<bool(Index row, Index other)>;
  // Finds the lowest divergences below `limit`, except those to be skipped. Ties go to the lower row, so that the
  // result does not depend on the number of threads.
  void find(const LearningProblem& problem, const AffinePieces& pieces, double limit, const Skip& skip = {});

  Index depth() const { return depth_; }
  // Ascending by divergence; those that are missing are last.
  const Row& row(Index own, Index other, Index rank) const { return rows_[(own * pieces_ + other) * depth_ + rank]; }
  double largest_divergence() const { return largest_; }  // of all, at least 0

 private:
  void merge(const PieceBorders& other);
  void look_at(const LearningProblem& problem, const Matrix& values, Index begin, const Skip& skip);
  void insert(Index pair, const Row& found);

  Index pieces_, depth_;
  std::vector<Row> rows_;
  Vector threshold_;  // of each pair: what a divergence must be below to be among its lowest
  double largest_ = 0;
};

}  // namespace bregmax::internal
