#include "bregmax/tasks/nearest_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/point_scores.hpp"
#include "tasks/checks.hpp"
#include "tasks/reference_groups.hpp"
#include "tasks/tied_ranking.hpp"

namespace bregmax {
namespace {

// The scores of a block of queries and of a block of groups stay in the second-level cache until they were looked at.
constexpr Index kBlockQueries = 128, kBlockGroups = 256;

struct NearGroup {
  double divergence;
  Index group;
};

// A neighbour group and the votes of each of its rows, as a fraction whose denominator is VoteBuffer::denominator.
struct Voters {
  double divergence;
  Index group;
  std::int64_t votes_per_row;
};

bool nearer(const NearGroup& a, const NearGroup& b) { return a.divergence < b.divergence; }

void replace_farthest(std::vector<NearGroup>& heap, const NearGroup& group) {
  std::pop_heap(heap.begin(), heap.end(), nearer);
  heap.back() = group;
  std::push_heap(heap.begin(), heap.end(), nearer);
}

// The nearest groups of one query, found while their scores go by.
class NearestSoFar {
 public:
  void begin(Index kept) {
    kept_ = static_cast<std::size_t>(kept);
    nearest_.clear();
  }

  // The scores of groups first, first + 1, ... After the first of them hardly any comes in, so that it is enough to
  // look at the least of a chunk at a time.
  void look_at(Index first, std::span<const double> scores) {
    constexpr std::size_t kChunk = 64;
    for (std::size_t begin = 0; begin < scores.size(); begin += kChunk) {
      const std::span<const double> chunk = scores.subspan(begin, std::min(kChunk, scores.size() - begin));
      const Eigen::Map<const Eigen::ArrayXd> entries(chunk.data(), static_cast<Index>(chunk.size()));
      if (nearest_.size() == kept_ && entries.minCoeff() >= nearest_.front().divergence) continue;
      for (std::size_t i = 0; i < chunk.size(); ++i) insert({chunk[i], first + static_cast<Index>(begin + i)});
    }
  }

  const std::vector<NearGroup>& nearest() const { return nearest_; }  // with scores, in no order

 private:
  void insert(const NearGroup& group) {
    if (nearest_.size() < kept_) {
      nearest_.push_back(group);
      std::push_heap(nearest_.begin(), nearest_.end(), nearer);
    } else if (group.divergence < nearest_.front().divergence) {
      replace_farthest(nearest_, group);
    }
  }

  std::size_t kept_ = 0;
  std::vector<NearGroup> nearest_;  // a heap
};

// Work space of one thread: one query after another.
class VoteBuffer {
 public:
  explicit VoteBuffer(const internal::ReferenceGroups& groups)
      : references_(*groups.references), tie_tolerance_(groups.tie_tolerance), all_(1, groups.size()) {}

  std::vector<NearGroup> near;
  std::vector<Voters> voters;
  std::int64_t denominator = 1;

  // bound: no divergence of the query is larger.
  void begin_query(const MatrixView& query, double bound) {
    query_ = query;
    bound_ = bound;
    all_known_ = false;
    median_.reset();
  }

  // What is farther is not tied with `nearest`. The scale of the rounding is the median of the divergences; a bound on
  // all of them is known much faster.
  double not_tied_beyond(double nearest) const { return internal::farthest_tied(nearest, bound_, tie_tolerance_); }

  bool tied(double nearest, double divergence) { return equal(nearest, divergence, tie_tolerance_); }
  // Means of divergences carry rounding even where the divergences are exact.
  bool means_tied(double nearest, double mean) { return equal(nearest, mean, internal::kTieTolerance); }

  // Of the query from every group. Only ties need them.
  std::span<const double> divergences() {
    if (!all_known_) references_.divergences_from(query_, all_);
    all_known_ = true;
    return {all_.data(), static_cast<std::size_t>(all_.size())};
  }

  // The divergence with so many smaller ones.
  double smallest(Index position) {
    const std::span<const double> all = divergences();
    sorted_.assign(all.begin(), all.end());
    const auto found = sorted_.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(sorted_.begin(), found, sorted_.end());
    return *found;
  }

 private:
  bool equal(double nearest, double other, double tolerance) {
    if (other <= nearest) return true;
    if (other > internal::farthest_tied(nearest, bound_, tolerance)) return false;
    return other <= internal::farthest_tied(nearest, median(), tolerance);
  }

