#include "bregmax/tasks/scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/checks.hpp"
#include "tasks/tied_ranking.hpp"

namespace bregmax {
namespace {

// Sizes of the groups of each grouping and of their intersections (the non-zero cells of the contingency table: the
// full one could have rows^2 cells). Each list is sorted, so that sums over it do not depend on the numbering.
struct Contingency {
  std::int64_t rows = 0;
  std::vector<std::int64_t> cluster_sizes, class_sizes, cell_sizes;
};

template <class T>
std::vector<std::int64_t> sorted_run_lengths(std::vector<T> items) {
  std::sort(items.begin(), items.end());
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || items[i] != items[i - 1]) lengths.push_back(0);
    ++lengths.back();
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

void check_groupings(std::span<const int> clusters, std::span<const int> classes) {
  internal::require(!clusters.empty(), "clusters has no entries; allowed: at least one");
  internal::check_classes(clusters, std::ssize(clusters), "clusters");
  internal::check_classes(classes, std::ssize(clusters), "classes");
}

std::vector<std::pair<int, int>> zipped(std::span<const int> clusters, std::span<const int> classes) {
  std::vector<std::pair<int, int>> cells(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) cells[i] = {clusters[i], classes[i]};
  return cells;
}

Contingency contingency(std::span<const int> clusters, std::span<const int> classes) {
  check_groupings(clusters, classes);
  return {static_cast<std::int64_t>(clusters.size()),
          sorted_run_lengths(std::vector<int>(clusters.begin(), clusters.end())),
          sorted_run_lengths(std::vector<int>(classes.begin(), classes.end())),
          sorted_run_lengths(zipped(clusters, classes))};
}

std::int64_t pairs(std::int64_t size) { return size * (size - 1) / 2; }

std::int64_t pairs_within(const std::vector<std::int64_t>& sizes) {
  std::int64_t total = 0;
  for (const auto size : sizes) total += pairs(size);
  return total;
}

double entropy(const std::vector<std::int64_t>& sizes, std::int64_t rows) {
  if (sizes.size() == 1) return 0;  // exactly, so that single groups are recognised
  double total = 0;
  for (const auto size : sizes) {
    const double fraction = static_cast<double>(size) / static_cast<double>(rows);
    total -= fraction * std::log(fraction);
  }
  return total;
}

}  // namespace

double rand_index(std::span<const int> clusters, std::span<const int> classes) {
  const Contingency table = contingency(clusters, classes);
  const std::int64_t all = pairs(table.rows);
  if (all == 0) return 1;
  const std::int64_t together = pairs_within(table.cell_sizes);
  const std::int64_t apart = all - pairs_within(table.cluster_sizes) - pairs_within(table.class_sizes) + together;
  return static_cast<double>(together + apart) / static_cast<double>(all);
}

double adjusted_rand_index(std::span<const int> clusters, std::span<const int> classes) {
  const Contingency table = contingency(clusters, classes);
  const auto all = static_cast<double>(pairs(table.rows));
  const auto in_cluster = static_cast<double>(pairs_within(table.cluster_sizes));
  const auto in_class = static_cast<double>(pairs_within(table.class_sizes));
  const bool both_single = in_cluster == all && in_class == all;
  const bool both_apart = in_cluster == 0 && in_class == 0;
  if (both_single || both_apart) return 1;
  const double expected = in_cluster * (in_class / all);
  const double largest = (in_cluster + in_class) / 2;
  return (static_cast<double>(pairs_within(table.cell_sizes)) - expected) / (largest - expected);
}

double normalised_mutual_information(std::span<const int> clusters, std::span<const int> classes) {
  const Contingency table = contingency(clusters, classes);
  const double cluster_entropy = entropy(table.cluster_sizes, table.rows);
  const double class_entropy = entropy(table.class_sizes, table.rows);
  if (cluster_entropy == 0 && class_entropy == 0) return 1;
  const double information = cluster_entropy + class_entropy - entropy(table.cell_sizes, table.rows);
  return std::clamp(2 * information / (cluster_entropy + class_entropy), 0.0, 1.0);
}

double purity(std::span<const int> clusters, std::span<const int> classes) {
  check_groupings(clusters, classes);
  auto cells = zipped(clusters, classes);
  std::sort(cells.begin(), cells.end());
  std::int64_t correct = 0, largest = 0, run = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && cells[i].first != cells[i - 1].first) correct += std::exchange(largest, 0);
    run = i > 0 && cells[i] == cells[i - 1] ? run + 1 : 1;
    largest = std::max(largest, run);
  }
  return static_cast<double>(correct + largest) / static_cast<double>(cells.size());
}

RankingScores ranking_scores(std::span<const double> distances, const std::vector<bool>& relevant, Index k) {
  internal::require(distances.size() == relevant.size(), "relevant has {} entries; allowed: {}, one per distance",
                    relevant.size(), distances.size());
  internal::check_at_least(k, 1, "k");
  std::vector<internal::TiedGroup> candidates, scratch;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    internal::require(std::isfinite(distances[i]), "distances[{}] is {}; allowed: finite numbers", i, distances[i]);
    candidates.push_back({distances[i], relevant[i], !relevant[i]});
  }
  internal::sort_by_distance(candidates, scratch);
  return internal::tied_ranking_scores(candidates, k, internal::harmonic_numbers(std::ssize(candidates)), {});
}

namespace {

// Ranks from 1; equal values have the mean of theirs.
Vector mean_ranks(const VectorView& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index row) { return values(row); });
  Vector ranks(values.size());
  for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
    while (next < order.size() && values(order[next]) == values(order[first])) ++next;
    const double mean = static_cast<double>(first + 1 + next) / 2;
    for (std::size_t at = first; at < next; ++at) ranks(order[at]) = mean;
  }
  return ranks;
}

double correlation(Vector first, Vector second) {
  first.array() -= first.mean();
  second.array() -= second.mean();
  const double scale = first.norm() * second.norm();
  return scale > 0 ? first.dot(second) / scale : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

RegressionScores regression_scores(const VectorView& actual, const VectorView& predicted) {
  internal::require(actual.size() >= 1 && actual.size() == predicted.size(),
                    "there are {} actual and {} predicted values; allowed: equally many, at least one", actual.size(),
                    predicted.size());
  internal::require(actual.allFinite() && predicted.allFinite(), "values are not finite; allowed: finite numbers");
  RegressionScores scores;
  const Vector errors = predicted - actual;
  const double spread = (actual.array() - actual.mean()).matrix().squaredNorm();
  if (actual.minCoeff() < actual.maxCoeff()) scores.r2 = 1 - errors.squaredNorm() / spread;
  scores.mean_absolute_error = errors.cwiseAbs().mean();
  scores.rank_correlation = correlation(mean_ranks(actual), mean_ranks(predicted));
  return scores;
}

}  // namespace bregmax
