#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "methods/methods.hpp"

namespace bregmax {
namespace {

// The factor that brings the squared distances nearest to the values, by least squares.
double fitted_factor(const MatrixView& rows, const Targets& targets) {
  double products = 0, squares = 0;
  for (const Target& target : targets) {
    const double distance = (rows.row(target.i) - rows.row(target.j)).squaredNorm();
    products += target.weight * target.value * distance;
    squares += target.weight * distance * distance;
  }
  return squares > 0 ? std::max(0.0, products / squares) : 1;
}

Learned learn_euclidean(const MatrixView& rows, const MethodSupervision& supervision) {
  Learned learned{std::make_shared<SquaredEuclidean>(), {}};
  if (const auto* targets = std::get_if<Targets>(&supervision)) {
    learned.divergence =
        std::make_shared<Mahalanobis>(fitted_factor(rows, *targets) * Matrix::Identity(rows.cols(), rows.cols()));
  }
  learned.report.status = Status::kConverged;
  return learned;
}

}  // namespace

// The squared Euclidean distance, with nothing learned: what every method is compared with.
Method internal::euclidean_method() {
  return {.name = "euclidean",
          .summary = "squared Euclidean distance, nothing learned",
          .from_labels = true,
          .from_pairs = true,
          .from_targets = true,
          .from_comparisons = true,
          .needs_supervision = false,
          .parameters = {},
          .limits = {},
          .weighs_rows = true,  // nothing is learned from labels
          .learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices&,
                      const RunControl&) { return learn_euclidean(rows, supervision); },
          .predicted_seconds = [](const FitSize&, const MethodChoices&) { return 0.0; }};
}

}  // namespace bregmax
