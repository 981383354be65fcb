#include "bregmax/supervision/sample.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "bregmax/core/random.hpp"
#include "core/checks.hpp"

namespace bregmax {

using internal::require;

namespace {

// Positions of rows that are sorted by class: a class is a range, and all other rows are left and right of it.
struct Range {
  Index begin, end;

  Index size() const { return end - begin; }
  // The k-th position in the range that is not `at`.
  Index other_than(Index at, Index k) const { return begin + k < at ? begin + k : begin + k + 1; }
  // The k-th position that is not in the range.
  Index outside(Index k) const { return k < begin ? k : k + size(); }
};

struct RowsByClass {
  // Throws Error unless there are two classes or more, one of them with two rows. `what` names the items in messages.
  RowsByClass(const std::vector<int>& class_of_row, std::string_view what) {
    std::map<int, std::vector<Index>> members;
    for (Index row = 0; row < std::ssize(class_of_row); ++row) members[class_of_row[row]].push_back(row);
    for (const auto& [class_number, class_rows] : members) {
      const Index begin = size();
      rows.insert(rows.end(), class_rows.begin(), class_rows.end());
      classes.push_back({begin, size()});
      if (class_rows.size() < 2) continue;
      for (Index at = begin; at < size(); ++at) with_company.emplace_back(at, classes.back());
    }
    require(classes.size() >= 2, "{} from labels need two classes or more; found {} in {} rows", what, classes.size(),
            size());
    require(!with_company.empty(), "{} from labels need a class with two rows or more; found {} classes of one row",
            what, classes.size());
  }

  Index size() const { return std::ssize(rows); }

