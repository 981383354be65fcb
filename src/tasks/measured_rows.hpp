#pragma once

#include <memory>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// Rows that are measured against one set of centroids after another. What D(row, centroid) needs of the row alone is
// computed once, which for a smoothed max-affine generator is nearly all of the work. Threads may share one.
class MeasuredRows {
 public:
  struct Centroids {
    std::unique_ptr<ReferenceSet> set;  // for generators that are not smooth; the rest is then empty
    Matrix slopes;
    Vector heights;
  };

  // Both must outlive this.
  MeasuredRows(const Divergence& divergence, const Matrix& rows);

  const Matrix& rows() const { return rows_; }
  Centroids prepare(const MatrixView& centroids) const;
  // out(i, c) = D(rows.row(first + i), centroid c), never negative
  void divergences(const Centroids& centroids, Index first, MatrixSpan out) const;

 private:
  const Divergence& divergence_;
  const Matrix& rows_;
  bool smooth_;
  Matrix origin_;           // the mean of the rows, one row
  Matrix slope_at_origin_;  // one row
  Vector heights_;          // D(row, origin)
};

}  // namespace bregmax::internal
