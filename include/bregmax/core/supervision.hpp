#pragma once

#include <cstdint>
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

// Similar: loss max(0, D(i, j)); dissimilar: max(0, 2 - D(i, j)). D = 1 is the natural threshold.
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

using Comparisons = std::vector<Comparison>;
using Pairs = std::vector<Pair>;
using Targets = std::vector<Target>;
using Supervision = std::variant<Comparisons, Pairs, Targets>;

}  // namespace bregmax
