#pragma once

#include <vector>

#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// A set of entries (row, other piece) of the divergence grid, compressed: sorted by the row's own piece, the other
// piece and the row. D of the entries of one ordered pair of pieces is the difference of the two, an affine function,
// at their rows. The memory is that of the entries and of K^2 numbers.
class RowEntries {
 public:
  explicit RowEntries(const LearningProblem& problem);

  struct Entry {
    Index row, other;
  };
  // Entries begin .. end - 1 of one ordered pair; pairs with many entries have several chunks.
  struct Chunk {
    Index own, other, begin, end;
  };

  Index size() const { return std::ssize(row_); }
  Index row(Index position) const { return row_[position]; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  // kNoEntry: not in the set.
  Index position(Index row, Index other) const;

  // Adds entries in any order, known or not; the other piece may not be the row's own. Returns the new position of each
  // old entry.
  std::vector<Index> add(const std::vector<Entry>& entries);
  // All of them, in the order of the positions.
  std::vector<Entry> entries() const;

 private:
  struct Key {
    Index pair, row;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys(const std::vector<Entry>& entries) const;
  void set_chunks();

  const LearningProblem& problem_;
  std::vector<Index> pair_begin_;  // K^2 + 1 positions
  std::vector<Index> row_;
  std::vector<Chunk> chunks_;
};

}  // namespace bregmax::internal
