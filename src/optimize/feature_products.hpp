#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// Products over a grid of pieces x locations whose inner dimension is the few features of a location. A general matrix
// product would read and write the grid once more than these do, and its set-up would cost more than the work on a
// block of features x features.

// Some of the locations, one row a feature.
struct FeatureRows {
  const double* data = nullptr;  // of the first of them
  Index features = 0, stride = 0, count = 0;
};

// out_l = base_l - shift - sum_f slope_f x_fl; base: nullptr for 0.
void affine_row(const FeatureRows& x, const double* slope, double shift, const double* base, double* out);

// out_f += sum_l v_l x_fl; returns the sum of v.
double weigh_row(const FeatureRows& x, const double* v, double* out);

// Rows to write, one a feature.
struct OutputRows {
  double* data = nullptr;
  Index stride = 0;
};

// difference_fl = anchor_f - x_fl, weighted_fl = weight_l difference_fl.
void weigh_differences(const FeatureRows& x, const double* anchor, const double* weight, const OutputRows& difference,
                       const OutputRows& weighted);

// square_ij = sum_l left_il x_jl for j <= i: the lower triangle of a features x features matrix.
void multiply_rows(const FeatureRows& left, const FeatureRows& x, double* square);

// rows = F^{-1} rows; F is lower triangular, features x features, and rows features x count.
void solve_rows(const double* lower, Index features, Index count, double* rows);

// The same without instructions that not every processor has, for tests.
void portable_affine_row(const FeatureRows& x, const double* slope, double shift, const double* base, double* out);
double portable_weigh_row(const FeatureRows& x, const double* v, double* out);
void portable_weigh_differences(const FeatureRows& x, const double* anchor, const double* weight,
                                const OutputRows& difference, const OutputRows& weighted);
void portable_multiply_rows(const FeatureRows& left, const FeatureRows& x, double* square);
void portable_solve_rows(const double* lower, Index features, Index count, double* rows);

}  // namespace bregmax::internal
