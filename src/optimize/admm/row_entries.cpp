#include "optimize/admm/row_entries.hpp"

#include <algorithm>
#include <compare>

namespace bregmax::internal {

RowEntries::RowEntries(const LearningProblem& problem)
    : problem_(problem), pair_begin_(static_cast<Index>(problem.pieces) * problem.pieces + 1, 0) {}

Index RowEntries::position(Index row, Index other) const {
  const Index pair = static_cast<Index>(problem_.piece_of[row]) * problem_.pieces + other;
  const auto begin = row_.begin() + pair_begin_[pair], end = row_.begin() + pair_begin_[pair + 1];
  const auto found = std::lower_bound(begin, end, row);
  return found != end && *found == row ? found - row_.begin() : kNoEntry;
}

std::vector<RowEntries::Entry> RowEntries::entries() const {
  std::vector<Entry> list(row_.size());
  for (const Chunk& chunk : chunks_) {
    for (Index p = chunk.begin; p < chunk.end; ++p) list[p] = {row(p), chunk.other};
  }
  return list;
}

std::vector<RowEntries::Key> RowEntries::keys(const std::vector<Entry>& entries) const {
  std::vector<Key> keys(entries.size());
  std::transform(entries.begin(), entries.end(), keys.begin(), [&](const Entry& e) {
    return Key{static_cast<Index>(problem_.piece_of[e.row]) * problem_.pieces + e.other, e.row};
  });
  return keys;
}

std::vector<Index> RowEntries::add(const std::vector<Entry>& entries) {
  const std::vector<Key> before = keys(this->entries());
  std::vector<Key> found = keys(entries), all;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  all.reserve(before.size() + found.size());
  std::set_union(before.begin(), before.end(), found.begin(), found.end(), std::back_inserter(all));

  std::vector<Index> moved_to(before.size());
  row_.resize(all.size());
  std::fill(pair_begin_.begin(), pair_begin_.end(), 0);
  std::size_t old = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    row_[p] = all[p].row;
    ++pair_begin_[all[p].pair + 1];
    if (old < before.size() && before[old] == all[p]) moved_to[old++] = static_cast<Index>(p);
  }
  for (std::size_t pair = 1; pair < pair_begin_.size(); ++pair) pair_begin_[pair] += pair_begin_[pair - 1];
  set_chunks();
  return moved_to;
}

void RowEntries::set_chunks() {
  constexpr Index kMostOfAChunk = 512;
  chunks_.clear();
  const Index pieces = problem_.pieces;
  for (Index pair = 0; pair < pieces * pieces; ++pair) {
    for (Index p = pair_begin_[pair]; p < pair_begin_[pair + 1]; p += kMostOfAChunk) {
      chunks_.push_back({pair / pieces, pair % pieces, p, std::min(p + kMostOfAChunk, pair_begin_[pair + 1])});
    }
  }
}

}  // namespace bregmax::internal
