#include "bregmax/methods/candidates.hpp"

#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax {

bool is_constant(const Divergence& divergence, const MatrixView& scaled_rows) {
  constexpr double kOfTheMargin = 1e-6;
  constexpr Index kSampledRows = 200;
  const Index step = (scaled_rows.rows() + kSampledRows - 1) / kSampledRows;
  if (step == 0) return false;
  const Index sampled = (scaled_rows.rows() + step - 1) / step;
  const Matrix sample = scaled_rows(Eigen::seqN(0, sampled, step), Eigen::all);
  // Smoothing makes divergences small but not useless, so we look at the max-affine divergence behind it. Divergences
  // of other kinds have no margin to compare with.
  if (const auto* smoothed = dynamic_cast<const SmoothedMaxAffine*>(&divergence)) {
    return is_constant(MaxAffine(smoothed->slopes(), smoothed->offsets()), sample);
  }
  const double largest = divergence.matrix(sample, sample).maxCoeff();
  return dynamic_cast<const MaxAffine*>(&divergence) != nullptr ? largest <= kOfTheMargin : largest == 0;
}

}  // namespace bregmax
