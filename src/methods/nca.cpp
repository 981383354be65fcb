#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/linear_nca.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "methods/training_rows.hpp"

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
// order, when A changes by as much as itself.

namespace bregmax {
namespace {

using internal::Whitening;

// Directions whose variance is below this part of the largest are constant up to rounding.
constexpr double kNoVariance = 1e-14;

// Each feature by itself, so that a diagonal matrix stays one; a constant feature keeps its (single) value.
void scale_to_unit_variance(const Matrix& centered, Whitening& coordinates) {
  Vector deviations = internal::covariance(centered).diagonal().cwiseSqrt();
  for (double& deviation : deviations) {
    if (!(deviation > 0)) deviation = 1;
  }
  coordinates.from = deviations.cwiseInverse().asDiagonal();
  coordinates.back = deviations.asDiagonal();
}

Matrix first_transform(int wanted, bool diagonal, const Matrix& centered) {
  const Index features = centered.cols();
  if (wanted > features) {
    throw Error(fmt::format("components is {}; allowed: 0 (as many as features) to {}", wanted, features));
  }
  const Index components = wanted == 0 ? features : wanted;
  if (diagonal && components != features) {
    throw Error(fmt::format("components is {}; allowed in the diagonal form: {}", components, features));
  }
  if (components == features) return Matrix::Identity(features, features);
  const internal::SymmetricEigen eigen(internal::covariance(centered));
  return eigen.vectors.rightCols(components).rowwise().reverse().transpose();
}

Learned learn_nca(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                  const RunControl& control) {
  const auto& class_of_row = std::get<ClassOfRow>(supervision);
  internal::check_two_classes(class_of_row, rows.rows());
  const internal::IterationWatch watch(choices.limits, control);
  const internal::OrderedRows train = internal::order_by_class(rows, class_of_row);
  const Matrix centered = internal::centered(train.rows);
  const bool diagonal = choices.whole("form") == 1;
  const Matrix start = first_transform(choices.whole("components"), diagonal, centered);

  Whitening coordinates(centered, kNoVariance);
  if (diagonal) scale_to_unit_variance(centered, coordinates);
  const Matrix first = start * coordinates.back.transpose();
  const internal::LinearNcaSolution solution =
      internal::solve_linear_nca({centered * coordinates.from, train.classes, diagonal}, first, choices.limits, watch);

  // Where the rows do not differ A stays what it was at the start.
  const Matrix transform = start + (solution.transform - first) * coordinates.from.transpose();
  return {std::make_shared<Mahalanobis>(transform.transpose() * transform), solution.report};
}

}  // namespace

Method internal::nca_method() {
  return {.name = "nca",
          .summary = "neighbourhood component analysis (Goldberger et al. 2005)",
          .from_labels = true,
          .parameters = {tunable_choice_parameter("form", "of the learned matrix", {"full", "diagonal"}),
                         components_parameter("rows of the learned matrix")},
          .limits = {1e-4, 500, 0},
          .learn = learn_nca};
}

}  // namespace bregmax
