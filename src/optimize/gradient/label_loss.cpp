#include "optimize/gradient/label_loss.hpp"

#include <cmath>
#include <limits>

#include "core/blas.hpp"
#include "optimize/gradient/loops.hpp"

namespace bregmax::internal {
namespace {

// A row is not its own neighbour. Not infinite, so that differences stay numbers.
template <class Real>
constexpr Real kNever = -std::numeric_limits<Real>::max() / 4;

Index end_of_class(std::span<const int> classes, Index begin) {
  Index end = begin;
  while (end < std::ssize(classes) && classes[end] == classes[begin]) ++end;
  return end;
}

}  // namespace

template <class Real>
double LabelLoss<Real>::evaluate(RowPass<Real>& pass, std::span<const int> classes, std::span<const Real> weights) {
  const Index rows = pass.rows();
  const auto embedded = pass.embedded(), gradients = pass.gradients();
  for (Index j = 0; j < rows; ++j) {
    parts_[j] = dot(dimension_, gradients.data() + j * dimension_, embedded.data() + j * dimension_) - pass.values()[j];
  }
  for (Index i = 0; i < rows; ++i) {
    Real* row = logits_.data() + i * rows;
    for (Index j = 0; j < rows; ++j) row[j] = -parts_[j];
  }
  gemm(false, true, rows, rows, dimension_, Real(1), embedded.data(), dimension_, gradients.data(), dimension_, Real(1),
       logits_.data(), rows);
  Real total = 0;
  for (Index begin = 0; begin < rows;) {
    const Index end = end_of_class(classes, begin);
    for (Index i = begin; end - begin > 1 && i < end; ++i) total += weights[i];
    begin = end;
  }
  double loss = 0;
  for (Index begin = 0; begin < rows;) {
    const Index end = end_of_class(classes, begin);
    for (Index i = begin; i < end; ++i) {
      const Real weight = end - begin > 1 && total > 0 ? weights[i] / total : 0;
      loss += row_loss(i, begin, end, rows, weight);
    }
    begin = end;
  }
  write_derivatives(pass);
  return loss;
}

// Rows begin .. end - 1 are of the class of `row`. Logits become derivatives by D.
template <class Real>
double LabelLoss<Real>::row_loss(Index row, Index begin, Index end, Index rows, Real weight) {
  Real* logits = logits_.data() + row * rows;
  if (weight == 0) {
    std::fill(logits, logits + rows, Real(0));
    return 0;
  }
  logits[row] = kNever<Real>;
  const Index same = end - begin;
  const Real others = static_cast<Real>(same - 1);
  double loss = 0;
  Real near_factor = 0;
  if (share_ > 0) {
    std::copy(logits + begin, logits + end, same_.data());
    const Real most = largest(same, same_.data());
    const Real sum = exponentials(most, same, same_.data());
    loss -= share_ * (most + std::log(sum));
    near_factor = share_ * weight / sum;
  }
  if (share_ < 1) {
    Real sum = 0;
    for (Index j = begin; j < end; ++j) sum += j == row ? Real(0) : logits[j];
    loss -= (1 - share_) * sum / others;
  }
  const Real most = largest(rows, logits);
  const Real sum = exponentials(most, rows, logits);
  loss += most + std::log(sum);
  const Real factor = -weight / sum, even = (1 - share_) * weight / others;
  for (Index j = 0; j < rows; ++j) logits[j] *= factor;
  if (share_ < 1) {
    for (Index j = begin; j < end; ++j) logits[j] += even;
    logits[row] -= even;
  }
  if (share_ > 0) add_multiple(near_factor, same, same_.data(), logits + begin);
  return loss * weight;
}

// Rows of the derivatives R sum to 0, so phi of the point plays no part:
// D(i, j) = phi(i) - phi(j) - <g_j, x_i - x_j> gives -R x + (column sums) x for g, and the same with g for x.
template <class Real>
void LabelLoss<Real>::write_derivatives(RowPass<Real>& pass) {
  const Index rows = pass.rows();
  column_sums_.head(rows).setZero();
  for (Index i = 0; i < rows; ++i) add_multiple(Real(1), rows, logits_.data() + i * rows, column_sums_.data());
  pass.by_values() = -column_sums_.head(rows);
  const auto embedded = pass.embedded(), gradients = pass.gradients();
  auto by_gradients = pass.by_gradients();
  for (Index j = 0; j < rows; ++j) by_gradients.row(j) = column_sums_[j] * embedded.row(j);
  gemm(true, false, rows, dimension_, rows, Real(-1), logits_.data(), rows, embedded.data(), dimension_, Real(1),
       by_gradients.data(), dimension_);
  if (!pass.has_network()) return;
  auto by_embedded = pass.by_embedded();
  for (Index j = 0; j < rows; ++j) by_embedded.row(j) = column_sums_[j] * gradients.row(j);
  gemm(false, false, rows, dimension_, rows, Real(-1), logits_.data(), rows, gradients.data(), dimension_, Real(1),
       by_embedded.data(), dimension_);
}

template class LabelLoss<float>;
template class LabelLoss<double>;

}  // namespace bregmax::internal
