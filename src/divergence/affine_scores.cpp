#include "divergence/affine_scores.hpp"

#include <algorithm>

namespace bregmax::internal {
namespace {

// A panel of pieces times a tile of rows stays in the registers of a processor with AVX2.
constexpr Index kVectors = 2, kPanel = kLanes * kVectors, kTile = 4;

struct Panel {
  const double* slopes;  // features x kPanel
  const double* offsets;
  Index features, pieces;  // at most kPanel pieces count
};

template <Index kRows>
BREGMAX_INLINE void score_tile(const Panel& panel, const double* rows, Index row_stride, double* scores,
                               Index score_stride) {
  Four sums[kRows][kVectors] = {};
  const double* slopes = panel.slopes;
  for (Index f = 0; f < panel.features; ++f, slopes += kPanel) {
    for (Index v = 0; v < kVectors; ++v) {
      Four slope;
      load(slopes + v * kLanes, slope);
      for (Index r = 0; r < kRows; ++r) sums[r][v] += slope * rows[r * row_stride + f];
    }
  }
  for (Index r = 0; r < kRows; ++r) {
    double of_row[kPanel];
    for (Index v = 0; v < kVectors; ++v) store(sums[r][v], of_row + v * kLanes);
    double* out = scores + r * score_stride;
    for (Index k = 0; k < panel.pieces; ++k) out[k] = of_row[k] + panel.offsets[k];
  }
}

BREGMAX_INLINE void score_rows(const Panel& panel, const double* rows, Index row_stride, Index count, double* scores,
                               Index score_stride) {
  Index row = 0;
  for (; row + kTile <= count; row += kTile) {
    score_tile<kTile>(panel, rows + row * row_stride, row_stride, scores + row * score_stride, score_stride);
  }
  for (; row < count; ++row) {
    score_tile<1>(panel, rows + row * row_stride, row_stride, scores + row * score_stride, score_stride);
  }
}

}  // namespace

AffineScores::AffineScores(const Matrix& slopes, const Vector& offsets) : features_(slopes.cols()), offsets_(offsets) {
  const Index panels = (slopes.rows() + kPanel - 1) / kPanel;
  packed_.assign(panels * kPanel * features_, 0);
  for (Index k = 0; k < slopes.rows(); ++k) {
    double* panel = packed_.data() + k / kPanel * kPanel * features_ + k % kPanel;
    for (Index f = 0; f < features_; ++f) panel[f * kPanel] = slopes(k, f);
  }
}

void AffineScores::compute(const double* rows, Index row_stride, Index count, double* scores, Instructions use) const {
  for (Index first = 0; first < pieces(); first += kPanel) {
    const Panel panel{packed_.data() + first * features_, offsets_.data() + first, features_,
                      std::min(kPanel, pieces() - first)};
    dispatch<score_rows>(use, panel, rows, row_stride, count, scores + first, pieces());
  }
}

}  // namespace bregmax::internal
