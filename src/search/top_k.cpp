#include "bregmax/search/top_k.hpp"

#include <algorithm>

#include "core/checks.hpp"
#include "search/reference_groups.hpp"
#include "search/tiled_search.hpp"

namespace bregmax {
namespace {

std::vector<std::vector<Index>> rows_of_groups(const internal::ReferenceGroups& groups) {
  std::vector<std::vector<Index>> rows(groups.size());
  for (Index row = 0; row < std::ssize(groups.group_of_row); ++row) rows[groups.group_of_row[row]].push_back(row);
  return rows;
}

// The first `kept` rows of the groups. Rows of tied groups are ordered by row number and get the divergence of the
// nearest group. Empty if the last tie may go on beyond these groups.
std::vector<Neighbour> rows_of(std::span<const Neighbour> nearest_groups, const std::vector<std::vector<Index>>& rows,
                               Index kept, double resolution) {
  std::vector<Neighbour> list;
  for (std::size_t g = 0; g < nearest_groups.size() && std::ssize(list) < kept;) {
    const double divergence = nearest_groups[g].divergence;
    const Index begin = std::ssize(list);
    for (; g < nearest_groups.size() && nearest_groups[g].divergence <= divergence + resolution; ++g) {
      // The rows of a group ascend, so that no more of them than are missing can be among the first.
      const std::vector<Index>& of_group = rows[nearest_groups[g].row];
      const Index counted = std::min<Index>(kept - begin, std::ssize(of_group));
      for (Index i = 0; i < counted; ++i) list.push_back({of_group[i], divergence});
    }
    if (resolution > 0 && g == nearest_groups.size() && g < rows.size()) return {};
    const auto enough = list.begin() + std::min(kept, std::ssize(list));
    std::ranges::partial_sort(list.begin() + begin, enough, list.end(), {}, &Neighbour::row);
  }
  list.resize(kept);
  return list;
}

// All groups, nearest first.
std::vector<Neighbour> sorted_groups(const ReferenceSet& groups, const MatrixView& query) {
  Matrix divergences(1, groups.size());
  groups.divergences_from(query, divergences);
  std::vector<Neighbour> sorted;
  sorted.reserve(groups.size());
  for (Index g = 0; g < groups.size(); ++g) sorted.push_back({g, divergences(0, g)});
  std::ranges::stable_sort(sorted, {}, &Neighbour::divergence);
  return sorted;
}

}  // namespace

std::vector<std::vector<Neighbour>> top_k(const Divergence& divergence, const MatrixView& references,
                                          const MatrixView& queries, Index k, const RunControl& control) {
  internal::check_not_empty(queries, "queries");
  internal::check_not_empty(references, "references");
  internal::check_same_features(queries, "queries", references, "references");
  internal::check_at_least(k, 0, "k");
  divergence.check_points(queries);
  divergence.check_references(references);

  const Index kept = k == 0 ? references.rows() : std::min(k, references.rows());
  const internal::ReferenceGroups groups = internal::group_references(divergence, references);
  const std::vector<std::vector<Index>> rows = rows_of_groups(groups);
  std::vector<std::vector<Neighbour>> lists(queries.rows());
  const double resolution = divergence.resolution();
  const auto keep = [&](const internal::NearestOfQuery& found) {
    auto& list = lists[found.query] = rows_of(found.nearest, rows, kept, resolution);
    if (!list.empty()) return;
    list = rows_of(sorted_groups(*groups.references, queries.middleRows(found.query, 1)), rows, kept, resolution);
  };
  // The k nearest groups have the k nearest rows: each group has one, and among equal ones the first row is kept. The
  // next group shows whether a tie within the resolution ends with them.
  const Index searched = resolution > 0 ? kept + 1 : kept;
  lists.resize(internal::for_each_query(*groups.references, queries, searched, control, keep));
  return lists;
}

}  // namespace bregmax
