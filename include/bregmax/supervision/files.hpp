#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/supervision.hpp"

namespace bregmax {

// How a file of supervision names the rows of the data.
struct RowNames {
  Index rows = 0;
  std::vector<std::string> names = {};  // of the rows, all different (Table::names); empty: files have row numbers
  // The number of the first row, 0 or 1. Nothing: 0, and a file in which no number is 0 is remarked upon.
  std::optional<Index> first_row = {};
};

// CSV files of comparisons i,j,k,l or, for triplets D(anchor, near) <= D(anchor, far), anchor,near,far; of pairs i,j,s
// with s 1 (similar) or 0 (dissimilar); of targets i,j,value; and an optional last column `weight`. An Error names the
// file and the line. A header may use other names. If it uses any of these, it must have exactly those of its kind, in
// this order. A column of weights must be named `weight`; four columns without it are i,j,k,l.
//
// Where rows have names, items are given by them. A file in which no item is a name is read as row numbers; one in
// which some are is an Error. What was assumed is logged.
Comparisons read_comparisons(const std::string& path, const RowNames& rows, const RunControl& control = {});
Pairs read_pairs(const std::string& path, const RowNames& rows, const RunControl& control = {});
Targets read_targets(const std::string& path, const RowNames& rows, const RunControl& control = {});

}  // namespace bregmax
