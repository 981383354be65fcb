#include "optimize/problem/feature_products.hpp"

#include <algorithm>
#include <cassert>

#include "core/dots.hpp"
#include "core/simd.hpp"

namespace bregmax::internal {
namespace {

// Vectors of locations that are processed at once: enough to hide latencies. With two pieces there are twice as many
// values, which is as many as there are registers for.
constexpr Index kGroup = 4, kGroupOfPieces = 5;
static_assert(kLocationsAtOnce == kGroupOfPieces * kLanes);

// Calls each<pieces>(k) for two pieces at a time, so that what is read of a location serves both.
template <class Each>
BREGMAX_INLINE void for_pieces(Index count, const Each& each) {
  Index k = 0;
  for (; k + 2 <= count; k += 2) each.template operator()<2>(k);
  if (k < count) each.template operator()<1>(k);
}

// shift_k - <slope_k, x_l>, or -shift_k - <slope_k, x_l>, of pieces k, k + 1, ... and `group` vectors of locations
// from l on.
template <Index pieces, Index group, class V>
struct Affine {
  V value[pieces][group];

  template <bool minus_shift>
  BREGMAX_INLINE void set(const FeatureRows& x, const PieceRows& rows, Index k, Index l) {
    BREGMAX_UNROLL
    for (Index p = 0; p < pieces; ++p) {
      BREGMAX_UNROLL
      for (Index g = 0; g < group; ++g) value[p][g] = V{} + (minus_shift ? -rows.shift[k + p] : rows.shift[k + p]);
    }
    const double* slope = rows.slopes + k * x.features;
    for (Index f = 0; f < x.features; ++f) {
      const double* feature = x.data + f * x.stride + l;
      V factor[pieces];
      BREGMAX_UNROLL
      for (Index p = 0; p < pieces; ++p) factor[p] = V{} + slope[p * x.features + f];
      BREGMAX_UNROLL
      for (Index g = 0; g < group; ++g) {
        V at;
        load(feature + g * kLanesOf<V>, at);
        BREGMAX_UNROLL
        for (Index p = 0; p < pieces; ++p) value[p][g] -= factor[p] * at;
      }
    }
  }
};

// Calls each<group, V>(l) for all locations: `group` vectors V from l on.
template <class Each>
BREGMAX_INLINE void for_locations(Index count, const Each& each) {
  Index l = 0;
  for (; l + kLocationsAtOnce <= count; l += kLocationsAtOnce) each.template operator()<kGroupOfPieces, Four>(l);
  for (; l + kLanes <= count; l += kLanes) each.template operator()<1, Four>(l);
  for (; l < count; ++l) each.template operator()<1, double>(l);
}

// The sum of vectors of four, and of the remaining numbers.
struct Sum {
  Four fours{};
  double rest = 0;
  BREGMAX_INLINE void add(const Four& value) { fours += value; }
  BREGMAX_INLINE void add(const double& value) { rest += value; }
  BREGMAX_INLINE double all() const { return total(fours) + rest; }
};

// Adds one number, or four, per piece to the sums of the pieces and of the locations.
template <Index pieces, class V>
BREGMAX_INLINE void add_to_sums(const V (&value)[pieces], Sum (&of_piece)[pieces], double* of_location) {
  V sum;
  load(of_location, sum);
  BREGMAX_UNROLL
  for (Index p = 0; p < pieces; ++p) {
    of_piece[p].add(value[p]);
    sum += value[p];
  }
  store(sum, of_location);
}

// weighted_kf += sum_l v_kl x_fl for `features` features from f on.
template <Index pieces, Index features>
BREGMAX_INLINE void weigh_features(const FeatureRows& x, const double* const (&v)[pieces], Index f, double* weighted) {
  Four sum[pieces][features];
  BREGMAX_UNROLL
  for (Index p = 0; p < pieces; ++p) {
    BREGMAX_UNROLL
    for (Index i = 0; i < features; ++i) sum[p][i] = Four{};
  }
  const double* row = x.data + f * x.stride;
  Index l = 0;
  for (; l + kLanes <= x.count; l += kLanes) {
    Four here[pieces];
    BREGMAX_UNROLL
    for (Index p = 0; p < pieces; ++p) load(v[p] + l, here[p]);
    BREGMAX_UNROLL
    for (Index i = 0; i < features; ++i) {
      Four at;
      load(row + i * x.stride + l, at);
      BREGMAX_UNROLL
      for (Index p = 0; p < pieces; ++p) sum[p][i] += here[p] * at;
    }
  }
  for (Index p = 0; p < pieces; ++p) {
    for (Index i = 0; i < features; ++i) {
      double all = total(sum[p][i]);
      for (Index rest = l; rest < x.count; ++rest) all += v[p][rest] * row[i * x.stride + rest];
      weighted[p * x.features + f + i] += all;
    }
  }
}

template <Index pieces>
BREGMAX_INLINE void weigh_all_features(const FeatureRows& x, const double* const (&v)[pieces], double* weighted) {
  for_groups_of_rows(x.features, [&]<Index features>(Index f)
                                     BREGMAX_INLINE_LAMBDA { weigh_features<pieces, features>(x, v, f, weighted); });
}

BREGMAX_INLINE void affine_body(const FeatureRows& x, const PieceRows& rows, const double* base, double* grid) {
  for_pieces(rows.count, [&]<Index pieces>(Index k) BREGMAX_INLINE_LAMBDA {
    for_locations(x.count, [&]<Index group, class V>(Index l) BREGMAX_INLINE_LAMBDA {
      Affine<pieces, group, V> affine;
      affine.template set<true>(x, rows, k, l);
      BREGMAX_UNROLL
      for (Index g = 0; g < group; ++g) {
        const Index here = l + g * kLanesOf<V>;
        V base_here;
        load(base + here, base_here);
        BREGMAX_UNROLL
        for (Index p = 0; p < pieces; ++p) store(base_here + affine.value[p][g], grid + (k + p) * rows.stride + here);
      }
    });
  });
}

BREGMAX_INLINE void sum_weighted_affine_body(const FeatureRows& x, const PieceRows& rows, const double* weight,
                                             const ProductSums& sums) {
  for_pieces(rows.count, [&]<Index pieces>(Index k) BREGMAX_INLINE_LAMBDA {
    Sum sum[pieces];
    for_locations(x.count, [&]<Index group, class V>(Index l) BREGMAX_INLINE_LAMBDA {
      Affine<pieces, group, V> affine;
      affine.template set<false>(x, rows, k, l);
      BREGMAX_UNROLL
      for (Index g = 0; g < group; ++g) {
        const Index here = l + g * kLanesOf<V>;
        V value[pieces];
        BREGMAX_UNROLL
        for (Index p = 0; p < pieces; ++p) {
          load(weight + (k + p) * rows.stride + here, value[p]);
          value[p] *= affine.value[p][g];
        }
        add_to_sums(value, sum, sums.of_location + here);
      }
    });
    for (Index p = 0; p < pieces; ++p) sums.of_piece[k + p] += sum[p].all();
  });
}

BREGMAX_INLINE void sum_rows_body(const FeatureRows& x, const PieceRows& rows, const double* grid,
                                  const ProductSums& sums) {
  for_pieces(rows.count, [&]<Index pieces>(Index k) BREGMAX_INLINE_LAMBDA {
    const double* v[pieces];
    for (Index p = 0; p < pieces; ++p) v[p] = grid + (k + p) * rows.stride;
    Sum sum[pieces];
    for_locations(x.count, [&]<Index group, class V>(Index l) BREGMAX_INLINE_LAMBDA {
      BREGMAX_UNROLL
      for (Index g = 0; g < group; ++g) {
        const Index here = l + g * kLanesOf<V>;
        V value[pieces];
        BREGMAX_UNROLL
        for (Index p = 0; p < pieces; ++p) load(v[p] + here, value[p]);
        add_to_sums(value, sum, sums.of_location + here);
      }
    });
    for (Index p = 0; p < pieces; ++p) sums.of_piece[k + p] += sum[p].all();
    weigh_all_features(x, v, sums.weighted + k * x.features);
  });
}

BREGMAX_INLINE void sum_weighted_differences_body(const FeatureRows& x, const PieceRows& rows, const double* weight,
                                                  const double* base, const ProductSums& sums) {
  assert(x.count <= kMostLocations);
  for_pieces(rows.count, [&]<Index pieces>(Index k) BREGMAX_INLINE_LAMBDA {
    alignas(64) double values[pieces][kMostLocations];
    const double* v[pieces];
    for (Index p = 0; p < pieces; ++p) {
      const double* weights = weight + (k + p) * rows.stride;
      const double shift = rows.shift[k + p];
      Sum sum;
      for_locations(x.count, [&]<Index group, class V>(Index l) BREGMAX_INLINE_LAMBDA {
        BREGMAX_UNROLL
        for (Index g = 0; g < group; ++g) {
          const Index here = l + g * kLanesOf<V>;
          V weight_here, base_here;
          load(weights + here, weight_here);
          load(base + here, base_here);
          const V value = weight_here * (base_here - shift);
          sum.add(value);
          store(value, values[p] + here);
        }
      });
      sums.of_piece[k + p] += sum.all();
      v[p] = values[p];
    }
    weigh_all_features(x, v, sums.weighted + k * x.features);
  });
}

BREGMAX_INLINE void differences_body(const FeatureRows& x, const double* anchor, const double* weight,
                                     const OutputRows& difference, const OutputRows& weighted) {
  for (Index f = 0; f < x.features; ++f) {
    const double* row = x.data + f * x.stride;
    const double from = anchor[f];
    double *difference_row = difference.data + f * difference.stride,
           *weighted_row = weighted.data + f * weighted.stride;
    const auto weigh = [&]<class V>(Index l) BREGMAX_INLINE_LAMBDA {
      V at, weight_here;
      load(row + l, at);
      load(weight + l, weight_here);
      const V here = from - at;
      store(here, difference_row + l);
      store(weight_here * here, weighted_row + l);
    };
    Index l = 0;
    for (; l + kLanes <= x.count; l += kLanes) weigh.template operator()<Four>(l);
    for (; l < x.count; ++l) weigh.template operator()<double>(l);
  }
}

BREGMAX_INLINE void multiply_body(const FeatureRows& left, const FeatureRows& x, double* square) {
  for (Index i = 0; i < left.features; ++i) {
    double* row = square + i * left.features;
    std::fill(row, row + i + 1, 0.0);
    add_dots(left.data + i * left.stride, x.data, x.stride, i + 1, left.count, row);
  }
}

BREGMAX_INLINE void solve_body(const double* lower, Index features, Index count, double* rows) {
  for (Index i = 0; i < features; ++i) {
    const double* factor = lower + i * features;
    const double inverse = 1 / factor[i];
    double* row = rows + i * count;
    Index l = 0;
    for (; l + kGroup * kLanes <= count; l += kGroup * kLanes) {
      Four value[kGroup];
      BREGMAX_UNROLL
      for (Index g = 0; g < kGroup; ++g) load(row + l + g * kLanes, value[g]);
      for (Index j = 0; j < i; ++j) {
        const Four known = Four{} + factor[j];
        BREGMAX_UNROLL
        for (Index g = 0; g < kGroup; ++g) {
          Four at;
          load(rows + j * count + l + g * kLanes, at);
          value[g] -= known * at;
        }
      }
      BREGMAX_UNROLL
      for (Index g = 0; g < kGroup; ++g) store(value[g] * inverse, row + l + g * kLanes);
    }
    for (; l < count; ++l) {
      double value = row[l];
      for (Index j = 0; j < i; ++j) value -= factor[j] * rows[j * count + l];
      row[l] = value * inverse;
    }
  }
}

}  // namespace

void affine_rows(const FeatureRows& x, const PieceRows& pieces, const double* base, double* grid, Instructions use) {
  dispatch<affine_body>(use, x, pieces, base, grid);
}
void sum_weighted_affine(const FeatureRows& x, const PieceRows& pieces, const double* weight, const ProductSums& sums,
                         Instructions use) {
  dispatch<sum_weighted_affine_body>(use, x, pieces, weight, sums);
}
void sum_rows(const FeatureRows& x, const PieceRows& pieces, const double* grid, const ProductSums& sums,
              Instructions use) {
  dispatch<sum_rows_body>(use, x, pieces, grid, sums);
}
void sum_weighted_differences(const FeatureRows& x, const PieceRows& pieces, const double* weight, const double* base,
                              const ProductSums& sums, Instructions use) {
  dispatch<sum_weighted_differences_body>(use, x, pieces, weight, base, sums);
}
void weigh_differences(const FeatureRows& x, const double* anchor, const double* weight, const OutputRows& difference,
                       const OutputRows& weighted, Instructions use) {
  dispatch<differences_body>(use, x, anchor, weight, difference, weighted);
}
void multiply_rows(const FeatureRows& left, const FeatureRows& x, double* square, Instructions use) {
  dispatch<multiply_body>(use, left, x, square);
}
void solve_rows(const double* lower, Index features, Index count, double* rows, Instructions use) {
  dispatch<solve_body>(use, lower, features, count, rows);
}

}  // namespace bregmax::internal
