#include "bregmax/tasks/nearest_neighbours.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "core/checks.hpp"
#include "search/tiled_search.hpp"
#include "tasks/group_classes.hpp"

namespace bregmax {
namespace {

// A neighbour group and the votes of each of its rows, as a fraction whose denominator is VoteBuffer::denominator.
struct Voters {
  double divergence;
  Index group;
  std::int64_t votes_per_row;
};

// Work space of one thread: one query after another.
class VoteBuffer {
 public:
  explicit VoteBuffer(const internal::ReferenceGroups& groups)
      : references_(*groups.references), tie_tolerance_(groups.tie_tolerance), all_(1, groups.size()) {}

  std::vector<Neighbour> near;  // their rows are numbers of groups
  std::vector<Voters> voters;
  std::int64_t denominator = 1;

  // bound: no divergence of the query is larger.
  void begin_query(const MatrixView& query, double bound) {
    query_ = query;
    bound_ = bound;
    all_known_ = false;
    median_.reset();
  }

  // No divergence above this is tied with `nearest`. Ties are relative to the median divergence, but an upper bound on
  // all divergences is known much faster.
  double not_tied_beyond(double nearest) const { return internal::farthest_tied(nearest, bound_, tie_tolerance_); }

  bool tied(double nearest, double divergence) { return equal(nearest, divergence, tie_tolerance_); }
  // Means of divergences carry rounding even where the divergences are exact.
  bool means_tied(double nearest, double mean) {
    return equal(nearest, mean, {internal::kRoundingTies, tie_tolerance_.absolute});
  }

  // The divergences of the query from all groups. Only ties need them.
  std::span<const double> divergences() {
    if (!all_known_) references_.divergences_from(query_, all_);
    all_known_ = true;
    return {all_.data(), static_cast<std::size_t>(all_.size())};
  }

  // The divergence at this position (from 0) in ascending order.
  double smallest(Index position) {
    const std::span<const double> all = divergences();
    sorted_.assign(all.begin(), all.end());
    const auto found = sorted_.begin() + position;
    std::nth_element(sorted_.begin(), found, sorted_.end());
    return *found;
  }

 private:
  bool equal(double nearest, double other, const internal::TieTolerance& tolerance) {
    if (other <= nearest) return true;
    if (other > internal::farthest_tied(nearest, bound_, tolerance)) return false;
    return other <= internal::farthest_tied(nearest, median(), tolerance);
  }

  double median() {
    if (!median_) median_ = smallest(references_.size() / 2);
    return *median_;
  }

