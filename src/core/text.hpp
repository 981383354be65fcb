#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace bregmax::internal {

std::string joined(const std::vector<std::string>& texts, std::string_view separator);

// The same for anything that can be printed; faster to compile than fmt::join.
template <class Range>
std::string joined(const Range& items, std::string_view separator) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(fmt::format("{}", item));
  return joined(texts, separator);
}

}  // namespace bregmax::internal
