#pragma once

#include <algorithm>
#include <memory>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// A block of points that is measured against one range of references after another, for searches that look at every
// divergence once and keep few of them.
class PointScores {
 public:
  virtual ~PointScores() = default;
  // out(p, r) = D(point p, reference first + r) less point_part(p), which does not change the order of the references;
  // out has one row per point and any number of columns.
  virtual void scores(Index first, MatrixSpan out) const = 0;
  virtual double point_part(Index point) const = 0;
  // A number that no score of this point exceeds.
  virtual double bound(Index point) const = 0;

  // The divergence that a score stands for; never negative.
  static double divergence_of(double score, double point_part) { return std::max(0.0, score + point_part); }
  double divergence(Index point, double score) const { return divergence_of(score, point_part(point)); }
};

// References that have a faster way to scores than to divergences.
class ScoringReferenceSet : public ReferenceSet {
 public:
  virtual std::unique_ptr<PointScores> scores_of(const MatrixView& points) const = 0;
};

// Scores against any set; where it has no faster way they are divergences. The set must outlive the result, the points
// need not.
std::unique_ptr<PointScores> scores_of(const ReferenceSet& references, const MatrixView& points);

}  // namespace bregmax
