#include "bregmax/divergence/closed_forms.hpp"
#include "methods/methods.hpp"

namespace bregmax {

// The squared Euclidean distance, with nothing learned: what every method is compared with.
Method internal::euclidean_method() {
  return {.name = "euclidean",
          .summary = "squared Euclidean distance, nothing learned",
          .from_labels = true,
          .from_pairs = true,
          .from_targets = true,
          .needs_supervision = false,
          .parameters = {},
          .limits = {},
          .learn = [](const MatrixView&, const MethodSupervision&, const MethodChoices&, const RunControl&) {
            Learned learned{std::make_shared<SquaredEuclidean>(), {}};
            learned.report.status = Status::kConverged;
            return learned;
          }};
}

}  // namespace bregmax
