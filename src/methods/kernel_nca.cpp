#include "bregmax/methods/kernel_nca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/linear_nca.hpp"
#include "methods/methods.hpp"
#include "methods/neighbour_softmax.hpp"
#include "methods/parameters.hpp"

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

void check_options(const KernelNcaOptions& options) {
  internal::check_positive(options.bandwidth, "bandwidth");
  if (options.degree < 1 || options.degree > 10) {
    throw Error(fmt::format("degree is {}; allowed: 1 to 10", options.degree));
  }
  if (options.components < 0) {
    throw Error(fmt::format("components is {}; allowed: 0 (as many as features) or more", options.components));
  }
  internal::check_limits(options.limits);
}

}  // namespace

Learned learn_kernel_nca(const MatrixView& rows, const ClassOfRow& class_of_row, const KernelNcaOptions& options,
                         const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_two_classes(class_of_row, rows.rows());
  check_options(options);
  const internal::IterationWatch watch(options.limits, control);
  const Matrix ordered = rows(internal::order_by_class(class_of_row), Eigen::all);
  ClassOfRow classes = class_of_row;
  std::ranges::sort(classes);
  const Kernel kernel{options.kind, options.bandwidth, options.degree};
  const Index wanted = options.components == 0 ? rows.cols() : options.components;
  const PrincipalComponents principal =
      principal_components(kernel.values(ordered, ordered), static_cast<double>(wanted));
  const Index kept = principal.coordinates.cols();
  const Matrix start = Matrix::Identity(std::min(wanted, kept), kept);
  const internal::LinearNcaSolution solution =
      internal::solve_linear_nca({principal.coordinates, classes}, start, options.limits, watch);
  Learned learned{std::make_shared<KernelEmbedding>(kernel, ordered, principal.from * solution.transform.transpose()),
                  solution.report};
  learned.report.seconds = watch.seconds();
  return learned;
}

Method internal::kernel_nca_method() {
  Method method;
  method.name = "kernel-nca";
  method.summary = "neighbourhood component analysis with an RBF or polynomial kernel";
  method.from_labels = true;
  method.limits = KernelNcaOptions{}.limits;
  const KernelNcaOptions standard;
  method.parameters = {
      internal::tuned(internal::tunable_choice_parameter("kernel", "k(x, y)", {"rbf", "polynomial"})),
      internal::tuned(
          internal::positive_parameter("bandwidth", "of the kernel", standard.bandwidth, {32, 16, 8, 4, 2, 1})),
      {.name = "degree", .help = "of the polynomial", .standard = 2, .low = 1, .high = 10, .whole = true},
      internal::components_parameter("of the embedding")};
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    KernelNcaOptions options;
    options.kind = choices.whole("kernel") == 0 ? KernelKind::kRbf : KernelKind::kPolynomial;
    options.bandwidth = choices.number("bandwidth");
    options.degree = choices.whole("degree");
    options.components = choices.whole("components");
    options.limits = choices.limits;
    return learn_kernel_nca(rows, std::get<ClassOfRow>(supervision), options, control);
  };
  return method;
}

}  // namespace bregmax