  double median() {
    if (!median_) median_ = smallest(references_.size() / 2);
    return *median_;
  }

  const ReferenceSet& references_;
  double tie_tolerance_;
  Matrix query_;
  double bound_ = 0;
  Matrix all_;
  bool all_known_ = false;
  std::optional<double> median_;  // of this query, once it was needed
  std::vector<double> sorted_;
};

// Fills buffer.near with the k nearest groups and all that are tied with the farthest of them, nearest first.
// nearest_groups: the k + 1 nearest, or all that there are.
void find_near(const std::vector<NearGroup>& nearest_groups, Index k, VoteBuffer& buffer) {
  auto& near = buffer.near;
  near = nearest_groups;
  std::sort(near.begin(), near.end(), nearer);
  if (static_cast<Index>(near.size()) <= k) return;
  const double next = near.back().divergence;
  near.pop_back();
  const double farthest = near.back().divergence;
  if (next > buffer.not_tied_beyond(farthest)) return;
  // From here on by divergences only: scores carry another rounding, which must not decide.
  near.clear();
  const double kth = buffer.smallest(k - 1);
  const std::span<const double> divergences = buffer.divergences();
  for (std::size_t g = 0; g < divergences.size(); ++g) {
    if (buffer.tied(kth, divergences[g])) near.push_back({divergences[g], static_cast<Index>(g)});
  }
  std::sort(near.begin(), near.end(), nearer);
}

// Fills buffer.voters, nearest first. Votes are whole multiples of 1 / (rows tied at the k-th distance), so that equal
// numbers of votes compare equal.
template <class RowsOfGroup>
void find_voters(const std::vector<NearGroup>& nearest_groups, Index k, const RowsOfGroup& rows_of,
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
      tied_rows += rows_of(near[end].group);
    }
    if (nearer_rows + tied_rows < k) {
      nearer_rows += tied_rows;
      continue;
    }
    buffer.denominator = tied_rows;
    for (std::size_t i = 0; i < end; ++i) {
      buffer.voters.push_back({near[i].divergence, near[i].group, i < first ? tied_rows : k - nearer_rows});
    }
    return;
  }
}

// The nearest groups of each query of a block, by their scores.
void search_block(const PointScores& scores, Index groups, Index kept, Matrix& tile,
                  std::span<NearestSoFar> nearest_of) {
  for (NearestSoFar& nearest : nearest_of) nearest.begin(kept);
  for (Index first = 0; first < groups; first += kBlockGroups) {
    const Index count = std::min(kBlockGroups, groups - first);
    scores.scores(first, tile.topLeftCorner(static_cast<Index>(nearest_of.size()), count));
    for (std::size_t q = 0; q < nearest_of.size(); ++q) {
      nearest_of[q].look_at(first, {tile.row(static_cast<Index>(q)).data(), static_cast<std::size_t>(count)});
    }
  }
}

// Runs find_voters for every query and calls consume(query, buffer) from several threads, in blocks of queries. Queries
// were checked before: nothing in the parallel region throws over its input.
template <class RowsOfGroup, class Consume>
void for_each_query(const internal::ReferenceGroups& groups, const MatrixView& queries, Index k,
                    const RowsOfGroup& rows_of, const Consume& consume) {
  const Index kept = std::min(k + 1, groups.size());
#pragma omp parallel if (queries.rows() * groups.size() > internal::kEntriesForThreads)
  {
    Matrix tile(kBlockQueries, std::min(kBlockGroups, groups.size()));
    std::vector<NearestSoFar> nearest_of(kBlockQueries);
    std::vector<NearGroup> nearest_groups;
    VoteBuffer buffer(groups);
#pragma omp for schedule(dynamic, 1)
    for (Index first = 0; first < queries.rows(); first += kBlockQueries) {
      const Index size = std::min(kBlockQueries, queries.rows() - first);
      const auto scores = scores_of(*groups.references, queries.middleRows(first, size));
      search_block(*scores, groups.size(), kept, tile, std::span(nearest_of).first(static_cast<std::size_t>(size)));
      for (Index q = 0; q < size; ++q) {
        const NearestSoFar& nearest = nearest_of[static_cast<std::size_t>(q)];
        nearest_groups = nearest.nearest();
        for (NearGroup& near : nearest_groups) near.divergence = scores->divergence(q, near.divergence);
        buffer.begin_query(queries.middleRows(first + q, 1), scores->divergence(q, scores->bound(q)));
        find_voters(nearest_groups, k, rows_of, buffer);
        consume(first + q, buffer);
      }
    }
  }
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
  const auto largest = value(*std::max_element(tallies.begin(), tallies.end(),
                                               [&](const Tally& a, const Tally& b) { return value(a) < value(b); }));
  std::erase_if(tallies, [&](const Tally& tally) { return value(tally) < largest; });
}

