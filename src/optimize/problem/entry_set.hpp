#pragma once

#include <vector>

#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// The entries of the divergence grid that the solver works on, by piece and then by location.
//
// Most convexity constraints are far from active at any model worth looking at, and the more of them there are, the
// more the central path bends. So the set starts with what the supervision names and what lies next to each piece;
// the solver adds an entry when its divergence falls low. Where the supervision names most of the grid, the set is all
// of it ("complete"), and a position is a flat entry.
class EntrySet {
 public:
  explicit EntrySet(const CanonicalProblem& problem);

  Index size() const { return size_; }
  bool complete() const { return size_ == problem_.entries(); }
  // Positions of the entries of one piece: begin(piece) .. begin(piece + 1) - 1.
  Index begin(Index piece) const { return begin_[static_cast<std::size_t>(piece)]; }
  Index location(Index position) const { return location_[static_cast<std::size_t>(position)]; }
  Index entry(Index position) const { return entry_[static_cast<std::size_t>(position)]; }
  bool contains(Index entry) const { return position_[static_cast<std::size_t>(entry)] != kNoEntry; }
  // Of a member.
  Index position(Index entry) const { return position_[static_cast<std::size_t>(entry)]; }

  // Adds an entry; positions are valid again after renumber().
  void add(Index entry) { position_[static_cast<std::size_t>(entry)] = 0; }
  void renumber();

 private:
  void add_supervised();
  void add_nearest();

  const CanonicalProblem& problem_;
  Index size_ = 0;
  std::vector<Index> begin_, location_, entry_, position_;
};

}  // namespace bregmax::internal
