#include "methods/training_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "bregmax/data/table.hpp"
#include "bregmax/supervision/sample.hpp"
#include "core/checks.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "divergence/checks.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {

void check_bounded_rows(const MatrixView& rows) {
  require(rows.size() > 0, "the data is {} x {}; at least one row and one feature are needed", rows.rows(),
          rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) {
      require(std::abs(rows(i, j)) <= kLargestEntry, "row {} feature {} is {}; allowed: finite numbers up to {:g}", i,
              j, rows(i, j), kLargestEntry);
    }
  }
}

void check_labels(const ClassOfRow& class_of_row, Index rows, bool two_classes) {
  require(std::ssize(class_of_row) == rows, "there are {} labels for {} rows; allowed: one per row",
          class_of_row.size(), rows);
  if (!two_classes) return;
  const std::set<int> classes(class_of_row.begin(), class_of_row.end());
  require(classes.size() >= 2, "found {} class; two classes or more are needed", classes.size());
  require(classes.size() < class_of_row.size(), "found {} classes of one row; a class with two rows or more is needed",
          classes.size());
}

void check_given_items(const MethodSupervision& supervision, Index rows) {
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) check_items(*pairs, rows);
  if (const auto* targets = std::get_if<Targets>(&supervision)) check_items(*targets, rows);
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) check_items(*comparisons, rows);
}

void check_row_weights(const std::vector<double>& weights, const MethodSupervision& supervision, Index rows) {
  if (weights.empty()) return;
  require(std::holds_alternative<ClassOfRow>(supervision),
          "there are weights of rows, which go with labels; {} have weights of their own",
          supervision_name(supervision));
  require(std::ssize(weights) == rows, "there are {} weights for {} rows; allowed: one per row", weights.size(), rows);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    require(weights[i] >= 0 && std::isfinite(weights[i]), "the weight of row {} is {}; allowed: finite numbers >= 0", i,
            weights[i]);
  }
  require(std::ranges::max(weights) > 0, "every row has weight 0; at least one must count");
}

std::vector<double> select_weights(const std::vector<double>& weights, const std::vector<Index>& rows) {
  std::vector<double> selected;
  if (weights.empty()) return selected;
  selected.reserve(rows.size());
  for (const Index row : rows) selected.push_back(weights[row]);
  return selected;
}

OrderedRows order_by_class(const MatrixView& rows, const ClassOfRow& class_of_row) {
  std::vector<Index> all(class_of_row.size());
  std::iota(all.begin(), all.end(), 0);
  return order_by_class(rows, class_of_row, all);
}

OrderedRows order_by_class(const MatrixView& rows, const ClassOfRow& class_of_row, const std::vector<Index>& numbers) {
  std::vector<Index> order = numbers;
  std::ranges::stable_sort(order, {}, [&](Index row) { return class_of_row[row]; });
  return {rows(order, Eigen::all), select_rows(class_of_row, order)};
}

ClassRanges::ClassRanges(const ClassOfRow& ordered_classes)
    : begin(ordered_classes.size()), end(ordered_classes.size()) {
  for (std::size_t first = 0, next = 0; first < ordered_classes.size(); first = next) {
    while (next < ordered_classes.size() && ordered_classes[next] == ordered_classes[first]) ++next;
    for (std::size_t i = first; i < next; ++i) {
      begin[i] = static_cast<Index>(first);
      end[i] = static_cast<Index>(next);
    }
  }
}

Matrix centered(const MatrixView& rows) { return rows.rowwise() - rows.colwise().mean(); }

Eigen::MatrixXd covariance(const Matrix& centered_rows) {
  return transposed_product(centered_rows, centered_rows) / static_cast<double>(centered_rows.rows());
}

Whitening::Whitening(const Eigen::MatrixXd& scatter, double negligible) {
  const SymmetricEigen eigen(scatter);
  const Index kept = (eigen.values.array() > negligible * std::max(eigen.values.maxCoeff(), 0.0)).count();
  const Vector deviations = eigen.values.tail(kept).cwiseSqrt();
  from = eigen.vectors.rightCols(kept) * deviations.cwiseInverse().asDiagonal();
  back = deviations.asDiagonal() * eigen.vectors.rightCols(kept).transpose();
}

Pairs pairs_of(const MethodSupervision& supervision, const MethodChoices& choices) {
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) return *pairs;
  const auto& class_of_row = std::get<ClassOfRow>(supervision);
  const auto classes = static_cast<Index>(std::set<int>(class_of_row.begin(), class_of_row.end()).size());
  const Index count = choices.whole("constraints");
  return sample_pairs(class_of_row, count > 0 ? count : 20 * classes * classes, choices.seed);
}

}  // namespace bregmax::internal
