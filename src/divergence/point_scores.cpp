#include "divergence/point_scores.hpp"

#include <utility>

namespace bregmax {
namespace {

// Divergences as scores.
class MeasuredScores final : public PointScores {
 public:
  explicit MeasuredScores(Matrix divergences) : divergences_(std::move(divergences)) {}

  // A MatrixSpan is a view, passed by value as everywhere. NOLINTNEXTLINE(performance-unnecessary-value-param)
  void scores(Index first, MatrixSpan out) const override { out = divergences_.middleCols(first, out.cols()); }
  double bound(Index point) const override { return divergences_.row(point).maxCoeff(); }
  double point_part(Index) const override { return 0; }

 private:
  Matrix divergences_;
};

}  // namespace

std::unique_ptr<PointScores> scores_of(const ReferenceSet& references, const MatrixView& points) {
  if (const auto* scoring = dynamic_cast<const ScoringReferenceSet*>(&references)) return scoring->scores_of(points);
  Matrix divergences(points.rows(), references.size());
  references.divergences_from(points, divergences);
  return std::make_unique<MeasuredScores>(std::move(divergences));
}

}  // namespace bregmax
