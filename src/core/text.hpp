#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checks.hpp"

namespace bregmax::internal {

// Items that can be printed, or have a member that can be; faster to compile than fmt::join.
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

// "a,b," as a, b and an empty text.
std::vector<std::string> split_at_commas(const std::string& text);

// For people: "0.3 s", "12 min", "3 h 05 min". Tenths of a second do not matter after a minute.
std::string duration(double seconds);

// The whole text as a number with a decimal point; nothing if it is not one, or beyond the type.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

// The item of this name. Throws Error that begins with `unknown` and lists the names.
template <class Named>
const Named& item_named(const std::vector<Named>& list, std::string_view name, std::string_view unknown) {
  const auto found = std::ranges::find(list, name, &Named::name);
  if (found != list.end()) return *found;
  fail("{} '{}'; allowed: {}", unknown, name, list.empty() ? "none" : joined(list, ", ", &Named::name));
}

// The value that to_string() gives this name. Throws Error that begins with `field` and lists the names.
template <class Values>
auto value_named(const Values& values, std::string_view name, std::string_view field) {
  const auto text = [](auto value) { return to_string(value); };
  const auto found = std::ranges::find(values, name, text);
  if (found != std::ranges::end(values)) return *found;
  fail("{} is '{}'; allowed: {}", field, name, joined(values, ", ", text));
}

}  // namespace bregmax::internal
