#pragma once

#include <cmath>

#include "bregmax/divergence/embedding.hpp"

namespace bregmax {

// A map that is not linear and has another dimension than its rows: the plane to its radius, in one number.
class PolarEmbedding final : public EmbeddingDivergence {
 public:
  std::string name() const override { return "polar"; }
  Index dimension() const override { return 2; }
  EmbeddingParts parts() const override { return {}; }

 protected:
  Matrix map(const MatrixView& rows) const override { return rows.rowwise().norm(); }
};

}  // namespace bregmax