  const ReferenceSet& references_;
  internal::TieTolerance tie_tolerance_;
  Matrix query_;
  double bound_ = 0;
  Matrix all_;
  bool all_known_ = false;
  std::optional<double> median_;  // of this query, once it was needed
  std::vector<double> sorted_;
};

// Fills buffer.near with the k nearest groups and all that are tied with the farthest of them, nearest first.
// nearest_groups: the k + 1 nearest, or all that there are, nearest first.
void find_near(std::span<const Neighbour> nearest_groups, Index k, VoteBuffer& buffer) {
  auto& near = buffer.near;
  near.assign(nearest_groups.begin(), nearest_groups.end());
  if (std::ssize(near) <= k) return;
  const double next = near.back().divergence;
  near.pop_back();
  const double farthest = near.back().divergence;
  if (next > buffer.not_tied_beyond(farthest)) return;
  // All divergences at once from here on: those of the search carry another rounding, which must not decide.
  near.clear();
  const double kth = buffer.smallest(k - 1);
  const std::span<const double> divergences = buffer.divergences();
  for (Index g = 0; g < std::ssize(divergences); ++g) {
    if (buffer.tied(kth, divergences[g])) near.push_back({g, divergences[g]});
  }
  std::ranges::sort(near, {}, &Neighbour::divergence);
}

// Fills buffer.voters, nearest first. Votes are whole multiples of 1 / (rows tied at the k-th distance), so that equal
// numbers of votes compare equal.
void find_voters(std::span<const Neighbour> nearest_groups, Index k, const std::vector<Index>& group_sizes,
                 VoteBuffer& buffer) {
  // Every group has a row, so that the k-th row is no farther than the k-th group: the rest need not be sorted.
  find_near(nearest_groups, k, buffer);
  auto& near = buffer.near;
  buffer.voters.clear();
  Index nearer_rows = 0;
  for (std::size_t first = 0, end = 0;; first = end) {
    Index tied_rows = 0;
    const double divergence = near[first].divergence;
    for (; end < near.size() && buffer.tied(divergence, near[end].divergence); ++end) {
      near[end].divergence = divergence;  // so that tied ones are equal from here on
      tied_rows += group_sizes[near[end].row];
    }
    if (nearer_rows + tied_rows < k) {
      nearer_rows += tied_rows;
      continue;
    }
    buffer.denominator = tied_rows;
    for (std::size_t i = 0; i < end; ++i) {
      buffer.voters.push_back({near[i].divergence, near[i].row, i < first ? tied_rows : k - nearer_rows});
    }
    return;
  }
}

// Runs find_voters for every query and calls consume(query, buffer) from several threads.
template <class Consume>
void for_each_vote(const internal::ReferenceGroups& groups, const MatrixView& queries, Index k,
                   const Consume& consume) {
  const std::vector<Index> group_sizes = groups.sizes();
  std::vector<VoteBuffer> buffers(omp_get_max_threads(), VoteBuffer(groups));
  internal::for_each_query(*groups.references, queries, k + 1, {}, [&](const internal::NearestOfQuery& found) {
    VoteBuffer& buffer = buffers[omp_get_thread_num()];
    buffer.begin_query(queries.middleRows(found.query, 1), found.bound);
    find_voters(found.nearest, k, group_sizes, buffer);
    consume(found.query, buffer);
  });
}

// One class in the vote. The divergence sums are comparable between classes with equal votes, as their means are.
struct Tally {
  int class_number;
  std::int64_t votes;
  double divergence_sum;
};

// Votes are sums of whole numbers, and a class's voters at one divergence are counted before they are multiplied by it:
// both are the same for every order of the stored rows.
std::vector<Tally> count_votes(const VoteBuffer& buffer, const internal::GroupClasses& group_classes) {
  std::map<int, Tally> tallies;
  std::map<int, std::int64_t> tied_votes;  // of the voters at one divergence
  for (std::size_t i = 0; i < buffer.voters.size(); ++i) {
    const Voters& voters = buffer.voters[i];
    for (const auto& entry : group_classes.of_group(voters.group)) {
      tied_votes[entry.class_number] += entry.rows * voters.votes_per_row;
    }
    if (i + 1 < buffer.voters.size() && buffer.voters[i + 1].divergence == voters.divergence) continue;
    for (const auto& [class_number, votes] : tied_votes) {
      auto& tally = tallies.try_emplace(class_number, Tally{class_number, 0, 0}).first->second;
      tally.votes += votes;
      tally.divergence_sum += static_cast<double>(votes) * voters.divergence;
    }
    tied_votes.clear();
  }
  std::vector<Tally> result;
  result.reserve(tallies.size());
  for (const auto& [class_number, tally] : tallies) result.push_back(tally);
  return result;
}

template <class Value>
void keep_largest(std::vector<Tally>& tallies, const Value& value) {
  const auto largest = value(*std::ranges::max_element(tallies, {}, value));
  std::erase_if(tallies, [&](const Tally& tally) { return value(tally) < largest; });
}

void keep_nearest(std::vector<Tally>& tallies, VoteBuffer& buffer) {
  if (tallies.size() == 1) return;
  const auto votes = static_cast<double>(tallies.front().votes);
  const double smallest = std::ranges::min_element(tallies, {}, &Tally::divergence_sum)->divergence_sum;
  std::erase_if(tallies,
                [&](const Tally& tally) { return !buffer.means_tied(smallest / votes, tally.divergence_sum / votes); });
}

void check_input(const Divergence& divergence, const MatrixView& stored, const MatrixView& queries, Index k) {
  internal::check_not_empty(stored, "stored");
  internal::check_not_empty(queries, "queries");
  internal::check_same_features(queries, "queries", stored, "stored");
  internal::check_range(k, 1, stored.rows(), "k", "the number of stored rows");
  divergence.check_points(queries);
  divergence.check_references(stored);
}

}  // namespace

Classification classify_nearest(const Divergence& divergence, const MatrixView& stored,
                                std::span<const int> stored_classes, const MatrixView& queries, Index k) {
  check_input(divergence, stored, queries, k);
  internal::check_classes(stored_classes, stored.rows(), "stored_classes");

  const internal::ReferenceGroups groups = internal::group_references(divergence, stored);
  const internal::GroupClasses group_classes(groups, stored_classes);
  std::map<int, Index> class_sizes;
  for (const int class_number : stored_classes) ++class_sizes[class_number];

  const std::size_t count = queries.rows();
  Classification result{std::vector<int>(count), std::vector<double>(count), std::vector<std::vector<int>>(count)};
  const auto decide = [&](Index query, VoteBuffer& buffer) {
    std::vector<Tally> tallies = count_votes(buffer, group_classes);
    keep_largest(tallies, [](const Tally& tally) { return tally.votes; });
    keep_nearest(tallies, buffer);
    keep_largest(tallies, [&](const Tally& tally) { return class_sizes.at(tally.class_number); });
    for (const Tally& tally : tallies) result.winners[query].push_back(tally.class_number);
    result.predicted[query] = tallies.front().class_number;
    result.share[query] = static_cast<double>(tallies.front().votes) / static_cast<double>(k * buffer.denominator);
  };
  for_each_vote(groups, queries, k, decide);
  return result;
}

double expected_accuracy(const Classification& classification, std::span<const int> actual) {
  const auto& winners = classification.winners;
  internal::require(!winners.empty(), "classification has no queries; allowed: at least one");
  internal::check_classes(actual, std::ssize(winners), "actual");
  // Counted by the number of winners: the sum is then the same for every order of the queries.
  std::map<std::size_t, std::int64_t> hits;
  for (std::size_t q = 0; q < winners.size(); ++q) {
    if (std::binary_search(winners[q].begin(), winners[q].end(), actual[q])) ++hits[winners[q].size()];
  }
  double correct = 0;
  for (const auto& [tied, count] : hits) correct += static_cast<double>(count) / static_cast<double>(tied);
  return correct / static_cast<double>(winners.size());
}

Vector regress_nearest(const Divergence& divergence, const MatrixView& stored, const VectorView& stored_targets,
                       const MatrixView& queries, Index k) {
  check_input(divergence, stored, queries, k);
  internal::require(stored_targets.size() == stored.rows(),
                    "stored_targets has {} entries; allowed: {}, one per stored row", stored_targets.size(),
                    stored.rows());
  for (Index row = 0; row < stored.rows(); ++row) {
    internal::require(std::isfinite(stored_targets(row)), "stored_targets[{}] is {}; allowed: finite numbers", row,
                      stored_targets(row));
  }

  const internal::ReferenceGroups groups = internal::group_references(divergence, stored);
  Vector group_sums = Vector::Zero(groups.size());
  for (Index row = 0; row < stored.rows(); ++row) group_sums(groups.group_of_row[row]) += stored_targets(row);
  Vector predicted(queries.rows());
  const auto average = [&](Index query, const VoteBuffer& buffer) {
    double sum = 0;
    for (const Voters& voters : buffer.voters) {
      sum += static_cast<double>(voters.votes_per_row) * group_sums(voters.group);
    }
    predicted(query) = sum / static_cast<double>(k * buffer.denominator);
  };
  for_each_vote(groups, queries, k, average);
  return predicted;
}

}  // namespace bregmax
