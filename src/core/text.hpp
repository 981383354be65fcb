#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace bregmax::internal {

std::string joined(const std::vector<std::string>& texts, std::string_view separator);

// The same for anything that can be printed; faster to compile than fmt::join.
template <class Range>
std::string joined(const Range& items, std::string_view separator) {
  std::string all;
  std::string_view before;
  for (const auto& item : items) {
    fmt::format_to(std::back_inserter(all), "{}{}", before, item);
    before = separator;
  }
  return all;
}

}  // namespace bregmax::internal
