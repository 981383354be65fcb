#include "optimize/problem/feature_grid.hpp"

#include <algorithm>

namespace bregmax::internal {
namespace {

constexpr Index kNumbersInCache = 16384;          // of features, which stay in the second-level cache
constexpr Index kWhole = 2 * kLocationsAtOnce;    // also a multiple of a cache line
constexpr Index kLeastParallelEntries = 100'000;  // entries of the grid

}  // namespace

FeatureGrid::FeatureGrid(const Matrix& location, Index pieces)
    : pieces_(pieces),
      features_(location.cols()),
      locations_(location.rows()),
      stride_((locations_ + kLine - 1) / kLine * kLine),
      at_once_(
          std::clamp<Index>(kNumbersInCache / std::max<Index>(1, features_) / kWhole * kWhole, kWhole, kMostLocations)),
      lines_(std::max<Index>(1, features_ * stride_ / kLine)),
      band_sum_(kBands, locations_) {
  double* all = reinterpret_cast<double*>(lines_.data());
  for (Index f = 0; f < features_; ++f) Eigen::Map<Vector>(all + f * stride_, locations_) = location.col(f);
}

// The first piece of a band. It is even, since products take two pieces at a time.
Index FeatureGrid::border(Index band) const { return band == kBands ? pieces_ : pieces_ * band / kBands / 2 * 2; }

template <class Each>
void FeatureGrid::for_each_chunk(const Each& each) const {
#pragma omp parallel for schedule(static) if (pieces_ * locations_ > kLeastParallelEntries)
  for (Index band = 0; band < kBands; ++band) {
    const Index begin = border(band), end = border(band + 1);
    for (Index from = 0; from < locations_; from += at_once_) {
      each(Chunk{band, begin, end - begin, from, part(from, std::min(at_once_, locations_ - from))});
    }
  }
}

FeatureRows FeatureGrid::part(Index from, Index count) const {
  return {reinterpret_cast<const double*>(lines_.data()) + from, features_, stride_, count};
}

void FeatureGrid::affine(const double* slopes, const Vector& shift, const Vector& base, double* grid) const {
  for_each_chunk([&](const Chunk& at) {
    const PieceRows pieces = {at.pieces, locations_, slopes + at.piece * features_, shift.data() + at.piece};
    affine_rows(at.x, pieces, base.data() + at.location, grid + at.piece * locations_ + at.location);
  });
}

void FeatureGrid::sum_weighted_affine(const double* weights, const double* slopes, const Vector& shift,
                                      Vector& of_piece, Vector& of_location) {
  band_sum_.setZero();
  of_piece.setZero();
  for_each_chunk([&](const Chunk& at) {
    const PieceRows pieces = {at.pieces, locations_, slopes + at.piece * features_, shift.data() + at.piece};
    internal::sum_weighted_affine(at.x, pieces, weights + at.piece * locations_ + at.location,
                                  {of_piece.data() + at.piece, of_band(at), nullptr});
  });
  of_location = band_sum_.colwise().sum().transpose();
}

void FeatureGrid::sum(const double* v, double* weighted, Vector& of_piece, Vector& of_location) {
  band_sum_.setZero();
  of_piece.setZero();
  std::fill(weighted, weighted + pieces_ * features_, 0.0);
  for_each_chunk([&](const Chunk& at) {
    sum_rows(at.x, {at.pieces, locations_, nullptr, nullptr}, v + at.piece * locations_ + at.location,
             {of_piece.data() + at.piece, of_band(at), weighted + at.piece * features_});
  });
  of_location = band_sum_.colwise().sum().transpose();
}

void FeatureGrid::sum_weighted_differences(const double* weights, const Vector& base, const Vector& shift,
                                           double* weighted, Vector& of_piece) const {
  of_piece.setZero();
  std::fill(weighted, weighted + pieces_ * features_, 0.0);
  for_each_chunk([&](const Chunk& at) {
    internal::sum_weighted_differences(at.x, {at.pieces, locations_, nullptr, shift.data() + at.piece},
                                       weights + at.piece * locations_ + at.location, base.data() + at.location,
                                       {of_piece.data() + at.piece, nullptr, weighted + at.piece * features_});
  });
}

}  // namespace bregmax::internal
