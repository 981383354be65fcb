#include "methods/large_margin.hpp"

#include <algorithm>

#include "core/blas.hpp"
#include "core/products.hpp"
#include "methods/pair_kernels.hpp"

namespace bregmax::internal {
namespace {

// Sums over rows have this many parts for any number of threads, so that the result does not depend on it.
constexpr Index kParts = 4;
constexpr Index kBlockRows = 64;
// Below this many multiplications threads cost more than they save.
constexpr Index kWorthThreads = 5'000'000;

}  // namespace

TargetNeighbours nearest_of_class(const Matrix& ordered_rows, const ClassOfRow& ordered_classes, int neighbours) {
  const ClassRanges ranges(ordered_classes);
  TargetNeighbours targets;
  targets.begin.push_back(0);
  std::vector<std::pair<double, int>> candidates;
  for (Index i = 0; i < ordered_rows.rows(); ++i) {
    candidates.clear();
    for (Index j = ranges.begin[i]; j < ranges.end[i]; ++j) {
      if (j != i)
        candidates.emplace_back((ordered_rows.row(i) - ordered_rows.row(j)).squaredNorm(), static_cast<int>(j));
    }
    const std::size_t kept = std::min(candidates.size(), static_cast<std::size_t>(neighbours));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept), candidates.end());
    for (std::size_t k = 0; k < kept; ++k) targets.rows.push_back(candidates[k].second);
    targets.begin.push_back(targets.size());
  }
  return targets;
}

LargeMarginLoss::LargeMarginLoss(const ClassOfRow& ordered_classes, TargetNeighbours targets, double mu)
    : ranges_(ordered_classes), targets_(std::move(targets)), mu_(mu) {
  for (Index i = 0; i < rows(); ++i) most_targets_ = std::max(most_targets_, targets_.count(i));
  parts_.resize(static_cast<std::size_t>(std::min(kParts, (rows() + kBlockRows - 1) / kBlockRows)));
  for (Part& part : parts_) {
    part.products.resize(std::min(kBlockRows, rows()), rows());
    part.index.resize(rows());
    part.distances.resize(rows());
    part.weights.resize(rows());
    part.target_distances.resize(most_targets_);
    part.target_weights.resize(most_targets_);
  }
}

double LargeMarginLoss::triplets() const {
  double count = 0;
  for (Index i = 0; i < rows(); ++i) {
    const Index same = ranges_.end[i] - ranges_.begin[i];
    count += static_cast<double>(targets_.count(i)) * static_cast<double>(rows() - same);
  }
  return count;
}

void LargeMarginLoss::embed(const Matrix& embedded) {
  const Index stride = (embedded.cols() + 3) / 4 * 4;
  padded_.resize(rows(), stride);
  padded_.leftCols(embedded.cols()) = embedded;
  padded_.rightCols(stride - embedded.cols()).setZero();
}

double LargeMarginLoss::farthest_target(Index row, Part& part) const {
  const Index count = targets_.count(row);
  pair_kernels().pair_distances(padded_.data(), padded_.cols(), row, targets_.of(row), count,
                                part.target_distances.data());
  return part.target_distances.head(count).maxCoeff();
}

ImpostorSet LargeMarginLoss::find_impostors(const Matrix& embedded, double slack) {
  embed(embedded);
  heights_ = padded_.rowwise().squaredNorm();
  const Index stride = padded_.cols();
  std::vector<std::vector<int>> found(static_cast<std::size_t>(rows()));
  const Index blocks = (rows() + kBlockRows - 1) / kBlockRows;
  const auto parts = static_cast<Index>(parts_.size());
#pragma omp parallel for schedule(static, 1) if (rows() * rows() * stride > kWorthThreads)
  for (Index p = 0; p < parts; ++p) {
    Part& part = parts_[p];
    for (Index block = p; block < blocks; block += parts) {
      const Index begin = block * kBlockRows, count = std::min(kBlockRows, rows() - begin);
      gemm(false, true, count, rows(), stride, 1, padded_.data() + begin * stride, stride, padded_.data(), stride, 0,
           part.products.data(), rows());
      for (Index i = begin; i < begin + count; ++i) {
        if (targets_.count(i) == 0) continue;
        double* distances = part.products.row(i - begin).data();
        pair_kernels().products_to_distances(heights_.data(), rows(), distances);
        const double limit = 1 + slack + farthest_target(i, part) - heights_(i);
        const Index class_begin = ranges_.begin[i];
        Index near =
            pair_kernels().collect_near(distances, limit, 0, class_begin, part.index.data(), part.distances.data());
        near += pair_kernels().collect_near(distances, limit, ranges_.end[i], rows(), part.index.data() + near,
                                            part.distances.data() + near);
        found[i].assign(part.index.begin(), part.index.begin() + near);
      }
    }
  }
  ImpostorSet set;
  set.begin.push_back(0);
  set.first_triplet.push_back(0);
  for (Index i = 0; i < rows(); ++i) {
    const auto& impostors = found[i];
    set.rows.insert(set.rows.end(), impostors.begin(), impostors.end());
    set.begin.push_back(set.size());
    for (std::size_t l = 0; l < impostors.size(); ++l) {
      set.first_triplet.push_back(set.first_triplet.back() + targets_.count(i));
    }
  }
  return set;
}

