#include "bregmax/supervision/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

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
      ranges.push_back(range);
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
  std::vector<Range> ranges;        // all classes
  Index classes = 0;
};

// `what` are the items that shall be made.
void check_classes(const RowsByClass& by_class, std::string_view what) {
  if (by_class.classes < 2) {
    throw Error(fmt::format("{} from labels need two classes or more; found {} in {} rows", what, by_class.classes,
                            by_class.size()));
  }
  if (by_class.with_company.empty()) {
    throw Error(fmt::format("{} from labels need a class with two rows or more; found {} classes of one row", what,
                            by_class.classes));
  }
}

void check_can_draw(const RowsByClass& by_class, Index count, std::string_view what) {
  if (count < 1) throw Error(fmt::format("the number of {} is {}; allowed: 1 or more", what, count));
  check_classes(by_class, what);
}

struct Neighbour {
  double distance;
  Index row;
  bool operator<(const Neighbour& other) const {
    return distance != other.distance ? distance < other.distance : row < other.row;
  }
};

// Leaves the `count` nearest, nearest first.
void keep_nearest(std::vector<Neighbour>& neighbours, Index count) {
  const auto kept = static_cast<std::ptrdiff_t>(std::min<Index>(count, static_cast<Index>(neighbours.size())));
  std::partial_sort(neighbours.begin(), neighbours.begin() + kept, neighbours.end());
  neighbours.resize(static_cast<std::size_t>(kept));
}

// `count` of the comparisons, each subset of that size equally likely, in their order.
void keep_random(Comparisons& comparisons, Index count, Random random) {
  auto needed = count;
  auto left = static_cast<Index>(comparisons.size());
  std::erase_if(comparisons, [&](const Comparison&) {
    const bool keep = random.uniform_index(left) < needed;
    --left;
    if (keep) --needed;
    return !keep;
  });
}

// All ordered pairs of the kind are numbered, class by class, and one number is drawn.
Pair draw_pair(const RowsByClass& by_class, bool similar, Random& random) {
  const auto partners = [&](const RowsByClass::Range& own) {
    return similar ? own.size() - 1 : by_class.size() - own.size();
  };
  Index total = 0;
  for (const RowsByClass::Range& own : by_class.ranges) total += own.size() * partners(own);
  Index number = random.uniform_index(total);
  auto own = by_class.ranges.begin();
  for (; number >= own->size() * partners(*own); ++own) number -= own->size() * partners(*own);
  const Index i = own->begin + number / partners(*own);
  Index j = number % partners(*own);
  if (similar) {
    j += own->begin;
    if (j >= i) ++j;
  } else if (j >= own->begin) {
    j += own->size();
  }
  return {by_class.row(i), by_class.row(j), similar};
}

}  // namespace

Comparisons sample_comparisons(const std::vector<int>& class_of_row, Index count, std::uint64_t seed) {
  const RowsByClass by_class(class_of_row);
  check_can_draw(by_class, count, "comparisons");
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

Comparisons hard_comparisons(const MatrixView& rows, const std::vector<int>& class_of_row, Index neighbours,
                             Index count, std::uint64_t seed) {
  if (neighbours < 1) throw Error(fmt::format("the number of neighbours is {}; allowed: 1 or more", neighbours));
  if (count < 0) throw Error(fmt::format("the number of comparisons is {}; allowed: 0 (all) or more", count));
  if (rows.rows() != static_cast<Index>(class_of_row.size())) {
    throw Error(
        fmt::format("there are {} classes for {} rows; allowed: one per row", class_of_row.size(), rows.rows()));
  }
  check_classes(RowsByClass(class_of_row), "comparisons");
  Comparisons comparisons;
  std::vector<Neighbour> genuine, impostors;
  for (Index i = 0; i < rows.rows(); ++i) {
    genuine.clear();
    impostors.clear();
    for (Index other = 0; other < rows.rows(); ++other) {
      if (other == i) continue;
      const bool same = class_of_row[static_cast<std::size_t>(other)] == class_of_row[static_cast<std::size_t>(i)];
      (same ? genuine : impostors).push_back({(rows.row(i) - rows.row(other)).squaredNorm(), other});
    }
    keep_nearest(genuine, neighbours);
    keep_nearest(impostors, neighbours);
    for (const Neighbour& j : genuine) {
      for (const Neighbour& l : impostors) comparisons.push_back({i, j.row, i, l.row});
    }
  }
  if (count > 0 && static_cast<Index>(comparisons.size()) > count) keep_random(comparisons, count, Random(seed));
  return comparisons;
}

Pairs sample_pairs(const std::vector<int>& class_of_row, Index count, std::uint64_t seed) {
  const RowsByClass by_class(class_of_row);
  check_can_draw(by_class, count, "pairs");
  Random random(seed);
  Pairs pairs;
  pairs.reserve(static_cast<std::size_t>(count));
  for (Index drawn = 0; drawn < count; ++drawn) {
    pairs.push_back(draw_pair(by_class, drawn < (count + 1) / 2, random));
  }
  return pairs;
}

Pairs all_pairs(const std::vector<int>& class_of_row) {
  const LabelPairs all = label_pairs(class_of_row);
  Pairs pairs;
  pairs.reserve(all.size());
  for (const Pair pair : all) pairs.push_back(pair);
  return pairs;
}

LabelPairs label_pairs(const std::vector<int>& class_of_row) {
  if (class_of_row.size() < 2) {
    throw Error(fmt::format("pairs from labels need two rows or more; found {}", class_of_row.size()));
  }
  return {class_of_row};
}

std::string to_string(LabelSupervision kind) {
  static constexpr const char* kNames[] = {"comparisons", "hard_comparisons", "all_pairs"};
  return kNames[static_cast<int>(kind)];
}

Supervision supervision_from_labels(const MatrixView& rows, const std::vector<int>& class_of_row,
                                    const LabelSupervisionOptions& options) {
  if (options.kind == LabelSupervision::kComparisons) {
    return sample_comparisons(class_of_row, options.comparisons, options.seed);
  }
  if (options.kind == LabelSupervision::kHardComparisons) {
    return hard_comparisons(rows, class_of_row, options.neighbours, options.comparisons, options.seed);
  }
  return label_pairs(class_of_row);
}

}  // namespace bregmax
