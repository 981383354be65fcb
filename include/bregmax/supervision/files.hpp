#pragma once

#include <string>

#include "bregmax/core/supervision.hpp"

namespace bregmax {

// CSV files of row numbers from 0 and below `rows`: comparisons i,j,k,l; pairs i,j,s with s 1 (similar) or 0
// (dissimilar); targets i,j,value; and an optional last column `weight`. An Error names the file and the line.
// A header may have other names, but one that has any of these must have just those of its kind, in this order; a
// column of weights must always be called so.
Comparisons read_comparisons(const std::string& path, Index rows);
Pairs read_pairs(const std::string& path, Index rows);
Targets read_targets(const std::string& path, Index rows);

}  // namespace bregmax
