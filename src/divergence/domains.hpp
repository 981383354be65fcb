#pragma once

// The domains that several generators share.

#include <fmt/format.h>

#include <string_view>

#include "bregmax/core/error.hpp"
#include "divergence/checks.hpp"

namespace bregmax::internal {

// Throws Error naming the first feature for which `allowed` is false.
template <class Allowed>
void check_features(const VectorView& row, Index row_number, RowRole role, std::string_view divergence,
                    std::string_view rule, const Allowed& allowed) {
  for (Index i = 0; i < row.size(); ++i) {
    if (allowed(row(i))) continue;
    throw Error(fmt::format("{} row {}, feature {} is {}; {} takes {}s with {}", role_name(role), row_number, i, row(i),
                            divergence, role_name(role), rule));
  }
}

// Where x log x is finite (points), and where its derivative is, too (references).
inline void check_entropy_domain(const VectorView& row, Index row_number, RowRole role, std::string_view divergence) {
  if (role == RowRole::kPoint) {
    check_features(row, row_number, role, divergence, "entries >= 0", [](double x) { return x >= 0; });
  } else {
    check_features(row, row_number, role, divergence, "entries > 0", [](double x) { return x > 0; });
  }
}

}  // namespace bregmax::internal
