#include "bregmax/supervision/sample.hpp"

#include <fmt/format.h>

#include <map>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"

namespace bregmax {
namespace {

// The rows sorted by class, so that a class is a range and all other rows are what is left and right of it.
struct RowsByClass {
  struct Range {
    Index begin, end;
    Index size() const { return end - begin; }
  };

  explicit RowsByClass(const std::vector<int>& class_of_row) {
    std::map<int, std::vector<Index>> members;
    for (std::size_t row = 0; row < class_of_row.size(); ++row) {
      members[class_of_row[row]].push_back(static_cast<Index>(row));
    }
    classes = static_cast<Index>(members.size());
    for (const auto& [class_number, class_rows] : members) {
      const auto begin = static_cast<Index>(rows.size());
      rows.insert(rows.end(), class_rows.begin(), class_rows.end());
      const Range range{begin, static_cast<Index>(rows.size())};
      if (range.size() < 2) continue;
      for (Index at = range.begin; at < range.end; ++at) {
        with_company.push_back(at);
        range_of.push_back(range);
      }
    }
  }

  Index size() const { return static_cast<Index>(rows.size()); }
  Index row(Index at) const { return rows[static_cast<std::size_t>(at)]; }

  std::vector<Index> rows;          // sorted by class
  std::vector<Index> with_company;  // positions in `rows` whose class has two rows or more
  std::vector<Range> range_of;      // their classes
  Index classes = 0;
};

}  // namespace

Comparisons sample_comparisons(const std::vector<int>& class_of_row, Index count, std::uint64_t seed) {
  if (count < 1) throw Error(fmt::format("the number of comparisons is {}; allowed: 1 or more", count));
  const RowsByClass by_class(class_of_row);
  if (by_class.classes < 2) {
    throw Error(fmt::format("comparisons from labels need two classes or more; found {} in {} rows", by_class.classes,
                            by_class.size()));
  }
  if (by_class.with_company.empty()) {
    throw Error(fmt::format("comparisons from labels need a class with two rows or more; found {} classes of one row",
                            by_class.classes));
  }
  Random random(seed);
  Comparisons comparisons;
  comparisons.reserve(static_cast<std::size_t>(count));
  for (Index drawn = 0; drawn < count; ++drawn) {
    // A uniform row falls into each class by the frequency of the class, and so does a uniform row of the others.
    const auto pick = static_cast<std::size_t>(random.uniform_index(static_cast<Index>(by_class.with_company.size())));
    const Index i = by_class.with_company[pick];
    const RowsByClass::Range own = by_class.range_of[pick];
    Index j = own.begin + random.uniform_index(own.size() - 1);
    if (j >= i) ++j;
    Index l = random.uniform_index(by_class.size() - own.size());
    if (l >= own.begin) l += own.size();
    comparisons.push_back({by_class.row(i), by_class.row(j), by_class.row(i), by_class.row(l)});
  }
  return comparisons;
}

Pairs all_pairs(const std::vector<int>& class_of_row) {
  const auto rows = static_cast<Index>(class_of_row.size());
  if (rows < 2) throw Error(fmt::format("pairs from labels need two rows or more; found {}", rows));
  Pairs pairs;
  pairs.reserve(class_of_row.size() * (class_of_row.size() - 1));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      if (i == j) continue;
      const bool similar = class_of_row[static_cast<std::size_t>(i)] == class_of_row[static_cast<std::size_t>(j)];
      pairs.push_back({i, j, similar});
    }
  }
  return pairs;
}

}  // namespace bregmax
