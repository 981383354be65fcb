#include "learn/fold_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bregmax/core/random.hpp"

namespace bregmax::internal {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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
  return sum.weight > 0 ? sum.loss / sum.weight : kNan;
}

MeasureScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                            const RunControl& control) {
  MeasureScores scores;
  scores.fill(kNan);
  const auto put = [&](Measure measure, double score) { scores[static_cast<std::size_t>(measure)] = score; };
  if (fold.held_out_rows.rows() > 0) {
    EvaluationOptions cut = options;
    cut.k = std::min(options.k, fold.train_rows.rows());
    const Matrix held_out = model.scaling.apply(fold.held_out_rows), train = model.scaling.apply(fold.train_rows);
    const EvaluationScores found =
        evaluate(*model.divergence, held_out, fold.held_out_classes, train, fold.train_classes, cut, control);
    put(Measure::kRandIndex, found.rand_index);
    put(Measure::kPurity, found.purity);
    put(Measure::kAuc, found.auc);
    put(Measure::kAveragePrecision, found.average_precision);
    put(Measure::kKnn, found.knn_accuracy);
  }
  if (fold.loss_rows.rows() > 0) {
    put(Measure::kLoss, mean_loss(*model.divergence, model.scaling.apply(fold.loss_rows), fold.loss_items));
  }
  return scores;
}

}  // namespace bregmax::internal
