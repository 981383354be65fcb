#include "methods/neighbour_softmax.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/blas.hpp"
#include "methods/pair_kernels.hpp"

namespace bregmax::internal {
namespace {

// A block of rows against all rows stays in the second-level cache up to some thousand rows.
constexpr Index kBlockRows = 64;
// Sums over rows are made in so many parts, whatever the number of threads: the result does not depend on it.
constexpr Index kParts = 4;
// Up to so many rows all pairs are kept at once: then each product is computed for both of its rows.
constexpr Index kWholeRows = 1024;
// Below so many products of numbers threads cost more than they bring.
constexpr Index kWorthThreads = 5'000'000;
// Single pairs cost about this much more than pairs in a matrix product.
constexpr double kSparsePairCost = 3;

Index part_begin(Index part, Index parts, Index blocks) { return blocks * part / parts; }

}  // namespace

NeighbourSoftmax::NeighbourSoftmax(const ClassOfRow& ordered_classes)
    : ranges_(ordered_classes), heights_(rows()), nearest_(rows()), right_(rows()) {}

void NeighbourSoftmax::allocate(Index components) {
  if (components == components_) return;
  components_ = components;
  const Index stride = (components + 1 + 3) / 4 * 4;
  extended_.setZero(rows(), stride);
  extended_.col(components).setOnes();
  parts_.resize(static_cast<std::size_t>(std::min(kParts, (rows() + kBlockRows - 1) / kBlockRows)));
  const bool whole = rows() <= kWholeRows;
  if (whole) products_.resize(rows(), rows());
  for (Part& part : parts_) {
    if (!whole) part.products.resize(kBlockRows, rows());
    part.index.resize(static_cast<std::size_t>(rows()));
    part.near.resize(rows());
    part.pulls.resize(rows(), stride);
  }
}

template <class Work>
void NeighbourSoftmax::for_blocks(const Work& work) {
  const auto parts = static_cast<Index>(parts_.size());
  const Index blocks = (rows() + kBlockRows - 1) / kBlockRows;
#pragma omp parallel for schedule(static, 1) if (rows() * rows() * extended_.cols() > kWorthThreads)
  for (Index number = 0; number < parts; ++number) {
    for (Index block = part_begin(number, parts, blocks); block < part_begin(number + 1, parts, blocks); ++block) {
      work(block * kBlockRows, std::min(kBlockRows, rows() - block * kBlockRows),
           parts_[static_cast<std::size_t>(number)]);
    }
  }
}

// With the weights w_ij = p_ij (r_ij - p_i), where r_ij is 1 if j has the class of i and else 0, the gradient of
// -sum_i p_i is made of 2 w_ij (z_i - z_j) for z_i and the opposite for z_j, over all pairs.
double NeighbourSoftmax::evaluate(const Matrix& embedded, Matrix& gradient) {
  const Index components = embedded.cols();
  allocate(components);
  extended_.leftCols(components) = embedded;
  heights_ = embedded.rowwise().squaredNorm();
  if (rows() <= kWholeRows) {
    add_whole();
  } else {
    clear_pulls();
    for_blocks([this](Index begin, Index count, Part& part) { add_block(begin, count, part); });
    sum_pulls();
  }
  const Matrix& pulls = parts_.front().pulls;
  gradient = 2 * (pulls.leftCols(components).array() - embedded.array().colwise() * pulls.col(components).array());
  return -right_.sum();
}

void NeighbourSoftmax::clear_pulls() {
  for (Part& part : parts_) part.pulls.setZero();
}

void NeighbourSoftmax::sum_pulls() {
  for (std::size_t part = 1; part < parts_.size(); ++part) parts_.front().pulls += parts_[part].pulls;
}

// <z_i, z_j> for `count` rows from `begin` on against the first `columns`.
void NeighbourSoftmax::multiply(Index begin, Index count, Index columns, double* products) const {
  const Index stride = extended_.cols();
  gemm(false, true, count, columns, components_, 1, extended_.data() + begin * stride, stride, extended_.data(), stride,
       0, products, rows());
}

// Products become distances less ||z_i||^2. Returns how many of them are not negligible.
Index NeighbourSoftmax::measure(Index begin, Index count, double* products) {
  Index near = 0;
  for (Index row = begin; row < begin + count; ++row, products += rows()) {
    products[row] = -std::numeric_limits<double>::infinity();  // a row is not its own neighbour
    nearest_(row) = pair_kernels().products_to_distances(heights_.data(), rows(), products);
    near += pair_kernels().count_near(products, nearest_(row) + kNegligibleExponent, rows());
  }
  return near;
}

bool NeighbourSoftmax::sparse(Index near, Index count) const {
  return static_cast<double>(near) * kSparsePairCost < static_cast<double>(count) * static_cast<double>(rows());
}

void NeighbourSoftmax::add_block(Index begin, Index count, Part& part) {
  double* products = part.products.data();
  multiply(begin, count, rows(), products);
  if (sparse(measure(begin, count, products), count)) return add_sparse(begin, count, products, part);
  weigh(begin, count, products);
  // The rows of the weights have sum 0; the sums of their columns gather in the column of ones.
  const Index stride = extended_.cols();
  gemm(false, false, count, components_, rows(), -1, products, rows(), extended_.data(), stride, 1,
       part.pulls.data() + begin * stride, stride);
  gemm(true, false, rows(), components_ + 1, count, -1, products, rows(), extended_.data() + begin * stride, stride, 1,
       part.pulls.data(), stride);
}

// The same for all rows at once, with half the multiplications: the products are symmetric, and so is the sum of the
// weights of both directions.
void NeighbourSoftmax::add_whole() {
  const auto rows_from = [this](Index begin) { return products_.data() + begin * rows(); };
  for_blocks([&](Index begin, Index count, Part&) { multiply(begin, count, begin + count, rows_from(begin)); });
  for_blocks([&](Index begin, Index count, Part&) {
    for (Index i = begin; i < begin + count; ++i) {
      for (Index j = 0; j < i; ++j) products_(j, i) = products_(i, j);
    }
  });
  std::vector<Index> near(parts_.size(), 0);
  for_blocks([&](Index begin, Index count, Part& part) {
    near[static_cast<std::size_t>(&part - parts_.data())] += measure(begin, count, rows_from(begin));
  });
  if (sparse(std::accumulate(near.begin(), near.end(), Index{0}), rows())) {
    clear_pulls();
    for_blocks([&](Index begin, Index count, Part& part) { add_sparse(begin, count, rows_from(begin), part); });
    return sum_pulls();
  }
  for_blocks([&](Index begin, Index count, Part&) { weigh(begin, count, rows_from(begin)); });
  for_blocks([&](Index begin, Index count, Part&) {
    for (Index i = begin; i < begin + count; ++i) {
      for (Index j = 0; j < i; ++j) products_(i, j) = products_(j, i) = products_(i, j) + products_(j, i);
    }
  });
  const Index stride = extended_.cols();
  for_blocks([&](Index begin, Index count, Part&) {
    gemm(false, false, count, components_ + 1, rows(), -1, rows_from(begin), rows(), extended_.data(), stride, 0,
         parts_.front().pulls.data() + begin * stride, stride);
  });
}

void NeighbourSoftmax::add_sparse(Index begin, Index count, const double* distances, Part& part) {
  int* index = part.index.data();
  double* near = part.near.data();
  for (Index row = begin; row < begin + count; ++row, distances += rows()) {
    const double nearest = nearest_(row), limit = nearest + kNegligibleExponent;
    const Index class_begin = ranges_.begin[static_cast<std::size_t>(row)];
    const Index class_end = ranges_.end[static_cast<std::size_t>(row)];
    const Index before = pair_kernels().collect_near(distances, limit, 0, class_begin, index, near);
    const Index same =
        pair_kernels().collect_near(distances, limit, class_begin, class_end, index + before, near + before);
    const Index until = before + same;
    const Index after = pair_kernels().collect_near(distances, limit, class_end, rows(), index + until, near + until);
    const double right = pair_kernels().exponentials(nearest, same, near + before);
    const double wrong =
        pair_kernels().exponentials(nearest, before, near) + pair_kernels().exponentials(nearest, after, near + until);
    const double all = right + wrong;
    right_(row) = right / all;
    if (right == 0 || wrong == 0) continue;  // all weights are 0
    part.near.head(before) *= -right / all / all;
    part.near.segment(before, same) *= wrong / all / all;
    part.near.segment(until, after) *= -right / all / all;
    pair_kernels().spread_differences(extended_.data(), extended_.cols(), row, index, near, until + after,
                                      part.pulls.data());
  }
}

// Distances become weights.
void NeighbourSoftmax::weigh(Index begin, Index count, double* distances) {
  for (Index row = begin; row < begin + count; ++row, distances += rows()) {
    const Index class_begin = ranges_.begin[static_cast<std::size_t>(row)];
    const Index same = ranges_.end[static_cast<std::size_t>(row)] - class_begin, after = rows() - class_begin - same;
    const double nearest = nearest_(row);
    const double right = pair_kernels().exponentials(nearest, same, distances + class_begin);
    const double wrong = pair_kernels().exponentials(nearest, class_begin, distances) +
                         pair_kernels().exponentials(nearest, after, distances + class_begin + same);
    const double all = right + wrong;
    right_(row) = right / all;
    Eigen::Map<Vector> weights(distances, rows());
    weights.head(class_begin) *= -right / all / all;
    weights.segment(class_begin, same) *= wrong / all / all;
    weights.tail(after) *= -right / all / all;
  }
}

}  // namespace bregmax::internal
