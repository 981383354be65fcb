
#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/checks.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/linear_nca.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"

// Neighbourhood component analysis (Goldberger, Roweis, Hinton & Salakhutdinov 2005). Row i takes another row j as its
// neighbour with probability p_ij proportional to exp(-||A x_i - A x_j||^2), and
//
//   F(A) = sum_i sum_{j of the class of i} p_ij
//
// is the expected number of rows that get their class right; -F(A) is minimised by L-BFGS. F is not concave: what is
// found is a stationary point, which depends on the start: the identity, or the first principal directions where A has
// fewer rows than there are features.
//
// objective: -F. stationarity: ||A|| ||F'(A)|| / rows in the coordinates that are optimised (features made
// uncorrelated, or of unit variance for the diagonal form): by how much the share of right rows changes, to first
// order, when A changes by its own norm.
//
// With a kernel: by the representer theorem the learned directions lie in the span of the training rows in its feature
// space. There rows are given by their kernel principal components, of which those that hold 99% of the variance are
// kept, and A is learned on them, from the first principal components on.

namespace bregmax {
namespace {

using internal::Whitening;

// Directions whose variance is below this part of the largest are constant up to rounding.
constexpr double kNoVariance = 1e-14;

// Each feature by itself, so that a diagonal matrix stays diagonal; a constant feature keeps its value.
void scale_to_unit_variance(const Matrix& centered, Whitening& coordinates) {
  Vector deviations = internal::covariance(centered).diagonal().cwiseSqrt();
  deviations = (deviations.array() > 0).select(deviations, 1.0);
  coordinates.from = deviations.cwiseInverse().asDiagonal();
  coordinates.back = deviations.asDiagonal();
}

Matrix first_transform(int wanted, bool diagonal, const Matrix& centered) {
  const Index features = centered.cols();
  if (wanted > features) internal::fail("components is {}; allowed: 0 (as many as features) to {}", wanted, features);
  const Index components = wanted == 0 ? features : wanted;
  if (diagonal && components != features) {
    internal::fail("components is {}; allowed in the diagonal form: {}", components, features);
  }
  if (components == features) return Matrix::Identity(features, features);
  const internal::SymmetricEigen eigen(internal::covariance(centered));
  return eigen.vectors.rightCols(components).rowwise().reverse().transpose();
}

Learned learn_nca(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                  const RunControl& control) {
  const internal::IterationWatch watch(choices.limits, control);
  const internal::OrderedRows train = internal::order_by_class(rows, std::get<ClassOfRow>(supervision));
  const Matrix centered = internal::centered(train.rows);
  const bool diagonal = choices.whole("form") == 1;
  const Matrix start = first_transform(choices.whole("components"), diagonal, centered);

  Whitening coordinates(internal::covariance(centered), kNoVariance);
  if (diagonal) scale_to_unit_variance(centered, coordinates);
  const Matrix first = internal::product_transposed(start, coordinates.back);
  const internal::LinearNcaSolution solution = internal::solve_linear_nca(
      {internal::product(centered, coordinates.from), train.classes, diagonal}, first, choices.limits, watch);

  // In directions in which the rows do not differ, A stays as it was at the start.
  const Matrix transform = start + internal::product_transposed(solution.transform - first, coordinates.from);
  return {std::make_shared<Mahalanobis>(internal::transposed_product(transform, transform)), solution.report};
}

// Kernel principal components of the rows: coordinates = (K - its column means) * from.
struct PrincipalComponents {
  Matrix coordinates;  // rows x components, largest variance first; scaled to a total variance of `scaled_to`
  Matrix from;         // rows x components
};

PrincipalComponents principal_components(const Matrix& kernel_values, double scaled_to) {
  constexpr double kKeptVariance = 0.99;
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

// Throws Error where the kernel of the rows overflows.
Learned learn_kernel_nca(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                         const RunControl& control) {
  const internal::IterationWatch watch(choices.limits, control);
  const internal::OrderedRows train = internal::order_by_class(rows, std::get<ClassOfRow>(supervision));
  const Kernel kernel{choices.whole("kernel") == 0 ? KernelKind::kRbf : KernelKind::kPolynomial,
                      choices.number("bandwidth"), choices.whole("degree")};
  const Index wanted = choices.whole("components") == 0 ? rows.cols() : choices.whole("components");
  const PrincipalComponents principal =
      principal_components(kernel.values(train.rows, train.rows), static_cast<double>(wanted));
  const Index kept = principal.coordinates.cols();
  const Matrix start = Matrix::Identity(std::min(wanted, kept), kept);
  const internal::LinearNcaSolution solution =
      internal::solve_linear_nca({principal.coordinates, train.classes}, start, choices.limits, watch);
  return {std::make_shared<KernelEmbedding>(kernel, train.rows,
                                            internal::product_transposed(principal.from, solution.transform)),
          solution.report};
}

MethodParameter components_parameter(const std::string& of_what) {
  return internal::whole_parameter("components", of_what + "; 0: as many as features", 0, {0, 100000});
}

}  // namespace

Method internal::nca_method() {
  return {.name = "nca",
          .summary = "neighbourhood component analysis (Goldberger et al. 2005)",
          .from_labels = true,
          .parameters = {choice_parameter("form", "of the learned matrix", {"full", "diagonal"}, true),
                         components_parameter("rows of the learned matrix")},
          .limits = {1e-4, 500, 0},
          .learn = learn_nca,
          .predicted_seconds = [](const FitSize& size, const MethodChoices&) {
            return 1.5e-7 * size.rows * size.rows * (1 + size.features / 20);
          }};
}

Method internal::kernel_nca_method() {
  return {
      .name = "kernel-nca",
      .summary = "neighbourhood component analysis with an RBF or polynomial kernel",
      .from_labels = true,
      .parameters = {tuned(choice_parameter("kernel", "k(x, y)", {"rbf", "polynomial"}, true)),
                     tuned(real_parameter("bandwidth", "of the kernel", 4, kPositive, {32, 16, 8, 4, 2, 1})),
                     whole_parameter("degree", "of the polynomial", 2, {1, 10}),
                     components_parameter("of the embedding")},
      .limits = {1e-4, 500, 0},
      .learn = learn_kernel_nca,
      .predicted_seconds = [](const FitSize& size, const MethodChoices&) { return 1.5e-6 * size.rows * size.rows; }};
}

}  // namespace bregmax
