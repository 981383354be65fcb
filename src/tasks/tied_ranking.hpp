#pragma once

// Scores of one ranking with ties, from the sizes of its tied groups.

#include <cstdint>
#include <span>
#include <vector>

#include "bregmax/tasks/scores.hpp"
#include "search/reference_groups.hpp"

namespace bregmax::internal {

// Candidates known to be at one distance.
struct Candidates {
  double distance;
  std::int32_t relevant;
  std::int32_t irrelevant;
};

// H(n) = 1 + 1/2 + ... + 1/n for n = 0 .. size. Differences of these are multiplied by counts, so that doubles would
// leave about 1e-11 of noise at 20,000 candidates; long doubles leave none where they are longer.
class HarmonicNumbers {
 public:
  explicit HarmonicNumbers(Index size);
  // 1/(first + 1) + ... + 1/(first + count)
  double sum_after(Index first, Index count) const {
    return static_cast<double>(sums_[static_cast<std::size_t>(first + count)] - sums_[static_cast<std::size_t>(first)]);
  }

 private:
  std::vector<long double> sums_;
};

// Expected sum, over the relevant members of a tied group in a uniformly random order, of the precision at their place.
// Before the group come `before` candidates, `relevant_before` of them relevant.
double expected_precision_sum(Index before, Index relevant_before, Index relevant, Index irrelevant,
                              const HarmonicNumbers& harmonic);

// By distance; `scratch` is work space. A radix sort when there are many: nearly three times as fast for 20,000.
void sort_by_distance(std::vector<Candidates>& candidates, std::vector<Candidates>& scratch);

// Of sorted candidates; a tied group is all that is tied with its nearest member. `tolerance` is kTieTolerance, or 0
// where distances are to be taken exactly. `harmonic` reaches to the number of candidates.
RankingScores tied_ranking_scores(std::span<const Candidates> candidates, Index k, const HarmonicNumbers& harmonic,
                                  double tolerance);

}  // namespace bregmax::internal
