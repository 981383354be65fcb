#include "tasks/tied_ranking.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace bregmax::internal {
namespace {

constexpr int kDigitBits = 11, kDigits = 6;  // 6 x 11 covers 64 bits
constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;

// Orders as the numbers do: the bits of a non-negative double ascend with it, those of a negative one descend.
std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

std::size_t digit_of(const TiedGroup& group, int digit) {
  return ordered_bits(group.distance) >> (digit * kDigitBits) & (kBuckets - 1);
}

}  // namespace

void sort_by_distance(std::vector<TiedGroup>& groups, std::vector<TiedGroup>& scratch) {
  if (groups.size() < 1024) {
    std::ranges::sort(groups, {}, &TiedGroup::distance);
    return;
  }
  scratch.resize(groups.size());
  std::array<std::uint32_t, kBuckets> places{};
  for (int digit = 0; digit < kDigits; ++digit) {
    places.fill(0);
    for (const TiedGroup& group : groups) ++places[digit_of(group, digit)];
    if (places[digit_of(groups.front(), digit)] == groups.size()) continue;  // all the same
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::uint32_t{0});
    for (const TiedGroup& group : groups) scratch[places[digit_of(group, digit)]++] = group;
    groups.swap(scratch);
  }
}

HarmonicNumbers harmonic_numbers(Index size) {
  HarmonicNumbers sums(size + 1);
  for (Index n = 1; n <= size; ++n) sums[n] = sums[n - 1] + 1.0L / static_cast<long double>(n);
  return sums;
}

// Place j = 1..t of the group (t = r + s) holds a relevant candidate with probability r/t. If it does, the other r - 1
// are spread evenly over the other t - 1 places, so that (j - 1) q of them are expected before it, q = (r-1)/(t-1), and
//
//   E = r/t sum_j (R + 1 + (j - 1) q) / (N + j)          N before the group, R of them relevant
//     = r/t [ q t + (R + 1 - q (N + 1)) sum_j 1/(N + j) ]     by (j - 1) q = q (N + j) - q (N + 1).
double expected_precision_sum(Index before, Index relevant_before, Index relevant, Index irrelevant,
                              const HarmonicNumbers& harmonic) {
  if (relevant == 0) return 0;
  const auto n = static_cast<double>(before);
  const auto first = static_cast<double>(relevant_before + 1);
  if (relevant + irrelevant == 1) return first / (n + 1);  // not tied: no rounding from the sums
  const auto r = static_cast<double>(relevant);
  const auto t = static_cast<double>(relevant + irrelevant);
  const double q = (r - 1) / (t - 1);
  const auto sum = static_cast<double>(harmonic[before + relevant + irrelevant] - harmonic[before]);
  return r / t * (q * t + (first - q * (n + 1)) * sum);
}

RankingScores tied_ranking_scores(std::span<const TiedGroup> groups, Index k, const HarmonicNumbers& harmonic,
                                  const TieTolerance& tolerance) {
  const double median = groups.empty() ? 0 : groups[groups.size() / 2].distance;
  Index before = 0, relevant_before = 0;
  std::int64_t twice_ordered_pairs = 0;  // relevant before irrelevant; a tied pair counts one half
  double precision_sum = 0, relevant_at_k = 0;
  for (std::size_t i = 0; i < groups.size();) {
    const double farthest = farthest_tied(groups[i].distance, median, tolerance);
    Index relevant = 0, irrelevant = 0;
    for (; i < groups.size() && groups[i].distance <= farthest; ++i) {
      relevant += groups[i].relevant;
      irrelevant += groups[i].irrelevant;
    }
    const Index size = relevant + irrelevant;
    if (size == 0) continue;
    twice_ordered_pairs += (2 * relevant_before + relevant) * irrelevant;
    precision_sum += expected_precision_sum(before, relevant_before, relevant, irrelevant, harmonic);
    // Each of the group's places within the first k is relevant with probability relevant / size.
    const Index places = std::clamp<Index>(k - before, 0, size);
    relevant_at_k += static_cast<double>(places * relevant) / static_cast<double>(size);
    before += size;
    relevant_before += relevant;
  }
  const Index irrelevant_total = before - relevant_before;
  if (relevant_before == 0 || irrelevant_total == 0) return {};
  return {.auc = static_cast<double>(twice_ordered_pairs) /
                 (2.0 * static_cast<double>(relevant_before) * static_cast<double>(irrelevant_total)),
          .average_precision = precision_sum / static_cast<double>(relevant_before),
          .precision_at_k = relevant_at_k / static_cast<double>(k)};
}

}  // namespace bregmax::internal
