#pragma once

#include <memory>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// A block of points that is measured against one range of references after another, for searches that look at every
// divergence once and keep few of them.
class PointScores {
 public:
  virtual ~PointScores() = default;
  // out(p, r) = D(point p, reference first + r) up to a number of the point alone, which does not change the order of
  // its references; out has a row for every point and any number of columns.
  virtual void scores(Index first, MatrixSpan out) const = 0;
  // A number that no score of this point exceeds.
  virtual double bound(Index point) const = 0;
  // The divergence that a score of this point stands for; never negative.
  virtual double divergence(Index point, double score) const = 0;
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