  std::vector<Index> rows;  // sorted by class
  std::vector<Range> classes;
  std::vector<std::pair<Index, Range>> with_company;  // positions whose class has two rows or more, with that class
};

void check_count(Index count, std::string_view what) {
  require(count >= 1, "the number of {} is {}; allowed: 1 or more", what, count);
}

struct Neighbour {
  double distance;
  Index row;
  auto operator<=>(const Neighbour&) const = default;
};

// Leaves the `count` nearest, nearest first.
void keep_nearest(std::vector<Neighbour>& neighbours, Index count) {
  const Index kept = std::min<Index>(count, std::ssize(neighbours));
  std::partial_sort(neighbours.begin(), neighbours.begin() + kept, neighbours.end());
  neighbours.resize(kept);
}

// `count` of the comparisons, each subset of that size equally likely, in their order.
void keep_random(Comparisons& comparisons, Index count, Random random) {
  auto needed = count;
  auto left = std::ssize(comparisons);
  std::erase_if(comparisons, [&](const Comparison&) {
    const bool keep = random.uniform_index(left) < needed;
    --left;
    if (keep) --needed;
    return !keep;
  });
}

// All ordered pairs of the kind are numbered, class by class, and one number is drawn.
Pair draw_pair(const RowsByClass& by_class, bool similar, Random& random) {
  const auto partners = [&](const Range& own) { return similar ? own.size() - 1 : by_class.size() - own.size(); };
  Index total = 0;
  for (const Range& own : by_class.classes) total += own.size() * partners(own);
  Index number = random.uniform_index(total);
  auto own = by_class.classes.begin();
  for (; number >= own->size() * partners(*own); ++own) number -= own->size() * partners(*own);
  const Index i = own->begin + number / partners(*own), k = number % partners(*own);
  return {by_class.rows[i], by_class.rows[similar ? own->other_than(i, k) : own->outside(k)], similar};
}

}  // namespace

Comparisons sample_comparisons(const std::vector<int>& class_of_row, Index count, std::uint64_t seed) {
  check_count(count, "comparisons");
  const RowsByClass by_class(class_of_row, "comparisons");
  Random random(seed);
  Comparisons comparisons;
  comparisons.reserve(count);
  while (std::ssize(comparisons) < count) {
    // A uniform row falls into each class by the frequency of the class, and so does a uniform row of the others.
    const auto& [i, own] = by_class.with_company[random.uniform_index(std::ssize(by_class.with_company))];
    const Index j = own.other_than(i, random.uniform_index(own.size() - 1));
    const Index l = own.outside(random.uniform_index(by_class.size() - own.size()));
    comparisons.push_back({by_class.rows[i], by_class.rows[j], by_class.rows[i], by_class.rows[l]});
  }
  return comparisons;
}

Comparisons hard_comparisons(const MatrixView& rows, const std::vector<int>& class_of_row, Index neighbours,
                             Index count, std::uint64_t seed) {
  require(neighbours >= 1, "the number of neighbours is {}; allowed: 1 or more", neighbours);
  require(count >= 0, "the number of comparisons is {}; allowed: 0 (all) or more", count);
  require(rows.rows() == std::ssize(class_of_row), "there are {} classes for {} rows; allowed: one per row",
          class_of_row.size(), rows.rows());
  const RowsByClass checked(class_of_row, "comparisons");
  Comparisons comparisons;
  std::vector<Neighbour> genuine, impostors;
  for (Index i = 0; i < rows.rows(); ++i) {
    genuine.clear();
    impostors.clear();
    for (Index other = 0; other < rows.rows(); ++other) {
      if (other == i) continue;
      const bool same = class_of_row[other] == class_of_row[i];
      (same ? genuine : impostors).push_back({(rows.row(i) - rows.row(other)).squaredNorm(), other});
    }
    keep_nearest(genuine, neighbours);
    keep_nearest(impostors, neighbours);
    for (const Neighbour& j : genuine) {
      for (const Neighbour& l : impostors) comparisons.push_back({i, j.row, i, l.row});
    }
  }
  if (count > 0 && std::ssize(comparisons) > count) keep_random(comparisons, count, Random(seed));
  return comparisons;
}

Pairs sample_pairs(const std::vector<int>& class_of_row, Index count, std::uint64_t seed) {
  check_count(count, "pairs");
  const RowsByClass by_class(class_of_row, "pairs");
  Random random(seed);
  Pairs pairs;
  pairs.reserve(count);
  while (std::ssize(pairs) < count) {
    pairs.push_back(draw_pair(by_class, std::ssize(pairs) < (count + 1) / 2, random));
  }
  return pairs;
}

Targets squared_differences(const VectorView& numbers, Index count, std::uint64_t seed) {
  check_count(count, "pairs");
  const Index rows = numbers.size();
  require(rows >= 2, "differences need two numbers or more; found {}", rows);
  for (Index row = 0; row < rows; ++row) {
    require(std::isfinite(numbers(row)), "the number of row {} is {}; allowed: finite", row, numbers(row));
  }
  const double largest = numbers.cwiseAbs().maxCoeff();
  require(numbers.minCoeff() < numbers.maxCoeff(), "all {} numbers are {}; at least two must differ", rows, numbers(0));
  Vector standard = numbers / largest;  // so that no square overflows
  standard.array() -= standard.mean();
  const double deviation = std::sqrt(standard.squaredNorm() / static_cast<double>(rows));
  require(deviation > 0, "all {} numbers are {} up to rounding; at least two must differ", rows, numbers(0));
  standard /= deviation;
  Targets targets;
  const auto add = [&](Index i, Index j) {
    const double difference = standard(i) - standard(j);
    targets.push_back({i, j, difference * difference / 2});
  };
  const bool all = rows - 1 <= count / rows;
  Random random(seed);
  for (Index k = 0; !all && k < count; ++k) {
    const Index i = random.uniform_index(rows), other = random.uniform_index(rows - 1);
    add(i, other < i ? other : other + 1);
  }
  for (Index i = 0; all && i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      if (i != j) add(i, j);
    }
  }
  return targets;
}

Pairs in_both_directions(const Pairs& pairs) {
  Pairs both;
  both.reserve(2 * pairs.size());
  for (const Pair& pair : pairs) {
    both.push_back({pair.i, pair.j, pair.similar, pair.weight / 2});
    both.push_back({pair.j, pair.i, pair.similar, pair.weight / 2});
  }
  return both;
}

Supervision in_both_directions(Supervision supervision) {
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) return in_both_directions(*pairs);
  return supervision;
}

Pairs all_pairs(const std::vector<int>& class_of_row) {
  const LabelPairs all = label_pairs(class_of_row);
  Pairs pairs;
  pairs.reserve(all.size());
  for (const Pair pair : all) pairs.push_back(pair);
  return pairs;
}

LabelPairs label_pairs(const std::vector<int>& class_of_row) {
  require(class_of_row.size() >= 2, "pairs from labels need two rows or more; found {}", class_of_row.size());
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
