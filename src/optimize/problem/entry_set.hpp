#pragma once

#include <vector>

#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// The entries of the divergence grid that the solver works on, by piece and then by location.
//
// It starts with the supervised entries and the nearest locations of each piece; a solver adds an entry when its
// divergence becomes low. A set that would start with half of the grid or more is the whole grid ("complete"). The
// position of an entry is then its number in the grid.
class EntrySet {
 public:
  explicit EntrySet(const CanonicalProblem& problem);

  Index size() const { return size_; }
  bool complete() const { return size_ == problem_.entries(); }
  // Positions of the entries of one piece: begin(piece) .. begin(piece + 1) - 1.
  Index begin(Index piece) const { return begin_[piece]; }
  Index location(Index position) const { return location_[position]; }
  Index entry(Index position) const { return entry_[position]; }
  bool contains(Index entry) const { return position_[entry] != kNoEntry; }
  // For members of the set only.
  Index position(Index entry) const { return position_[entry]; }

  // Adds an entry; positions are valid again after renumber().
  void add(Index entry) { position_[entry] = 0; }
  void renumber();

 private:
  void add_supervised();
  void add_nearest();

  const CanonicalProblem& problem_;
  Index size_ = 0;
  std::vector<Index> begin_, location_, entry_, position_;
};

}  // namespace bregmax::internal
