#include "core/text.hpp"

#include <sstream>

namespace bregmax::internal {

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string all;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    if (t > 0) all += separator;
    all += texts[t];
  }
  return all;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace bregmax::internal
