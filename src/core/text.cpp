#include "core/text.hpp"

#include <sstream>

namespace bregmax::internal {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

std::string duration(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kLongest = 1e9;
  if (seconds < 10 * kMinute) return fmt::format("{:.{}f} s", seconds, seconds < kMinute ? 1 : 0);
  const auto whole = static_cast<long long>(std::min(seconds, kLongest));
  if (seconds < kHour) return fmt::format("{} min", whole / 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace bregmax::internal
