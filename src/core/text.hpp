#pragma once

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace bregmax::internal {

std::string joined(const std::vector<std::string>& texts, std::string_view separator);

// The same for anything that can be printed, or has a member that can be; faster to compile than fmt::join.
template <class Range, class Member = std::identity>
std::string joined(const Range& items, std::string_view separator, Member member = {}) {
  std::string all;
  std::string_view before;
  for (const auto& item : items) {
    fmt::format_to(std::back_inserter(all), "{}{}", before, std::invoke(member, item));
    before = separator;
  }
  return all;
}

}  // namespace bregmax::internal
