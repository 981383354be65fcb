#pragma once

// What the gradient learners learn: phi(z) = ||G z||^2 + log sum_k exp(<a_k, z> + b_k) with z = f(x), where f is a
// network of dense layers, or the identity. All parameters are one array, so that an optimiser sees a vector.

#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/divergence/network_embedding.hpp"

namespace bregmax::internal {

template <class Real>
using MatrixOf = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using VectorOf = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

struct LearnerShape {
  std::vector<Index> widths;  // features, hidden layers, dimension of z; a single width: there is no network
  Activation activation = Activation::kRelu;
  Index pieces = 0, rank = 0;  // K >= 1; rows of G, may be 0

  Index features() const { return widths.front(); }
  Index dimension() const { return widths.back(); }
  Index layers() const { return static_cast<Index>(widths.size()) - 1; }
  Index directions() const { return pieces + rank; }
};

// A matrix in the array of parameters, row by row.
struct Block {
  Index begin = 0, rows = 0, cols = 0;

  Index size() const { return rows * cols; }
  template <class Real>
  Eigen::Map<MatrixOf<Real>> in(Real* parameters) const {
    return {parameters + begin, rows, cols};
  }
  template <class Real>
  Eigen::Map<const MatrixOf<Real>> in(const Real* parameters) const {
    return {parameters + begin, rows, cols};
  }
};

// Where each part is.
struct ParameterLayout {
  explicit ParameterLayout(LearnerShape of);

  LearnerShape shape;
  std::vector<Block> weights, biases;  // of each layer: out x in, 1 x out
  Block slopes;                        // pieces x dimension
  Block roots;                         // G, rank x dimension; follows the slopes, so that both are one matrix
  Block offsets;                       // 1 x pieces
  Block threshold;                     // 1 x 1: the logarithm of the divergence between similar and dissimilar pairs
  Index size = 0;
};

}  // namespace bregmax::internal
