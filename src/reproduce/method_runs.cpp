#include "reproduce/method_runs.hpp"

#include <fmt/format.h>

#include "bregmax/baselines/registry.hpp"
#include "bregmax/tasks/evaluate.hpp"

namespace bregmax::internal {

std::vector<RunScores> run_method_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                       const RunControl& control) {
  std::vector<RunScores> all;
  for (const ProtocolRow& row : rows) {
    BaselineSettings settings;
    settings.seed = parts.seed;
    const BaselineFit fit = fit_baseline(baseline_method(row.name), parts.train_rows, parts.train_classes,
                                         Scaling::none(parts.train_rows.cols()), settings, control);
    if (control.stop_requested()) return {};
    const EvaluationScores found =
        evaluate(*fit.model.divergence, fit.model.scaling.apply(parts.test_rows), parts.test_classes,
                 fit.model.scaling.apply(parts.train_rows), parts.train_classes, parts.evaluation, control);
    if (control.stop_requested()) return {};
    RunScores scores;
    scores.per_measure = {found.rand_index, found.purity, found.auc, found.average_precision, found.knn_accuracy};
    scores.one_model = scores.per_measure;
    scores.note = to_string(fit.report.status);
    all.push_back(scores);
  }
  return all;
}

}  // namespace bregmax::internal
