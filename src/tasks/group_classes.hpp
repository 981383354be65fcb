#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "search/reference_groups.hpp"

namespace bregmax::internal {

// How many members of each class a group has; only the classes that it has are listed.
class GroupClasses {
 public:
  struct Entry {
    int class_number;
    std::int32_t rows;
  };

  GroupClasses(const ReferenceGroups& groups, std::span<const int> classes) {
    std::vector<std::pair<Index, int>> members(classes.size());
    for (std::size_t row = 0; row < classes.size(); ++row) members[row] = {groups.group_of_row[row], classes[row]};
    std::sort(members.begin(), members.end());
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i == 0 || members[i].first != members[i - 1].first) begins_.push_back(entries_.size());
      if (i == 0 || members[i] != members[i - 1]) entries_.push_back({members[i].second, 0});
      ++entries_.back().rows;
    }
    begins_.push_back(entries_.size());
  }

  std::span<const Entry> of_group(Index group) const {
    return {entries_.data() + begins_[group], entries_.data() + begins_[group + 1]};
  }
  std::int32_t rows(Index group, int class_number) const {
    for (const Entry& entry : of_group(group)) {
      if (entry.class_number == class_number) return entry.rows;
    }
    return 0;
  }

 private:
  std::vector<Entry> entries_;  // those of group g start at begins_[g]
  std::vector<std::size_t> begins_;
};

}  // namespace bregmax::internal
