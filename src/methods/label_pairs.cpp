#include "methods/label_pairs.hpp"

#include <set>

#include "bregmax/supervision/sample.hpp"
#include "methods/checks.hpp"

namespace bregmax::internal {

Pairs pairs_of(const MethodSupervision& supervision, Index count, std::uint64_t seed) {
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) return *pairs;
  const auto& class_of_row = std::get<ClassOfRow>(supervision);
  check_two_classes(class_of_row, static_cast<Index>(class_of_row.size()));
  const auto classes = static_cast<Index>(std::set<int>(class_of_row.begin(), class_of_row.end()).size());
  return sample_pairs(class_of_row, count > 0 ? count : 20 * classes * classes, seed);
}

}  // namespace bregmax::internal
