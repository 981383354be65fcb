#include "core/text.hpp"

namespace bregmax::internal {

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string all;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    if (t > 0) all += separator;
    all += texts[t];
  }
  return all;
}

}  // namespace bregmax::internal
