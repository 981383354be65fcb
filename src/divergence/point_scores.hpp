#pragma once

#include <algorithm>
#include <functional>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// A block of points that is measured against one range of references after another, for searches that look at every
// divergence once and keep few of them.
struct PointScores {
  // out(p, r) = D(point p, reference first + r) less point_part(p), which does not change the order of the references;
  // out has one row per point and any number of columns.
  std::function<void(Index first, MatrixSpan out)> scores;
  Vector point_part;
  Vector bound;  // no score of the point exceeds it

  // The divergence that a score stands for; never negative.
  static double divergence_of(double score, double point_part) { return std::max(0.0, score + point_part); }
  double divergence(Index point, double score) const { return divergence_of(score, point_part(point)); }
};

// References that have a faster way to scores than to divergences.
class ScoringReferenceSet : public ReferenceSet {
 public:
  virtual PointScores scores_of(const MatrixView& points) const = 0;
};

// Scores against any set; where it has no faster way they are divergences. The set must outlive the result, the points
// need not.
PointScores scores_of(const ReferenceSet& references, const MatrixView& points);

}  // namespace bregmax::internal
