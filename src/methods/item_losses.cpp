#include "methods/item_losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/methods/candidates.hpp"

namespace bregmax {
namespace internal {
namespace {

// A matrix of all divergences is cheaper than single ones as long as it is not much larger than what is asked of it.
constexpr Index kEntriesAnItem = 64;

// D(first row, second row) for many pairs of rows.
class PairDivergences {
 public:
  PairDivergences(const Divergence& divergence, const MatrixView& rows, Index items)
      : divergence_(divergence), rows_(rows) {
    if (rows.rows() * rows.rows() <= kEntriesAnItem * items) all_ = divergence.matrix(rows, rows);
  }
  double operator()(Index point, Index reference) const {
    if (all_.size() > 0) return all_(point, reference);
    return divergence_.value(rows_.row(point).transpose(), rows_.row(reference).transpose());
  }

 private:
  const Divergence& divergence_;
  const MatrixView& rows_;
  Matrix all_;
};

}  // namespace

LossSum sum_losses(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items) {
  const PairDivergences d(divergence, scaled_rows, item_count(items));
  LossSum sum;
  const auto add = [&](double item_weight, double item_loss) {
    sum.loss += item_weight * item_loss;
    sum.weight += item_weight;
  };
  if (const auto* comparisons = std::get_if<Comparisons>(&items)) {
    for (const Comparison& c : *comparisons) add(c.weight, std::max(0.0, 1 + d(c.i, c.j) - d(c.k, c.l)));
  } else if (is_pairs(items)) {
    for_each_pair(items,
                  [&](const Pair& p) { add(p.weight, std::max(0.0, p.similar ? d(p.i, p.j) : 2 - d(p.i, p.j))); });
  } else {
    for (const Target& t : std::get<Targets>(items)) add(t.weight, std::pow(d(t.i, t.j) - t.value, 2));
  }
  return sum;
}

double mean_loss(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items) {
  const LossSum sum = sum_losses(divergence, scaled_rows, items);
  return sum.weight > 0 ? sum.loss / sum.weight : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace internal

bool is_constant(const Divergence& divergence, const MatrixView& scaled_rows) {
  constexpr double kOfTheMargin = 1e-6;
  constexpr Index kSampledRows = 200;
  const Index step = (scaled_rows.rows() + kSampledRows - 1) / kSampledRows;
  if (step == 0) return false;
  Matrix sample((scaled_rows.rows() + step - 1) / step, scaled_rows.cols());
  for (Index i = 0; i < sample.rows(); ++i) sample.row(i) = scaled_rows.row(i * step);
  // Smoothing makes divergences small without making them useless: the pieces behind it are asked. Other divergences
  // have no margin to measure by.
  if (const auto* smoothed = dynamic_cast<const SmoothedMaxAffine*>(&divergence)) {
    return is_constant(MaxAffine(smoothed->slopes(), smoothed->offsets()), sample);
  }
  const double largest = divergence.matrix(sample, sample).maxCoeff();
  return dynamic_cast<const MaxAffine*>(&divergence) != nullptr ? largest <= kOfTheMargin : largest == 0;
}

}  // namespace bregmax
