#pragma once

#include <vector>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// A cutting plane of metric learning to rank, averaged over the queries: loss(W) >= offset - <W, slope> for every W,
// with equality at the W that it was found for.
struct RankingCut {
  Matrix slope;
  double offset = 0;
};

// The rankings that violate most under a metric, for every row as a query.
class RankingQueries {
 public:
  // Rows that have no other row of their class, or only such, query nothing; at least one must.
  RankingQueries(const MatrixView& rows, const ClassOfRow& class_of_row);

  RankingCut most_violated(const Matrix& metric) const;

 private:
  Matrix rows_;  // centred: differences are the same, and their squares lose fewer digits
  ClassOfRow class_of_row_;
  Index queries_ = 0;
};

}  // namespace bregmax::internal
