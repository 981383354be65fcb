#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/blas.hpp"
#include "methods/pair_kernels.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {

// The objective of neighbourhood component analysis in the space where neighbours are chosen: row i takes another row j
// as its neighbour with probability p_ij proportional to exp(-||z_i - z_j||^2), and is right when their classes agree.
class NeighbourSoftmax {
 public:
  // The classes of the embedded rows, which come in the order of their classes.
  explicit NeighbourSoftmax(const ClassOfRow& ordered_classes)
      : ranges_(ordered_classes), heights_(rows()), nearest_(rows()), right_(rows()) {}

  Index rows() const { return static_cast<Index>(ranges_.begin.size()); }

  // Returns minus the expected number of rows that are right and writes its gradient with respect to `embedded`
  // (rows x components). With the weights w_ij = p_ij (r_ij - p_i), where r_ij is 1 if j has the class of i and else 0,
  // the gradient of -sum_i p_i is made of 2 w_ij (z_i - z_j) for z_i and the opposite for z_j, over all pairs.
  double evaluate(const Matrix& embedded, Matrix& gradient) {
    const Index components = embedded.cols();
    allocate(components);
    extended_.leftCols(components) = embedded;
    heights_ = embedded.rowwise().squaredNorm();
    if (rows() <= kWholeRows) {
      add_whole();
    } else {
      sum_pulls([this](Index begin, Index count, Part& part) { add_block(begin, count, part); });
    }
    const Matrix& pulls = parts_.front().pulls;
    gradient = 2 * (pulls.leftCols(components).array() - embedded.array().colwise() * pulls.col(components).array());
    return -right_.sum();
  }

  // The squared distance from each row to its nearest other row, of the last evaluate().
  Vector nearest_distances() const { return (heights_ + nearest_).cwiseMax(0); }

 private:
  // A block of rows against all rows stays in the second-level cache up to some thousand rows.
  static constexpr Index kBlockRows = 64;
  // Sums over rows have this many parts for any number of threads, so that the result does not depend on it.
  static constexpr Index kParts = 4;
  // Up to this many rows all pairs are kept at once, so that the product of two rows is computed once.
  static constexpr Index kWholeRows = 1024;
  // Below this many multiplications threads cost more than they save.
  static constexpr Index kWorthThreads = 5'000'000;

  // Work space for one part of the rows; allocated once.
  struct Part {
    Matrix products;         // a block of rows against all, where they are not kept at once
    std::vector<int> index;  // the near ones of a row
    Vector near;             // their distances, then weights
    Matrix pulls;            // rows x stride: what the pairs of this part add to the gradient
  };

