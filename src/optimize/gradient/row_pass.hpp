#pragma once

#include "optimize/gradient/parameters.hpp"

namespace bregmax::internal {

// Rows through the network and the generator, and derivatives back. All buffers are allocated once, for `most_rows`
// rows. A matrix of the batch has one row per row; only its first rows() are used.
//
//   pass.begin(count); fill pass.input(); pass.forward(parameters);
//   read values(), gradients(), embedded(); fill the derivatives by them; pass.backward(parameters, gradient);
template <class Real>
class RowPass {
 public:
  using Rows = Eigen::Map<MatrixOf<Real>>;

  RowPass(const ParameterLayout& layout, Index most_rows);

  void begin(Index rows) { rows_ = rows; }
  Index rows() const { return rows_; }
  Rows input();  // rows x features

  void forward(const Real* parameters);
  Rows embedded();                                                         // z, rows x dimension
  Eigen::Map<VectorOf<Real>> values() { return {values_.data(), rows_}; }  // phi(z)
  Rows gradients() { return {gradients_.data(), rows_, shape().dimension()}; }

  // The derivatives of the loss with respect to the three; the caller writes all of them.
  Eigen::Map<VectorOf<Real>> by_values() { return {by_values_.data(), rows_}; }
  Rows by_gradients();
  Rows by_embedded() { return {by_embedded_.data(), rows_, shape().dimension()}; }  // not used without a network

  bool has_network() const { return shape().layers() > 0; }
  // Adds the derivatives with respect to the parameters to `gradient`.
  void backward(const Real* parameters, Real* gradient);

 private:
  const LearnerShape& shape() const { return layout_.shape; }
  // Two matrices of the batch on top of each other, so that one product sums over both.
  Rows weights() { return {left_.data(), rows_, shape().directions()}; }  // (q, 2 G z)
  Rows by_scores() { return {left_.data() + weights().size(), rows_, shape().directions()}; }
  Rows layer_output(Index layer);

  void forward_network(const Real* parameters);
  void backward_network(const Real* parameters, Real* gradient);
  void activate(Rows rows) const;
  void multiply_by_slope(const Rows& output, Rows by_output) const;

  const ParameterLayout& layout_;
  Index rows_ = 0;
  MatrixOf<Real> left_;   // weights() above by_scores()
  MatrixOf<Real> right_;  // by_gradients() above embedded()
  MatrixOf<Real> gradients_, by_embedded_;
  VectorOf<Real> values_, by_values_;
  std::vector<MatrixOf<Real>> outputs_;  // of the input and of each hidden layer
  std::vector<MatrixOf<Real>> by_outputs_;
};

}  // namespace bregmax::internal
