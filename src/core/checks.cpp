#include "core/checks.hpp"

namespace bregmax::internal {

void throw_error(fmt::string_view message, fmt::format_args values) { throw Error(fmt::vformat(message, values)); }

void check_not_empty(const MatrixView& rows, std::string_view name) {
  require(rows.size() > 0, "{} has {} rows and {} features; allowed: at least one of each", name, rows.rows(),
          rows.cols());
}

void check_same_features(const MatrixView& a, std::string_view a_name, const MatrixView& b, std::string_view b_name) {
  require(a.cols() == b.cols(), "{} has {} features; allowed: {}, as {} has", a_name, a.cols(), b.cols(), b_name);
}

void check_classes(std::span<const int> classes, Index rows, std::string_view name) {
  require(std::ssize(classes) == rows, "{} has {} entries; allowed: {}, one per row", name, classes.size(), rows);
  for (Index i = 0; i < rows; ++i) {
    require(classes[i] >= 0, "{}[{}] is {}; allowed: whole numbers from 0", name, i, classes[i]);
  }
}

void check_range(Index value, Index low, Index high, std::string_view name, std::string_view high_name) {
  require(value >= low && value <= high, "{} is {}; allowed: {} to {} ({})", name, value, low, high, high_name);
}

void check_at_least(Index value, Index low, std::string_view name) {
  require(value >= low, "{} is {}; allowed: {} or more", name, value, low);
}

}  // namespace bregmax::internal
