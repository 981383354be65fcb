#include "core/checks.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {

void check_not_empty(const MatrixView& rows, std::string_view name) {
  if (rows.rows() == 0 || rows.cols() == 0) {
    throw Error(
        fmt::format("{} has {} rows and {} features; allowed: at least one of each", name, rows.rows(), rows.cols()));
  }
}

void check_same_features(const MatrixView& a, std::string_view a_name, const MatrixView& b, std::string_view b_name) {
  if (a.cols() != b.cols()) {
    throw Error(fmt::format("{} has {} features; allowed: {}, as {} has", a_name, a.cols(), b.cols(), b_name));
  }
}

void check_classes(std::span<const int> classes, Index rows, std::string_view name) {
  if (static_cast<Index>(classes.size()) != rows) {
    throw Error(fmt::format("{} has {} entries; allowed: {}, one per row", name, classes.size(), rows));
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0) {
      throw Error(fmt::format("{}[{}] is {}; allowed: whole numbers from 0", name, i, classes[i]));
    }
  }
}

void check_range(Index value, Index low, Index high, std::string_view name, std::string_view high_name) {
  if (value < low || value > high) {
    throw Error(fmt::format("{} is {}; allowed: {} to {} ({})", name, value, low, high, high_name));
  }
}

void check_at_least(Index value, Index low, std::string_view name) {
  if (value < low) throw Error(fmt::format("{} is {}; allowed: {} or more", name, value, low));
}

}  // namespace bregmax::internal
