#include "bregmax/divergence/embedding.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/point_scores.hpp"
#include "bregmax/divergence/squared_euclidean.hpp"
#include "divergence/checks.hpp"

namespace bregmax {
namespace {

class EmbeddedReferenceSet final : public ScoringReferenceSet {
 public:
  EmbeddedReferenceSet(const EmbeddingDivergence& divergence, const MatrixView& references)
      : divergence_(divergence), embedded_(squared_euclidean_.prepare(divergence.embed(references))) {}

  Index size() const override { return embedded_->size(); }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    embedded_->divergences_from(divergence_.embed(points), out);
  }

  std::unique_ptr<PointScores> scores_of(const MatrixView& points) const override {
    return bregmax::scores_of(*embedded_, divergence_.embed(points));
  }

 private:
  const EmbeddingDivergence& divergence_;
  SquaredEuclidean squared_euclidean_;
  std::unique_ptr<ReferenceSet> embedded_;
};

}  // namespace

Matrix EmbeddingDivergence::embed(const MatrixView& rows) const {
  check_points(rows);
  return map(rows);
}

Vector EmbeddingDivergence::generator_values(const MatrixView& points) const {
  return embed(points).rowwise().squaredNorm();
}

Matrix EmbeddingDivergence::gradients(const MatrixView&) const {
  throw Error(fmt::format("a {} divergence has no gradient in the features; embed the rows first", name()));
}

void EmbeddingDivergence::check_points(const MatrixView& points) const {
  internal::check_rows(points, dimension(), name(), RowRole::kPoint);
}

void EmbeddingDivergence::check_references(const MatrixView& references) const {
  internal::check_rows(references, dimension(), name(), RowRole::kReference);
}

double EmbeddingDivergence::value(const VectorView& point, const VectorView& reference) const {
  check_points(internal::as_row(point));
  check_references(internal::as_row(reference));
  return (map(internal::as_row(point)) - map(internal::as_row(reference))).squaredNorm();
}

std::unique_ptr<ReferenceSet> EmbeddingDivergence::prepare(const MatrixView& references) const {
  check_references(references);
  return std::make_unique<EmbeddedReferenceSet>(*this, references);
}

}  // namespace bregmax
