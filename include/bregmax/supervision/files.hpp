#pragma once

#include <string>

#include "bregmax/core/supervision.hpp"

namespace bregmax {

// CSV files of row numbers from 0, an optional header line, and an optional last column `weight`:
// comparisons i,j,k,l; pairs i,j,s with s 1 (similar) or 0 (dissimilar); targets i,j,value.
// A row number must be below `rows`; an Error names the file and the line. A header that has none of these names is
// ignored (the order of the columns counts). One that has any must have just those of its kind, in this order, and a
// last column beyond them must be called `weight` by any header.
Comparisons read_comparisons(const std::string& path, Index rows);
Pairs read_pairs(const std::string& path, Index rows);
Targets read_targets(const std::string& path, Index rows);

}  // namespace bregmax
