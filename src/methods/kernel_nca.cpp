#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/linear_nca.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "methods/training_rows.hpp"

// Neighbourhood component analysis in the feature space of a kernel. By the representer theorem the learned directions
// lie in the span of the training rows; there rows are given by their kernel principal components, of which those that
// hold 99% of the variance are kept, and A is learned on them as in nca.cpp, from the first principal components on.
//
// The learned divergence is a KernelEmbedding. Objective and stationarity are those of NCA on the principal components.
// Throws Error where the kernel of the rows overflows.

namespace bregmax {
namespace {

constexpr double kKeptVariance = 0.99;

// Kernel principal components of the rows: coordinates = (K - its column means) * from.
struct PrincipalComponents {
  Matrix coordinates;  // rows x components, largest variance first; scaled to a total variance of `scaled_to`
  Matrix from;         // rows x components
};

PrincipalComponents principal_components(const Matrix& kernel_values, double scaled_to) {
  const Index rows = kernel_values.rows();
  Eigen::MatrixXd centered = kernel_values.rowwise() - kernel_values.colwise().mean();
  centered.colwise() -= centered.rowwise().mean().eval();
  const internal::SymmetricEigen eigen((centered + centered.transpose()) / 2);
  const Vector variances = eigen.values.reverse().cwiseMax(0);
  const double total = variances.sum();
  if (!(total > 0)) throw Error("all rows are the same to the kernel; allowed: rows that differ");
  Index kept = 0;
  for (double held = 0; kept < rows && held < kKeptVariance * total; ++kept) held += variances(kept);
  const double scale = std::sqrt(scaled_to * static_cast<double>(rows) / total);
  const auto directions = eigen.vectors.rowwise().reverse().leftCols(kept);
  const Vector roots = variances.head(kept).cwiseSqrt();
  PrincipalComponents components;
  components.coordinates = scale * directions * roots.asDiagonal();
  // (K - column means) from = H K H U / sqrt(variance): the centring of the columns goes into the coefficients.
  Eigen::MatrixXd from = scale * directions * roots.cwiseInverse().asDiagonal();
  from.rowwise() -= from.colwise().mean().eval();
  components.from = from;
  return components;
}

Learned learn_kernel_nca(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                         const RunControl& control) {
  const auto& class_of_row = std::get<ClassOfRow>(supervision);
  internal::check_two_classes(class_of_row, rows.rows());
  const internal::IterationWatch watch(choices.limits, control);
  const internal::OrderedRows train = internal::order_by_class(rows, class_of_row);
  const Kernel kernel{choices.whole("kernel") == 0 ? KernelKind::kRbf : KernelKind::kPolynomial,
                      choices.number("bandwidth"), choices.whole("degree")};
  const Index wanted = choices.whole("components") == 0 ? rows.cols() : choices.whole("components");
  const PrincipalComponents principal =
      principal_components(kernel.values(train.rows, train.rows), static_cast<double>(wanted));
  const Index kept = principal.coordinates.cols();
  const Matrix start = Matrix::Identity(std::min(wanted, kept), kept);
  const internal::LinearNcaSolution solution =
      internal::solve_linear_nca({principal.coordinates, train.classes}, start, choices.limits, watch);
  return {std::make_shared<KernelEmbedding>(kernel, train.rows, principal.from * solution.transform.transpose()),
          solution.report};
}

}  // namespace

Method internal::kernel_nca_method() {
  return {.name = "kernel-nca",
          .summary = "neighbourhood component analysis with an RBF or polynomial kernel",
          .from_labels = true,
          .parameters =
              {tuned(tunable_choice_parameter("kernel", "k(x, y)", {"rbf", "polynomial"})),
               tuned(positive_parameter("bandwidth", "of the kernel", 4, {32, 16, 8, 4, 2, 1})),
               {.name = "degree", .help = "of the polynomial", .standard = 2, .low = 1, .high = 10, .whole = true},
               components_parameter("of the embedding")},
          .limits = {1e-4, 500, 0},
          .learn = learn_kernel_nca};
}

}  // namespace bregmax
