#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// References that no point can tell apart: for a max-affine divergence all those on one piece (D depends on the
// reference only through its piece), for others each on its own. A query is then measured against the groups, at most
// as many as pieces, however many references there are.
struct ReferenceGroups {
  std::vector<Index> group_of_row;
  std::unique_ptr<ReferenceSet> references;  // one a group; the divergence must outlive it
  double tie_tolerance;                      // of divergences from one query, see tied_ranking.hpp

  Index size() const { return references->size(); }
};

ReferenceGroups group_references(const Divergence& divergence, const MatrixView& references);

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

// Rows of points to measure against `columns` references at a time: about 16 MB of divergences.
inline Index block_rows(Index columns) {
  constexpr Index kBlockEntries = Index{1} << 21;
  return std::clamp<Index>(kBlockEntries / std::max<Index>(columns, 1), 1, 4096);
}

// Blocks with fewer entries are left to one thread: below about a millisecond of work threads cost more than they save,
// and many times more where other programs keep the cores busy.
inline constexpr Index kEntriesForThreads = 100000;

}  // namespace bregmax::internal
