#pragma once

#include <optional>
#include <vector>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// A part of the rows or items to learn from, and the others, whose loss says when to stop. With labels rows are held
// out, stratified by class; with items, items, all of them between the same rows.
struct HeldOut {
  // With labels; with items the given rows serve both.
  std::optional<Matrix> train_rows, rows;
  MethodSupervision train, held_out;
  std::vector<double> train_weights = {}, weights = {};  // of the rows
};

// Holds out a fifth. Throws Error where there is too little of either.
HeldOut hold_out(const MatrixView& rows, const MethodSupervision& supervision, const std::vector<double>& row_weights,
                 std::uint64_t seed);

}  // namespace bregmax::internal
