#pragma once

#include <vector>

#include "bregmax/core/matrix.hpp"
#include "optimize/problem/feature_products.hpp"

namespace bregmax::internal {

// Sums over a whole grid of pieces x locations in one pass each. Results do not depend on the number of threads.
class FeatureGrid {
 public:
  // location: locations x features.
  FeatureGrid(const Matrix& location, Index pieces);

  FeatureRows feature_rows() const { return part(0, locations_); }

  // grid_kl = base_l - shift_k - <slope_k, x_l>.
  void affine(const double* slopes, const Vector& shift, const Vector& base, double* grid) const;
  // Of v_kl = weight_kl (shift_k - <slope_k, x_l>): the sums of every piece and of every location.
  void sum_weighted_affine(const double* weights, const double* slopes, const Vector& shift, Vector& of_piece,
                           Vector& of_location);
  // Of v: the same sums, and weighted_k = sum_l v_kl x_l.
  void sum(const double* v, double* weighted, Vector& of_piece, Vector& of_location);
  // Of v_kl = weight_kl (base_l - shift_k): the sums of every piece, and weighted_k.
  void sum_weighted_differences(const double* weights, const Vector& base, const Vector& shift, double* weighted,
                                Vector& of_piece) const;

 private:
  static constexpr Index kBands = 8;  // of pieces, each for one thread at a time
  static constexpr Index kLine = 8;   // numbers per cache line
  // Rows that begin with a cache line are read a third faster.
  struct alignas(64) CacheLine {
    double numbers[kLine];
  };
  // Some pieces and some locations.
  struct Chunk {
    Index band, piece, pieces, location;
    FeatureRows x;
  };

  Index border(Index band) const;
  // Calls each(chunk) for chunks that cover all pieces and all locations.
  template <class Each>
  void for_each_chunk(const Each& each) const;
  FeatureRows part(Index from, Index count) const;
  double* of_band(const Chunk& at) { return band_sum_.data() + at.band * locations_ + at.location; }

  Index pieces_, features_, locations_, stride_, at_once_;
  std::vector<CacheLine> lines_;  // features x stride_
  Matrix band_sum_;
};

}  // namespace bregmax::internal
