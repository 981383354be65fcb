#include "bregmax/methods/euclidean.hpp"

#include "bregmax/divergence/closed_forms.hpp"
#include "methods/checks.hpp"
#include "methods/methods.hpp"

namespace bregmax {

Learned learn_euclidean(const MatrixView& rows) {
  internal::check_bounded_rows(rows);
  Learned learned;
  learned.divergence = std::make_shared<SquaredEuclidean>();
  learned.report.status = Status::kConverged;
  return learned;
}

Method internal::euclidean_method() {
  Method method;
  method.name = "euclidean";
  method.summary = "squared Euclidean distance, nothing learned";
  method.from_labels = method.from_pairs = method.from_targets = true;
  method.learn = [](const MatrixView& rows, const MethodSupervision&, const MethodChoices&, const RunControl&) {
    return learn_euclidean(rows);
  };
  return method;
}

}  // namespace bregmax