struct LargeMarginLoss::Evaluation {
  const ImpostorSet& set;
  double width;
  const double* earlier;  // null: all 0
  double* multipliers;    // null: not wanted
};

void LargeMarginLoss::evaluate_row(Index row, const Evaluation& evaluation, Part& part) const {
  const Index targets = targets_.count(row);
  if (targets == 0) return;
  const Index begin = evaluation.set.begin[row];
  const Index impostors = evaluation.set.begin[row + 1] - begin;
  const int* index = evaluation.set.rows.data() + begin;
  farthest_target(row, part);
  part.value += (1 - mu_) * part.target_distances.head(targets).sum();
  part.target_weights.head(targets).setConstant(1 - mu_);
  pair_kernels().pair_distances(padded_.data(), padded_.cols(), row, index, impostors, part.distances.data());
  const double inverse_width = evaluation.width > 0 ? 1 / evaluation.width : 0;
  double hinges = 0;
  Index active = 0;
  for (Index l = 0; l < impostors; ++l) {
    const Index first = evaluation.set.first_triplet[begin + l];
    double weight = 0;
    for (Index j = 0; j < targets; ++j) {
      const double s = 1 + part.target_distances(j) - part.distances(l);
      const double earlier = evaluation.earlier == nullptr ? 0 : evaluation.earlier[first + j];
      const double a = evaluation.width > 0 ? std::clamp(earlier + s * inverse_width, 0.0, 1.0) : (s > 0 ? 1.0 : 0.0);
      hinges += a * s - evaluation.width / 2 * (a - earlier) * (a - earlier);
      part.target_weights(j) += mu_ * a;
      weight += a;
      if (evaluation.multipliers != nullptr) evaluation.multipliers[first + j] = a;
    }
    part.index[active] = index[l];
    part.weights(active) = -mu_ * weight;
    active += weight > 0 ? 1 : 0;
  }
  part.value += mu_ * hinges;
  spread(row, part.index.data(), active, part);
}

void LargeMarginLoss::spread(Index row, const int* impostors, Index count, Part& part) const {
  pair_kernels().spread_differences(padded_.data(), padded_.cols(), row, targets_.of(row), part.target_weights.data(),
                                    targets_.count(row), part.pulls.data());
  pair_kernels().spread_differences(padded_.data(), padded_.cols(), row, impostors, part.weights.data(), count,
                                    part.pulls.data());
}

double LargeMarginLoss::evaluate(const Matrix& embedded, const ImpostorSet& set, double width,
                                 const std::vector<double>& earlier, Matrix& gradient,
                                 std::vector<double>* multipliers) {
  embed(embedded);
  if (multipliers != nullptr) multipliers->resize(set.triplets());
  const Evaluation evaluation{set, width, earlier.empty() ? nullptr : earlier.data(),
                              multipliers == nullptr ? nullptr : multipliers->data()};
  const auto parts = static_cast<Index>(parts_.size());
#pragma omp parallel for schedule(static, 1) if ((set.size() + targets_.size()) * padded_.cols() > kWorthThreads)
  for (Index p = 0; p < parts; ++p) {
    Part& part = parts_[p];
    part.pulls.setZero(rows(), padded_.cols());
    part.value = 0;
    for (Index i = rows() * p / parts; i < rows() * (p + 1) / parts; ++i) evaluate_row(i, evaluation, part);
  }
  double value = 0;
  gradient.setZero(rows(), embedded.cols());
  for (const Part& part : parts_) {
    value += part.value;
    gradient += 2 * part.pulls.leftCols(embedded.cols());
  }
  return value;
}

Eigen::MatrixXd LargeMarginLoss::metric_gradient(const Matrix& coordinates, const ImpostorSet& set,
                                                 const std::vector<double>& multipliers) {
  embed(coordinates);
  Part& part = parts_.front();
  part.pulls.setZero(rows(), padded_.cols());
  for (Index row = 0; row < rows(); ++row) {
    const Index targets = targets_.count(row);
    const Index begin = set.begin[row], end = set.begin[row + 1];
    part.target_weights.head(targets).setConstant(1 - mu_);
    for (Index l = begin; l < end; ++l) {
      const double* first = multipliers.data() + set.first_triplet[l];
      const Eigen::Map<const Vector> of_impostor(first, targets);
      part.target_weights.head(targets) += mu_ * of_impostor;
      part.weights(l - begin) = -mu_ * of_impostor.sum();
    }
    spread(row, set.rows.data() + begin, end - begin, part);
  }
  const Matrix product = transposed_product(coordinates, part.pulls.leftCols(coordinates.cols()));
  return (product + product.transpose()) / 2;
}

}  // namespace bregmax::internal
