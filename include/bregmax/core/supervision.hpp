#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// What a person says about the rows of the data. Members are row numbers from 0; in D(point, reference) the first
// argument is the point. A weight multiplies the loss of its item and must be finite and >= 0.

// D(i, j) <= D(k, l), with margin 1: loss max(0, 1 + D(i, j) - D(k, l)). A triplet is (i, j, i, l).
struct Comparison {
  Index i, j, k, l;
  double weight = 1;
};

// Similar: loss max(0, D(i, j)); dissimilar: max(0, 2 - D(i, j)). D = 1 is the natural threshold. This is one direction
// only; in_both_directions() adds the other.
struct Pair {
  Index i, j;
  bool similar;
  double weight = 1;
};

// Loss (D(i, j) - value)^2.
struct Target {
  Index i, j;
  double value;
  double weight = 1;
};

// The largest absolute value of a target: squares of targets, and sums of these squares, must not overflow.
inline constexpr double kLargestTarget = 1e50;

using Comparisons = std::vector<Comparison>;
using Pairs = std::vector<Pair>;
using Targets = std::vector<Target>;

// All ordered pairs i != j of rows, similar when their classes agree, ordered by i and then by j. Only the classes are
// stored.
struct LabelPairs {
  std::vector<int> class_of_row;
  double similar_weight = 1, dissimilar_weight = 1;

  Index rows() const { return static_cast<Index>(class_of_row.size()); }
  std::size_t size() const { return class_of_row.empty() ? 0 : class_of_row.size() * (class_of_row.size() - 1); }
  Pair pair(Index i, Index j) const {
    const bool similar = class_of_row[static_cast<std::size_t>(i)] == class_of_row[static_cast<std::size_t>(j)];
    return {i, j, similar, similar ? similar_weight : dissimilar_weight};
  }
  Pair operator[](std::size_t item) const {
    const Index others = rows() - 1, i = static_cast<Index>(item) / others, j = static_cast<Index>(item) % others;
    return pair(i, j < i ? j : j + 1);
  }

  class Iterator {
   public:
    Iterator(const LabelPairs& list, Index i, Index j) : list_(list), i_(i), j_(j) {}
    Pair operator*() const { return list_.pair(i_, j_); }
    Iterator& operator++() {
      if (++j_ == i_) ++j_;
      if (j_ < list_.rows()) return *this;
      ++i_;
      j_ = 0;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return i_ != other.i_ || j_ != other.j_; }

   private:
    const LabelPairs& list_;
    Index i_, j_;
  };
  Iterator begin() const { return size() > 0 ? Iterator(*this, 0, 1) : end(); }
  Iterator end() const { return {*this, rows(), 0}; }
};

using Supervision = std::variant<Comparisons, Pairs, Targets, LabelPairs>;

inline Index item_count(const Supervision& supervision) {
  return std::visit([](const auto& items) { return static_cast<Index>(items.size()); }, supervision);
}

}  // namespace bregmax
