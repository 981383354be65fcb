#pragma once

#include "core/simd.hpp"

namespace bregmax::internal {

// Products over a grid of pieces x locations whose inner dimension is the few features of a location. A general matrix
// product would read and write the grid once more than these do, and its set-up would cost more than the work on a
// block of features x features.

// The loops are fastest if the number of locations is a multiple of this.
inline constexpr Index kLocationsAtOnce = 20;

// Some of the locations, one row per feature.
struct FeatureRows {
  const double* data = nullptr;  // of the first location
  Index features = 0, stride = 0, count = 0;
};

// Some of the pieces, with their slopes and their rows of a grid.
struct PieceRows {
  Index count = 0, stride = 0;  // of a row of the grid
  const double *slopes = nullptr, *shift = nullptr;
};

// grid_kl = base_l - shift_k - <slope_k, x_l>.
void affine_rows(const FeatureRows& x, const PieceRows& pieces, const double* base, double* grid,
                 Instructions use = best_instructions());

// Where sums over the grid are added. Each function below says which of them it uses.
struct ProductSums {
  double* of_piece = nullptr;     // sum_l v_kl
  double* of_location = nullptr;  // sum_k v_kl
  double* weighted = nullptr;     // pieces x features: sum_l v_kl x_l
};

// of_piece and of_location of v = weight_kl (shift_k - <slope_k, x_l>).
void sum_weighted_affine(const FeatureRows& x, const PieceRows& pieces, const double* weight, const ProductSums& sums,
                         Instructions use = best_instructions());
// All three of v = grid_kl.
void sum_rows(const FeatureRows& x, const PieceRows& pieces, const double* grid, const ProductSums& sums,
              Instructions use = best_instructions());
// of_piece and weighted of v = weight_kl (base_l - shift_k). v is kept on the stack, for at most this many locations.
inline constexpr Index kMostLocations = 102 * kLocationsAtOnce;
void sum_weighted_differences(const FeatureRows& x, const PieceRows& pieces, const double* weight, const double* base,
                              const ProductSums& sums, Instructions use = best_instructions());

// Rows to write, one per feature.
struct OutputRows {
  double* data = nullptr;
  Index stride = 0;
};

// difference_fl = anchor_f - x_fl, weighted_fl = weight_l difference_fl.
void weigh_differences(const FeatureRows& x, const double* anchor, const double* weight, const OutputRows& difference,
                       const OutputRows& weighted, Instructions use = best_instructions());

// square_ij = sum_l left_il x_jl for j <= i: the lower triangle of a features x features matrix.
void multiply_rows(const FeatureRows& left, const FeatureRows& x, double* square,
                   Instructions use = best_instructions());

// rows = F^{-1} rows; F is lower triangular, features x features, and rows features x count.
void solve_rows(const double* lower, Index features, Index count, double* rows, Instructions use = best_instructions());

}  // namespace bregmax::internal
