#include "bregmax/baselines/euclidean.hpp"

#include "baselines/checks.hpp"
#include "baselines/methods.hpp"
#include "bregmax/divergence/squared_euclidean.hpp"

namespace bregmax {

LearnedMetric learn_euclidean(const MatrixView& rows) {
  internal::check_bounded_rows(rows);
  LearnedMetric learned;
  learned.divergence = std::make_shared<SquaredEuclidean>();
  learned.report.status = BaselineStatus::kConverged;
  return learned;
}

BaselineMethod internal::euclidean_method() {
  BaselineMethod method;
  method.name = "euclidean";
  method.summary = "squared Euclidean distance, nothing learned";
  method.from_labels = method.from_pairs = method.from_targets = true;
  method.learn = [](const MatrixView& rows, const BaselineSupervision&, const BaselineChoices&, const RunControl&) {
    return learn_euclidean(rows);
  };
  return method;
}

}  // namespace bregmax
