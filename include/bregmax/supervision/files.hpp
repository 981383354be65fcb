#pragma once

#include <string>

#include "bregmax/core/supervision.hpp"

namespace bregmax {

// CSV files of row numbers 0 .. rows - 1: comparisons i,j,k,l; pairs i,j,s with s 1 (similar) or 0 (dissimilar);
// targets i,j,value; and an optional last column `weight`. An Error names the file and the line. A header may use other
// names. If it uses any of these, it must have exactly those of its kind, in this order. A column of weights must be
// named `weight`.
Comparisons read_comparisons(const std::string& path, Index rows);
Pairs read_pairs(const std::string& path, Index rows);
Targets read_targets(const std::string& path, Index rows);

}  // namespace bregmax
