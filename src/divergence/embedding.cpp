#include "bregmax/divergence/embedding.hpp"

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/network_embedding.hpp"
#include "bregmax/divergence/tree_embedding.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "core/text.hpp"
#include "divergence/checks.hpp"
#include "divergence/point_scores.hpp"

namespace bregmax {
namespace {

class EmbeddedReferenceSet final : public internal::ScoringReferenceSet {
 public:
  EmbeddedReferenceSet(const EmbeddingDivergence& divergence, const MatrixView& references)
      : divergence_(divergence), embedded_(divergence.inner().prepare(divergence.embed(references))) {}

  Index size() const override { return embedded_->size(); }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    embedded_->divergences_from(divergence_.embed(points), out);
  }

  internal::PointScores scores_of(const MatrixView& points) const override {
    return internal::scores_of(*embedded_, divergence_.embed(points));
  }

 private:
  const EmbeddingDivergence& divergence_;
  std::unique_ptr<ReferenceSet> embedded_;
};

// L^T with L^T L = matrix, from the eigenvalues that are larger than rounding; the largest comes first.
Matrix transposed_root(const Matrix& matrix) {
  constexpr double kRounding = 1e-12;
  const internal::SymmetricEigen eigen(matrix);
  const Index features = matrix.rows();
  const double largest = eigen.values(features - 1);
  Index rank = 1;
  while (rank < features && eigen.values(features - 1 - rank) > kRounding * largest) ++rank;
  return eigen.vectors.rightCols(rank).rowwise().reverse() *
         eigen.values.tail(rank).reverse().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

struct EmbeddingKind {
  std::string_view name;
  std::shared_ptr<const Divergence> (*make)(const EmbeddingParts& parts,
                                            const std::shared_ptr<const Divergence>& inner);
};
template <auto from_parts>
std::shared_ptr<const Divergence> without_inner(const EmbeddingParts& parts, const std::shared_ptr<const Divergence>&) {
  return from_parts(parts);
}
constexpr EmbeddingKind kEmbeddings[] = {{"kernel_embedding", &without_inner<&KernelEmbedding::from_parts>},
                                         {"network_embedding", &NetworkEmbedding::from_parts},
                                         {"tree_embedding", &without_inner<&TreeEmbedding::from_parts>}};

}  // namespace

Matrix EmbeddingDivergence::embed(const MatrixView& rows) const {
  check_points(rows);
  return map(rows);
}

Vector EmbeddingDivergence::generator_values(const MatrixView& points) const {
  return inner().generator_values(embed(points));
}

const Divergence& EmbeddingDivergence::inner() const {
  static const SquaredEuclidean kSquaredEuclidean;
  return kSquaredEuclidean;
}

Matrix EmbeddingDivergence::gradients(const MatrixView&) const {
  internal::fail("a {} divergence has no gradient in the features; embed the rows first", name());
}

double EmbeddingDivergence::divergence(const VectorView& point, const VectorView& reference) const {
  return inner().value(map(internal::as_row(point)).row(0).transpose(),
                       map(internal::as_row(reference)).row(0).transpose());
}

std::unique_ptr<ReferenceSet> EmbeddingDivergence::prepare(const MatrixView& references) const {
  check_references(references);
  return std::make_unique<EmbeddedReferenceSet>(*this, references);
}

Matrix embedded_rows(const Divergence& divergence, const MatrixView& rows) {
  divergence.check_points(rows);
  if (const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(&divergence)) {
    if (dynamic_cast<const SquaredEuclidean*>(&embedding->inner()) != nullptr) return embedding->embed(rows);
  }
  if (const auto* mahalanobis = dynamic_cast<const Mahalanobis*>(&divergence)) {
    return internal::product(rows, transposed_root(mahalanobis->metric()));
  }
  if (dynamic_cast<const SquaredEuclidean*>(&divergence) != nullptr) return rows;
  internal::fail("the divergence {} is not a squared distance of embedded rows", divergence.name());
}

std::vector<std::string> embedding_names() {
  std::vector<std::string> names;
  for (const EmbeddingKind& kind : kEmbeddings) names.emplace_back(kind.name);
  return names;
}

std::shared_ptr<const Divergence> make_embedding(std::string_view name, const EmbeddingParts& parts,
                                                 const std::shared_ptr<const Divergence>& inner) {
  for (const EmbeddingKind& kind : kEmbeddings) {
    if (kind.name == name) return kind.make(parts, inner);
  }
  internal::fail("unknown embedding '{}'; allowed: {}", name, internal::joined(embedding_names(), ", "));
}

}  // namespace bregmax
