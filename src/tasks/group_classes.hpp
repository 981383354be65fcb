#pragma once

#include <cstdint>
#include <span>

#include "search/reference_groups.hpp"

namespace bregmax::internal {

// How many members of each class a group has; only the classes that it has are listed.
class GroupClasses {
 public:
  struct Entry {
    int class_number;
    std::int32_t rows;
  };

  GroupClasses(const ReferenceGroups& groups, std::span<const int> classes);

  std::span<const Entry> of_group(Index group) const {
    const auto first = begins_[static_cast<std::size_t>(group)];
    return {entries_.data() + first, begins_[static_cast<std::size_t>(group) + 1] - first};
  }
  std::int32_t rows(Index group) const { return rows_[static_cast<std::size_t>(group)]; }
  std::int32_t rows(Index group, int class_number) const {
    for (const Entry& entry : of_group(group)) {
      if (entry.class_number == class_number) return entry.rows;
    }
    return 0;
  }

 private:
  std::vector<Entry> entries_;  // those of group g start at begins_[g]
  std::vector<std::size_t> begins_;
  std::vector<std::int32_t> rows_;
};

}  // namespace bregmax::internal
