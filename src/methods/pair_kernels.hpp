#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// e^-45 is far below what a sum that holds a 1 can see.
inline constexpr double kNegligibleExponent = 45;

// The loops over pairs of rows in which nearest-neighbour methods spend their time.
struct PairKernels {
  // out[j] = heights[j] - 2 * out[j] for all j; returns the smallest of them. With out = <z_i, z_j> and
  // heights = |z_j|^2 these are squared distances from z_i less the constant |z_i|^2.
  double (*products_to_distances)(const double* heights, Index count, double* out);

  // values[j] = exp(offset - values[j]) for values >= offset, within a few ulp, and 0 where that is negligible; returns
  // their sum.
  double (*exponentials)(double offset, Index count, double* values);

  // How many distances are below the limit.
  Index (*count_near)(const double* distances, double limit, Index count);

  // Writes the j in begin .. end - 1 with distances[j] < limit, ascending, to `index` and their distances to `near`;
  // returns how many there are. Both have room for end - begin entries.
  Index (*collect_near)(const double* distances, double limit, Index begin, Index end, int* index, double* near);

  // out[k] = ||z_row - z_index[k]||^2. Rows have `stride` numbers, a multiple of 4.
  void (*pair_distances)(const double* rows, Index stride, Index row, const int* index, Index count, double* out);

  // For each k: pull = weights[k] * (z_row - z_index[k]); out_row += pull; out_index[k] -= pull. Rows have `stride`
  // numbers, a multiple of 4.
  void (*spread_differences)(const double* rows, Index stride, Index row, const int* index, const double* weights,
                             Index count, double* out);
};

const PairKernels& pair_kernels();           // compiled for this processor
const PairKernels& portable_pair_kernels();  // for any processor; the tests compare both

}  // namespace bregmax::internal
