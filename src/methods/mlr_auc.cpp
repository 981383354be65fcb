#include "methods/mlr_auc.hpp"

#include <algorithm>

#include "bregmax/divergence/mahalanobis.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"

// Metric learning to rank with the loss of the area under the ROC curve (McFee and Lanckriet 2010). Each row queries
// all others; rows of its class are relevant, and the loss of a ranking is the fraction of pairs (relevant, irrelevant)
// in the wrong order:
//
//   minimise  tr(W) + C (1 / queries) sum_q max_y [loss(y) - <W, psi(q, y*) - psi(q, y)>],   W positive semidefinite
//
// over rankings y, with psi the partial order feature of the paper. By one-slack cutting planes: the ranking that
// violates most is found exactly by sorting, and the master problem, a semidefinite program with one constraint per
// cutting plane, is solved in its dual by a barrier method. An iteration is one cutting plane.
//
// The stationarity is the duality gap over the objective of W = 0: every dual solution of the master problem bounds the
// full problem from below, and the objective of W is exact.

namespace bregmax {
namespace {

using internal::CuttingPlaneMaster;
using internal::RankingCut;
using internal::RankingQueries;

// The cut is tight at the metric that it was found for.
double objective_at(const Matrix& metric, const RankingCut& cut, double c) {
  return metric.trace() + c * (cut.offset - metric.cwiseProduct(cut.slope).sum());
}

struct Search {
  Search(const RankingQueries& queries, Index features, double loss_weight)
      : c(loss_weight), master(features, loss_weight) {
    see(queries, Matrix::Zero(features, features));
  }

  void see(const RankingQueries& queries, const Matrix& metric) {
    newest = queries.most_violated(metric);
    best.see(metric, objective_at(metric, newest, c), master.lower_bound());
  }

  // One cutting plane. The master problem is solved to a tenth of the remaining gap only: the next cut changes it.
  bool improve(const RankingQueries& queries) {
    master.add(newest);
    const double left = std::max(best.objective - best.bound, 1e-14 * c);
    if (!master.center(0.1 * left / master.barriers())) return false;
    best.bound = std::max(best.bound, master.lower_bound());
    const Matrix metric = master.metric();
    master.drop_idle();
    see(queries, metric);
    return true;
  }

  double c;
  CuttingPlaneMaster master;
  RankingCut newest;
  internal::BestPoint<Matrix> best;
};

Learned learn_mlr_auc(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                      const RunControl& control) {
  const internal::IterationWatch watch(choices.limits, control);
  const RankingQueries queries(rows, std::get<ClassOfRow>(supervision));
  Search search(queries, rows.cols(), choices.number("c"));
  const MethodReport report = watch.run(
      [&] {
        return internal::IterationWatch::Measure{search.best.objective, search.best.gap() / search.c};
      },
      [&] { return search.improve(queries); });
  return {std::make_shared<Mahalanobis>(search.best.at), report};
}

}  // namespace

Method internal::mlr_auc_method() {
  return {
      .name = "mlr-auc",
      .summary = "metric learning to rank: a structural support vector machine for the area under the ROC curve",
      .from_labels = true,
      .parameters = {tuned(real_parameter("c", "weight of the ranking loss relative to the trace", 1000, kPositive,
                                          {1e-2, 1, 1e2, 1e4, 1e6}))},
      .limits = {1e-3, 2000, 0},
      .learn = learn_mlr_auc,
      .predicted_seconds = [](const FitSize& size, const MethodChoices&) { return 1e-3 * size.rows * size.features; }};
}

}  // namespace bregmax
