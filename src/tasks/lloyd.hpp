#pragma once

// The two halves of k-means: where the centroids start and how they move.

#include <memory>

#include "bregmax/core/random.hpp"
#include "bregmax/core/run_control.hpp"
#include "bregmax/tasks/kmeans.hpp"

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

// k-means++: the first seed uniformly at random, each further one with probability proportional to its divergence from
// the nearest seed; uniformly among the rows not taken yet once all of these are zero.
Matrix plus_plus_centroids(const MeasuredRows& rows, Index clusters, Random& random);

// Assigns and recomputes the means in turn until the objective stops falling. A stop request is looked at in each
// iteration, after at least one assignment; the run is then returned as it stands.
KMeansRun lloyd(const MeasuredRows& rows, Matrix centroids, int max_iterations, const RunControl& control);

}  // namespace bregmax::internal
