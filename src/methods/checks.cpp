#include "methods/checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

constexpr double kLargestEntry = 1e100;  // as for every divergence

void check_member(Index row, Index rows, std::string_view what, std::size_t item) {
  if (row < 0 || row >= rows) {
    throw Error(fmt::format("{} {} names row {}; allowed: 0 to {}", what, item, row, rows - 1));
  }
}

void check_weight(double weight, std::string_view what, std::size_t item) {
  if (!(weight >= 0) || !std::isfinite(weight)) {
    throw Error(fmt::format("the weight of {} {} is {}; allowed: finite and >= 0", what, item, weight));
  }
}

}  // namespace

void check_bounded_rows(const MatrixView& rows) {
  if (rows.rows() == 0 || rows.cols() == 0) {
    throw Error(
        fmt::format("the data is {} x {}; at least one row and one feature are needed", rows.rows(), rows.cols()));
  }
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) {
      if (!(std::abs(rows(i, j)) <= kLargestEntry)) {
        throw Error(fmt::format("row {} feature {} is {}; allowed: finite numbers up to {:g}", i, j, rows(i, j),
                                kLargestEntry));
      }
    }
  }
}

void check_classes(const ClassOfRow& class_of_row, Index rows) {
  if (static_cast<Index>(class_of_row.size()) != rows) {
    throw Error(fmt::format("there are {} labels for {} rows; allowed: one a row", class_of_row.size(), rows));
  }
}

void check_two_classes(const ClassOfRow& class_of_row, Index rows) {
  check_classes(class_of_row, rows);
  std::map<int, Index> size_of;
  for (const int row_class : class_of_row) ++size_of[row_class];
  if (size_of.size() < 2) {
    throw Error(fmt::format("found {} class; allowed: two or more", size_of.size()));
  }
  for (const auto& [row_class, size] : size_of) {
    if (size >= 2) return;
  }
  throw Error(fmt::format("found {} classes of one row; a class with two rows or more is needed", size_of.size()));
}

void check_pairs(const Pairs& pairs, Index rows) {
  if (pairs.empty()) throw Error("there are no pairs; at least one is needed");
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    check_member(pairs[p].i, rows, "pair", p);
    check_member(pairs[p].j, rows, "pair", p);
    check_weight(pairs[p].weight, "pair", p);
  }
}

void check_targets(const Targets& targets, Index rows) {
  if (targets.empty()) throw Error("there are no targets; at least one is needed");
  for (std::size_t t = 0; t < targets.size(); ++t) {
    check_member(targets[t].i, rows, "target", t);
    check_member(targets[t].j, rows, "target", t);
    check_weight(targets[t].weight, "target", t);
    if (!(std::abs(targets[t].value) <= kLargestEntry)) {
      throw Error(fmt::format("the value of target {} is {}; allowed: finite numbers up to {:g}", t, targets[t].value,
                              kLargestEntry));
    }
  }
}

void check_limits(const MethodLimits& limits) {
  check_positive(limits.tolerance, "the tolerance");
  check_not_negative(limits.time_limit, "the time limit");
  if (limits.max_iterations < 1) {
    throw Error(fmt::format("the iteration limit is {}; allowed: 1 or more", limits.max_iterations));
  }
}

void check_positive(double value, std::string_view what) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw Error(fmt::format("{} is {}; allowed: a finite number > 0", what, value));
  }
}

void check_not_negative(double value, std::string_view what) {
  if (!(value >= 0) || !std::isfinite(value)) {
    throw Error(fmt::format("{} is {}; allowed: a finite number >= 0", what, value));
  }
}

}  // namespace bregmax::internal
