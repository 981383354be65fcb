#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "data/text.hpp"

namespace bregmax::internal {

// Names that mark a last column as the labels.
inline bool is_label_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"class", "label", "target", "species"};
  const std::string lower = lower_case(trim_spaces(name));
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

}  // namespace bregmax::internal
