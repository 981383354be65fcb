#include "optimize/gradient/row_pass.hpp"

#include <cmath>

#include "core/blas.hpp"
#include "optimize/gradient/loops.hpp"

namespace bregmax::internal {

template <class Real>
RowPass<Real>::RowPass(const ParameterLayout& layout, Index most_rows)
    : layout_(layout),
      left_(2 * most_rows, shape().directions()),
      right_(2 * most_rows, shape().dimension()),
      gradients_(most_rows, shape().dimension()),
      by_embedded_(most_rows, shape().dimension()),
      values_(most_rows),
      by_values_(most_rows) {
  for (Index layer = 0; layer < shape().layers(); ++layer) {
    outputs_.emplace_back(most_rows, shape().widths[layer]);
    by_outputs_.emplace_back(most_rows, layer == 0 ? 0 : shape().widths[layer]);
  }
}

template <class Real>
typename RowPass<Real>::Rows RowPass<Real>::by_gradients() {
  return {right_.data(), rows_, shape().dimension()};
}

template <class Real>
typename RowPass<Real>::Rows RowPass<Real>::embedded() {
  return {right_.data() + rows_ * shape().dimension(), rows_, shape().dimension()};
}

// Layer 0 is the input.
template <class Real>
typename RowPass<Real>::Rows RowPass<Real>::layer_output(Index layer) {
  if (layer == shape().layers()) return embedded();
  return {outputs_[layer].data(), rows_, shape().widths[layer]};
}

template <class Real>
typename RowPass<Real>::Rows RowPass<Real>::input() {
  return layer_output(0);
}

template <class Real>
void RowPass<Real>::activate(Rows rows) const {
  if (shape().activation == Activation::kRelu) {
    rows = rows.cwiseMax(Real(0));
  } else {
    rows = rows.array().tanh();
  }
}

// The slope of the activation follows from its output.
template <class Real>
void RowPass<Real>::multiply_by_slope(const Rows& output, Rows by_output) const {
  if (shape().activation == Activation::kRelu) {
    clear_where_not_positive(output.size(), output.data(), by_output.data());
  } else {
    by_output.array() *= 1 - output.array().square();
  }
}

template <class Real>
void RowPass<Real>::forward_network(const Real* parameters) {
  for (Index layer = 0; layer < shape().layers(); ++layer) {
    const Block& block = layout_.weights[layer];
    const Rows in = layer_output(layer);
    Rows out = layer_output(layer + 1);
    out.rowwise() = layout_.biases[layer].in(parameters).row(0);
    gemm(false, true, rows_, block.rows, block.cols, Real(1), in.data(), in.cols(), parameters + block.begin,
         block.cols, Real(1), out.data(), out.cols());
    if (layer + 1 < shape().layers()) activate(out);
  }
}

template <class Real>
void RowPass<Real>::forward(const Real* parameters) {
  forward_network(parameters);
  const Index dimension = shape().dimension(), pieces = shape().pieces, rank = shape().rank,
              directions = shape().directions();
  const Real* matrix = parameters + layout_.slopes.begin;
  const Real* offsets = parameters + layout_.offsets.begin;
  Rows scores = weights();
  gemm(false, true, rows_, directions, dimension, Real(1), embedded().data(), dimension, matrix, dimension, Real(0),
       scores.data(), directions);
  for (Index i = 0; i < rows_; ++i) {
    Real* row = scores.data() + i * directions;
    add_multiple(Real(1), pieces, offsets, row);
    const Real most = largest(pieces, row);
    const Real sum = exponentials(most, pieces, row);
    const Real inverse = 1 / sum;
    for (Index k = 0; k < pieces; ++k) row[k] *= inverse;
    Real* projected = row + pieces;
    values_[i] = most + std::log(sum) + dot(rank, projected, projected);
    for (Index k = 0; k < rank; ++k) projected[k] *= 2;
  }
  gemm(false, false, rows_, dimension, directions, Real(1), scores.data(), directions, matrix, dimension, Real(0),
       gradients_.data(), dimension);
}

template <class Real>
void RowPass<Real>::backward(const Real* parameters, Real* gradient) {
  const Index dimension = shape().dimension(), pieces = shape().pieces, directions = shape().directions();
  const Real* matrix = parameters + layout_.slopes.begin;
  Rows by = by_scores(), current = weights();
  gemm(false, true, rows_, directions, dimension, Real(1), by_gradients().data(), dimension, matrix, dimension, Real(0),
       by.data(), directions);
  auto by_offsets = layout_.offsets.in(gradient);
  for (Index i = 0; i < rows_; ++i) {
    const Real* weight = current.data() + i * directions;
    Real* of_row = by.data() + i * directions;
    // Through the softmax twice: as weights of the gradient, and as the slope of the value.
    weigh_differences(pieces, weight, dot(pieces, weight, of_row) - by_values_[i], of_row);
    add_multiple(Real(1), pieces, of_row, by_offsets.data());
    for (Index k = pieces; k < directions; ++k) of_row[k] = 2 * of_row[k] + by_values_[i] * weight[k];
  }
  gemm(true, false, directions, dimension, 2 * rows_, Real(1), left_.data(), directions, right_.data(), dimension,
       Real(1), gradient + layout_.slopes.begin, dimension);
  if (!has_network()) return;
  gemm(false, false, rows_, dimension, directions, Real(1), by.data(), directions, matrix, dimension, Real(1),
       by_embedded_.data(), dimension);
  backward_network(parameters, gradient);
}

template <class Real>
void RowPass<Real>::backward_network(const Real* parameters, Real* gradient) {
  for (Index layer = shape().layers() - 1; layer >= 0; --layer) {
    const Block& block = layout_.weights[layer];
    const bool last = layer + 1 == shape().layers();
    Rows by_out(last ? by_embedded_.data() : by_outputs_[layer + 1].data(), rows_, block.rows);
    if (!last) multiply_by_slope(layer_output(layer + 1), by_out);
    const Rows in = layer_output(layer);
    gemm(true, false, block.rows, block.cols, rows_, Real(1), by_out.data(), block.rows, in.data(), block.cols, Real(1),
         gradient + block.begin, block.cols);
    Real* by_bias = gradient + layout_.biases[layer].begin;
    for (Index i = 0; i < rows_; ++i) add_multiple(Real(1), block.rows, by_out.data() + i * block.rows, by_bias);
    if (layer == 0) continue;
    gemm(false, false, rows_, block.cols, block.rows, Real(1), by_out.data(), block.rows, parameters + block.begin,
         block.cols, Real(0), by_outputs_[layer].data(), block.cols);
  }
}

template class RowPass<float>;
template class RowPass<double>;

}  // namespace bregmax::internal
