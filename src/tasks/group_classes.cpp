#include "tasks/group_classes.hpp"

#include <algorithm>
#include <utility>

namespace bregmax::internal {

GroupClasses::GroupClasses(const ReferenceGroups& groups, std::span<const int> classes)
    : rows_(static_cast<std::size_t>(groups.size())) {
  std::vector<std::pair<Index, int>> members(classes.size());
  for (std::size_t row = 0; row < classes.size(); ++row) members[row] = {groups.group_of_row[row], classes[row]};
  std::sort(members.begin(), members.end());
  begins_.reserve(rows_.size() + 1);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 0 || members[i].first != members[i - 1].first) begins_.push_back(entries_.size());
    if (i == 0 || members[i] != members[i - 1]) entries_.push_back({members[i].second, 0});
    ++entries_.back().rows;
    ++rows_[static_cast<std::size_t>(members[i].first)];
  }
  begins_.push_back(entries_.size());
}

}  // namespace bregmax::internal