  void allocate(Index components) {
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
      part.index.resize(rows());
      part.near.resize(rows());
      part.pulls.resize(rows(), stride);
    }
  }

  // Calls work(begin, count, part) for blocks of rows, those of different parts on different threads.
  template <class Work>
  void for_blocks(const Work& work) {
    const auto parts = static_cast<Index>(parts_.size());
    const Index blocks = (rows() + kBlockRows - 1) / kBlockRows;
#pragma omp parallel for schedule(static, 1) if (rows() * rows() * extended_.cols() > kWorthThreads)
    for (Index number = 0; number < parts; ++number) {
      for (Index block = blocks * number / parts; block < blocks * (number + 1) / parts; ++block) {
        work(block * kBlockRows, std::min(kBlockRows, rows() - block * kBlockRows), parts_[number]);
      }
    }
  }

  // The same for work that adds to the pulls of its part; their sum is in those of the first part.
  template <class Work>
  void sum_pulls(const Work& work) {
    for (Part& part : parts_) part.pulls.setZero();
    for_blocks(work);
    for (std::size_t part = 1; part < parts_.size(); ++part) parts_.front().pulls += parts_[part].pulls;
  }

  // <z_i, z_j> for `count` rows from `begin` on against the first `columns`.
  void multiply(Index begin, Index count, Index columns, double* products) const {
    const Index stride = extended_.cols();
    gemm(false, true, count, columns, components_, 1, extended_.data() + begin * stride, stride, extended_.data(),
         stride, 0, products, rows());
  }

  // Products become distances less ||z_i||^2. Returns how many of them are not negligible.
  Index measure(Index begin, Index count, double* products) {
    Index near = 0;
    for (Index row = begin; row < begin + count; ++row, products += rows()) {
      products[row] = -std::numeric_limits<double>::infinity();  // a row is not its own neighbour
      nearest_(row) = pair_kernels().products_to_distances(heights_.data(), rows(), products);
      near += pair_kernels().count_near(products, nearest_(row) + kNegligibleExponent, rows());
    }
    return near;
  }

  // Single pairs cost about three times as much as pairs in a matrix product.
  bool sparse(Index near, Index count) const { return 3 * near < count * rows(); }

  void add_block(Index begin, Index count, Part& part) {
    double* products = part.products.data();
    multiply(begin, count, rows(), products);
    if (sparse(measure(begin, count, products), count)) return add_sparse(begin, count, products, part);
    weigh(begin, count, products);
    // The rows of the weights have sum 0; the sums of their columns gather in the column of ones.
    const Index stride = extended_.cols();
    gemm(false, false, count, components_, rows(), -1, products, rows(), extended_.data(), stride, 1,
         part.pulls.data() + begin * stride, stride);
    gemm(true, false, rows(), components_ + 1, count, -1, products, rows(), extended_.data() + begin * stride, stride,
         1, part.pulls.data(), stride);
  }

  // The same for all rows at once, with half the multiplications: the products are symmetric, and so is the sum of the
  // weights of both directions.
  void add_whole() {
    const auto rows_from = [this](Index begin) { return products_.data() + begin * rows(); };
    for_blocks([&](Index begin, Index count, Part&) { multiply(begin, count, begin + count, rows_from(begin)); });
    for_blocks([&](Index begin, Index count, Part&) {
      for (Index i = begin; i < begin + count; ++i) {
        for (Index j = 0; j < i; ++j) products_(j, i) = products_(i, j);
      }
    });
    std::vector<Index> near(parts_.size(), 0);
    for_blocks([&](Index begin, Index count, Part& part) {
      near[&part - parts_.data()] += measure(begin, count, rows_from(begin));
    });
    if (sparse(std::accumulate(near.begin(), near.end(), Index{0}), rows())) {
      return sum_pulls([&](Index begin, Index count, Part& part) { add_sparse(begin, count, rows_from(begin), part); });
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

  void add_sparse(Index begin, Index count, const double* distances, Part& part) {
    int* index = part.index.data();
    double* near = part.near.data();
    for (Index row = begin; row < begin + count; ++row, distances += rows()) {
      const double limit = nearest_(row) + kNegligibleExponent;
      const Index class_begin = ranges_.begin[row];
      const Index class_end = ranges_.end[row];
      const Index before = pair_kernels().collect_near(distances, limit, 0, class_begin, index, near);
      const Index until =
          before + pair_kernels().collect_near(distances, limit, class_begin, class_end, index + before, near + before);
      const Index end =
          until + pair_kernels().collect_near(distances, limit, class_end, rows(), index + until, near + until);
      if (!weigh_row(row, before, until, end, near)) continue;
      pair_kernels().spread_differences(extended_.data(), extended_.cols(), row, index, near, end, part.pulls.data());
    }
  }

  // Distances become weights.
  void weigh(Index begin, Index count, double* distances) {
    for (Index row = begin; row < begin + count; ++row, distances += rows()) {
      const auto number = static_cast<std::size_t>(row);
      weigh_row(row, ranges_.begin[number], ranges_.end[number], rows(), distances);
    }
  }

  // The same for the distances to `end` rows, of which `same` .. `other` - 1 are of the class of this row. False: all
  // weights are 0.
  bool weigh_row(Index row, Index same, Index other, Index end, double* distances) {
    const double nearest = nearest_(row);
    const double right = pair_kernels().exponentials(nearest, other - same, distances + same);
    const double wrong = pair_kernels().exponentials(nearest, same, distances) +
                         pair_kernels().exponentials(nearest, end - other, distances + other);
    const double all = right + wrong;
    right_(row) = right / all;
    Eigen::Map<Vector> weights(distances, end);
    weights.head(same) *= -right / all / all;
    weights.segment(same, other - same) *= wrong / all / all;
    weights.tail(end - other) *= -right / all / all;
    return right > 0 && wrong > 0;
  }

  ClassRanges ranges_;
  Index components_ = 0;
  Matrix products_;  // all rows against all, where there are not too many
  Matrix extended_;  // the embedded rows, a column of ones, zeros
  Vector heights_;   // ||z_i||^2
  Vector nearest_;   // the smallest distance of each row, less ||z_i||^2
  Vector right_;     // p_i: the probability that row i is right
  std::vector<Part> parts_;
};

}  // namespace bregmax::internal
