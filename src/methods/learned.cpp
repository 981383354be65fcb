#include "bregmax/methods/learned.hpp"

#include "bregmax/core/error.hpp"

namespace bregmax {

std::string to_string(Scale scale) { return scale == Scale::kStandard ? "standard" : "none"; }

std::string supervision_name(const MethodSupervision& supervision) {
  static constexpr const char* kNames[] = {"labels", "pairs", "targets", "comparisons", "pairs"};
  return kNames[supervision.index()];
}

Index item_count(const MethodSupervision& supervision) {
  return std::visit([](const auto& items) { return static_cast<Index>(items.size()); }, supervision);
}

Supervision items_of(const MethodSupervision& supervision) {
  return std::visit(
      [](const auto& items) -> Supervision {
        if constexpr (std::is_same_v<std::decay_t<decltype(items)>, ClassOfRow>) {
          throw Error("labels are no items; allowed: comparisons, pairs or targets");
        } else {
          return items;
        }
      },
      supervision);
}

MethodSupervision as_method_supervision(Supervision items) {
  return std::visit([](auto&& list) { return MethodSupervision(std::forward<decltype(list)>(list)); },
                    std::move(items));
}

}  // namespace bregmax
