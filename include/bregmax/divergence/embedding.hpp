#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// What a model file keeps of an embedding: arrays of numbers by name, none of them empty.
using EmbeddingParts = std::map<std::string, Matrix>;

// D(point, reference) = D_inner(f(point), f(reference)) for a learned map f of the features.
//
// The inner divergence is a Bregman divergence of embedded rows, ||.||^2 unless a class says otherwise. As a function
// of the features D is not a Bregman divergence unless f is linear, so it has no gradient; the mean of the embedded
// rows minimises the summed divergence. Code that needs a gradient embeds the rows first and uses inner() on them.
class EmbeddingDivergence : public Divergence {
 public:
  // For make_embedding(name(), parts(), inner), which gives the same divergence, bit for bit.
  virtual EmbeddingParts parts() const = 0;
  virtual const Divergence& inner() const;  // of embedded rows

  Matrix embed(const MatrixView& rows) const;  // f of each row

  Vector generator_values(const MatrixView& points) const final;  // of the embedded points
  Matrix gradients(const MatrixView& references) const final;     // throws Error: there is no gradient
  std::unique_ptr<ReferenceSet> prepare(const MatrixView& references) const final;

 protected:
  double divergence(const VectorView& point, const VectorView& reference) const final;
  // f of rows that were already checked, one per row.
  virtual Matrix map(const MatrixView& rows) const = 0;
};

// Rows f(x) such that D(x, y) = ||f(x) - f(y)||^2, for tools that know the Euclidean distance only: the rows themselves
// for squared_euclidean, L x with L^T L the matrix of a mahalanobis divergence (as many columns as it has rank, at
// least one), f of an embedding with such an inner divergence. Throws Error for other divergences, which are not
// squared distances.
Matrix embedded_rows(const Divergence& divergence, const MatrixView& rows);

// The embeddings, by name().
std::vector<std::string> embedding_names();
// Throws Error when `name` is not one of them, or when a part is missing or does not fit the others. `inner`: for those
// whose inner divergence is not always ||.||^2.
std::shared_ptr<const Divergence> make_embedding(std::string_view name, const EmbeddingParts& parts,
                                                 const std::shared_ptr<const Divergence>& inner = nullptr);

}  // namespace bregmax
