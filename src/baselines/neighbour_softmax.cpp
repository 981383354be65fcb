#include "baselines/neighbour_softmax.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "baselines/pair_kernels.hpp"
#include "core/blas.hpp"

namespace bregmax::internal {
namespace {

// A block of rows against all rows stays in the second-level cache up to some thousand rows.
constexpr Index kBlockRows = 64;
// Sums over rows are made in so many parts, whatever the number of threads: the result does not depend on it.
constexpr Index kParts = 4;
// Single pairs cost about this much more than pairs in a matrix product.
constexpr double kSparsePairCost = 3;

Index part_begin(Index part, Index parts, Index blocks) { return blocks * part / parts; }

}  // namespace

std::vector<Index> order_by_class(const ClassOfRow& class_of_row) {
  std::vector<Index> order(class_of_row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](Index row) { return class_of_row[static_cast<std::size_t>(row)]; });
  return order;
}

NeighbourSoftmax::NeighbourSoftmax(const ClassOfRow& ordered_classes)
    : class_begin_(ordered_classes.size()), class_end_(ordered_classes.size()) {
  for (std::size_t begin = 0, end = 0; begin < ordered_classes.size(); begin = end) {
    while (end < ordered_classes.size() && ordered_classes[end] == ordered_classes[begin]) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      class_begin_[i] = static_cast<Index>(begin);
      class_end_[i] = static_cast<Index>(end);
    }
  }
  heights_.resize(rows());
  nearest_.resize(rows());
  right_.resize(rows());
}

void NeighbourSoftmax::allocate(Index components) {
  if (components == components_) return;
  components_ = components;
  const Index stride = (components + 1 + 3) / 4 * 4;
  extended_.setZero(rows(), stride);
  extended_.col(components).setOnes();
  parts_.resize(static_cast<std::size_t>(std::min(kParts, (rows() + kBlockRows - 1) / kBlockRows)));
  for (Part& part : parts_) {
    part.products.resize(std::min(kBlockRows, rows()), rows());
    part.index.resize(static_cast<std::size_t>(rows()));
    part.near.resize(rows());
    part.pulls.resize(rows(), stride);
  }
}

// With the weights w_ij = p_ij (r_ij - p_i), where r_ij is 1 if j has the class of i and else 0, the gradient of
// -sum_i p_i is made of 2 w_ij (z_i - z_j) for z_i and the opposite for z_j, over all pairs.
double NeighbourSoftmax::evaluate(const Matrix& embedded, Matrix& gradient) {
  const Index components = embedded.cols();
  allocate(components);
  extended_.leftCols(components) = embedded;
  heights_ = embedded.rowwise().squaredNorm();
  const auto parts = static_cast<Index>(parts_.size());
#pragma omp parallel for schedule(static, 1) if (parts > 1)
  for (Index part = 0; part < parts; ++part) evaluate_part(part);

  Matrix& pulls = parts_.front().pulls;
  for (std::size_t part = 1; part < parts_.size(); ++part) pulls += parts_[part].pulls;
  gradient = 2 * (pulls.leftCols(components).array() - embedded.array().colwise() * pulls.col(components).array());
  return -right_.sum();
}

void NeighbourSoftmax::evaluate_part(Index number) {
  Part& part = parts_[static_cast<std::size_t>(number)];
  part.pulls.setZero();
  const auto parts = static_cast<Index>(parts_.size());
  const Index blocks = (rows() + kBlockRows - 1) / kBlockRows;
  for (Index block = part_begin(number, parts, blocks); block < part_begin(number + 1, parts, blocks); ++block) {
    evaluate_block(block * kBlockRows, std::min(kBlockRows, rows() - block * kBlockRows), part);
  }
}

void NeighbourSoftmax::evaluate_block(Index begin, Index count, Part& part) {
  const Index stride = extended_.cols();
  gemm(false, true, count, rows(), components_, 1, extended_.data() + begin * stride, stride, extended_.data(), stride,
       0, part.products.data(), rows());
  Index near = 0;
  for (Index i = 0; i < count; ++i) {
    double* products = part.products.row(i).data();
    products[begin + i] = -std::numeric_limits<double>::infinity();  // a row is not its own neighbour
    nearest_(begin + i) = products_to_distances(heights_.data(), rows(), products);
    near += count_near(products, nearest_(begin + i) + kNegligibleExponent, rows());
  }
  const double density = static_cast<double>(near) / (static_cast<double>(count) * static_cast<double>(rows()));
  density* kSparsePairCost < 1 ? add_sparse_block(begin, count, part) : add_dense_block(begin, count, part);
}

void NeighbourSoftmax::add_sparse_block(Index begin, Index count, Part& part) {
  int* index = part.index.data();
  double* near = part.near.data();
  for (Index row = begin; row < begin + count; ++row) {
    const double* distances = part.products.row(row - begin).data();
    const double nearest = nearest_(row), limit = nearest + kNegligibleExponent;
    const Index class_begin = class_begin_[static_cast<std::size_t>(row)];
    const Index class_end = class_end_[static_cast<std::size_t>(row)];
    const Index before = collect_near(distances, limit, 0, class_begin, index, near);
    const Index same = collect_near(distances, limit, class_begin, class_end, index + before, near + before);
    const Index until = before + same;
    const Index after = collect_near(distances, limit, class_end, rows(), index + until, near + until);
    const double right = exponentials(nearest, same, near + before);
    const double wrong = exponentials(nearest, before, near) + exponentials(nearest, after, near + until);
    const double all = right + wrong;
    right_(row) = right / all;
    if (right == 0 || wrong == 0) continue;  // all weights are 0
    part.near.head(before) *= -right / all / all;
    part.near.segment(before, same) *= wrong / all / all;
    part.near.segment(until, after) *= -right / all / all;
    spread_differences(extended_.data(), extended_.cols(), row, index, near, until + after, part.pulls.data());
  }
}

// The rows of the weights have sum 0; the sums of their columns gather in the column of ones.
void NeighbourSoftmax::add_dense_block(Index begin, Index count, Part& part) {
  const Index stride = extended_.cols();
  for (Index row = begin; row < begin + count; ++row) {
    auto weights = part.products.row(row - begin);
    const Index class_begin = class_begin_[static_cast<std::size_t>(row)];
    const Index same = class_end_[static_cast<std::size_t>(row)] - class_begin, after = rows() - class_begin - same;
    const double nearest = nearest_(row);
    const double right = exponentials(nearest, same, weights.data() + class_begin);
    const double wrong = exponentials(nearest, class_begin, weights.data()) +
                         exponentials(nearest, after, weights.data() + class_begin + same);
    const double all = right + wrong;
    right_(row) = right / all;
    weights.head(class_begin) *= -right / all / all;
    weights.segment(class_begin, same) *= wrong / all / all;
    weights.tail(after) *= -right / all / all;
  }
  gemm(false, false, count, components_, rows(), -1, part.products.data(), rows(), extended_.data(), stride, 1,
       part.pulls.data() + begin * stride, stride);
  gemm(true, false, rows(), components_ + 1, count, -1, part.products.data(), rows(), extended_.data() + begin * stride,
       stride, 1, part.pulls.data(), stride);
}

}  // namespace bregmax::internal