void keep_nearest(std::vector<Tally>& tallies, VoteBuffer& buffer) {
  if (tallies.size() == 1) return;
  const auto votes = static_cast<double>(tallies.front().votes);
  double smallest = tallies.front().divergence_sum;
  for (const Tally& tally : tallies) smallest = std::min(smallest, tally.divergence_sum);
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
                                std::span<const int> stored_classes, const MatrixView& queries,
                                const NearestNeighbourOptions& options) {
  check_input(divergence, stored, queries, options.k);
  internal::check_classes(stored_classes, stored.rows(), "stored_classes");

  const internal::ReferenceGroups groups = internal::group_references(divergence, stored);
  const internal::GroupClasses group_classes(groups, stored_classes);
  std::map<int, Index> class_sizes;
  for (const int class_number : stored_classes) ++class_sizes[class_number];

  const auto count = static_cast<std::size_t>(queries.rows());
  Classification result{std::vector<int>(count), std::vector<double>(count), std::vector<std::vector<int>>(count)};
  const auto decide = [&](Index query, VoteBuffer& buffer) {
    std::vector<Tally> tallies = count_votes(buffer, group_classes);
    keep_largest(tallies, [](const Tally& tally) { return tally.votes; });
    keep_nearest(tallies, buffer);
    keep_largest(tallies, [&](const Tally& tally) { return class_sizes.at(tally.class_number); });
    const auto q = static_cast<std::size_t>(query);
    for (const Tally& tally : tallies) result.winners[q].push_back(tally.class_number);
    result.predicted[q] = result.winners[q].front();
    result.share[q] = static_cast<double>(tallies.front().votes) / static_cast<double>(options.k * buffer.denominator);
  };
  for_each_query(
      groups, queries, options.k, [&](Index group) { return group_classes.rows(group); }, decide);
  return result;
}

double expected_accuracy(const Classification& classification, std::span<const int> actual) {
  const auto& winners = classification.winners;
  if (winners.empty()) throw Error("classification has no queries; allowed: at least one");
  internal::check_classes(actual, static_cast<Index>(winners.size()), "actual");
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
                       const MatrixView& queries, const NearestNeighbourOptions& options) {
  check_input(divergence, stored, queries, options.k);
  if (stored_targets.size() != stored.rows()) {
    throw Error(fmt::format("stored_targets has {} entries; allowed: {}, one a stored row", stored_targets.size(),
                            stored.rows()));
  }
  for (Index row = 0; row < stored.rows(); ++row) {
    if (!std::isfinite(stored_targets(row))) {
      throw Error(fmt::format("stored_targets[{}] is {}; allowed: finite numbers", row, stored_targets(row)));
    }
  }

  const internal::ReferenceGroups groups = internal::group_references(divergence, stored);
  std::vector<Index> group_rows(static_cast<std::size_t>(groups.size()));
  Vector group_sums = Vector::Zero(groups.size());
  for (Index row = 0; row < stored.rows(); ++row) {
    const Index group = groups.group_of_row[static_cast<std::size_t>(row)];
    ++group_rows[static_cast<std::size_t>(group)];
    group_sums(group) += stored_targets(row);
  }
  Vector predicted(queries.rows());
  const auto average = [&](Index query, const VoteBuffer& buffer) {
    double sum = 0;
    for (const Voters& voters : buffer.voters) {
      sum += static_cast<double>(voters.votes_per_row) * group_sums(voters.group);
    }
    predicted(query) = sum / static_cast<double>(options.k * buffer.denominator);
  };
  for_each_query(
      groups, queries, options.k, [&](Index group) { return group_rows[static_cast<std::size_t>(group)]; }, average);
  return predicted;
}

}  // namespace bregmax
