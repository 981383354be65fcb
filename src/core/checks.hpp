#pragma once

// Checks of what a caller gives: each throws Error that names the field, what was found and what is allowed.

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "bregmax/core/error.hpp"
#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

[[noreturn]] void throw_error(fmt::string_view message, fmt::format_args values);

template <class... Values>
[[noreturn]] void fail(fmt::format_string<Values...> message, Values&&... values) {
  throw_error(message, fmt::make_format_args(values...));
}

template <class... Values>
void require(bool holds, fmt::format_string<Values...> message, Values&&... values) {
  if (!holds) throw_error(message, fmt::make_format_args(values...));
}

void check_not_empty(const MatrixView& rows, std::string_view name);
void check_same_features(const MatrixView& a, std::string_view a_name, const MatrixView& b, std::string_view b_name);
void check_classes(std::span<const int> classes, Index rows, std::string_view name);
void check_range(Index value, Index low, Index high, std::string_view name, std::string_view high_name);
void check_at_least(Index value, Index low, std::string_view name);

}  // namespace bregmax::internal
