#include "bregmax/methods/mlr_auc.hpp"

#include <algorithm>

#include "bregmax/divergence/mahalanobis.hpp"
#include "methods/checks.hpp"
#include "methods/cutting_plane_master.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "methods/ranking_cuts.hpp"

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
      : c(loss_weight), master(features, loss_weight), best(Matrix::Zero(features, features)) {
    newest = queries.most_violated(best);
    objective = objective_at(best, newest, c);
  }

  double gap() const { return std::max(0.0, objective - bound) / c; }

  // One cutting plane: the master problem is solved to a tenth of the gap that is left, more would be wasted on it.
  bool improve(const RankingQueries& queries) {
    master.add(newest);
    const double left = std::max(objective - bound, 1e-14 * c);
    if (!master.center(0.1 * left / master.barriers())) return false;
    bound = std::max(bound, master.lower_bound());
    const Matrix metric = master.metric();
    master.drop_idle();
    newest = queries.most_violated(metric);
    const double value = objective_at(metric, newest, c);
    if (value < objective) {
      objective = value;
      best = metric;
    }
    return true;
  }

  double c;
  CuttingPlaneMaster master;
  RankingCut newest;
  Matrix best;
  double objective = 0, bound = 0;
};

}  // namespace

Learned learn_mlr_auc(const MatrixView& rows, const ClassOfRow& class_of_row, const MlrAucOptions& options,
                      const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_two_classes(class_of_row, rows.rows());
  internal::check_positive(options.c, "C");
  internal::check_limits(options.limits);
  const internal::IterationWatch watch(options.limits, control);
  const RankingQueries queries(rows, class_of_row);
  Search search(queries, rows.cols(), options.c);
  Learned learned;
  for (int iteration = 0;; ++iteration) {
    learned.report.iterations = iteration;
    const auto end = watch.end_after(iteration, search.objective, search.gap());
    if (end) {
      learned.report.status = *end;
      break;
    }
    if (!search.improve(queries)) break;  // the status remains a numerical error
  }
  learned.report.objective = search.objective;
  learned.report.stationarity = search.gap();
  learned.divergence = std::make_shared<Mahalanobis>(search.best);
  learned.report.seconds = watch.seconds();
  return learned;
}

Method internal::mlr_auc_method() {
  Method method;
  method.name = "mlr-auc";
  method.summary = "metric learning to rank: a structural support vector machine for the area under the ROC curve";
  method.from_labels = true;
  const MlrAucOptions standard;
  method.parameters = {
      internal::tuned(internal::positive_parameter("c", "weight of the ranking loss beside the trace", standard.c,
                                                   {1e-2, 1, 1e2, 1e4, 1e6})),
  };
  method.limits = standard.limits;
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    return learn_mlr_auc(rows, std::get<ClassOfRow>(supervision), {choices.number("c"), choices.limits}, control);
  };
  return method;
}

}  // namespace bregmax
