#include "divergence/point_scores.hpp"

namespace bregmax::internal {

PointScores scores_of(const ReferenceSet& references, const MatrixView& points) {
  if (const auto* scoring = dynamic_cast<const ScoringReferenceSet*>(&references)) return scoring->scores_of(points);
  auto divergences = std::make_shared<Matrix>(points.rows(), references.size());
  references.divergences_from(points, *divergences);
  return {[divergences](Index first, MatrixSpan out) { out = divergences->middleCols(first, out.cols()); },
          Vector::Zero(points.rows()), divergences->rowwise().maxCoeff()};
}

}  // namespace bregmax::internal
