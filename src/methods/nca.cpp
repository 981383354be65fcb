#include "bregmax/methods/nca.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/linear_nca.hpp"
#include "methods/methods.hpp"
#include "methods/neighbour_softmax.hpp"
#include "methods/parameters.hpp"

namespace bregmax {
namespace {

// Directions whose variance is below this part of the largest are constant up to rounding.
constexpr double kNoVariance = 1e-14;

// x - mean = coordinates * back; directions in which the rows do not differ have no coordinate.
struct Coordinates {
  Matrix rows;           // ordered rows x coordinates, uncorrelated, variance 1
  Eigen::MatrixXd from;  // features x coordinates: (x - mean)^T from = coordinates
  Eigen::MatrixXd back;  // coordinates x features
};

Eigen::MatrixXd covariance(const Matrix& centered) {
  return centered.transpose() * centered / static_cast<double>(centered.rows());
}

Coordinates uncorrelated(const Matrix& centered) {
  const internal::SymmetricEigen eigen(covariance(centered));
  const Vector& variances = eigen.values;  // ascending
  const Index features = variances.size();
  Index kept = 0;
  while (kept < features && variances(features - 1 - kept) > kNoVariance * variances(features - 1)) ++kept;
  const Vector deviations = variances.tail(kept).cwiseSqrt();
  const auto directions = eigen.vectors.rightCols(kept);
  Coordinates coordinates;
  coordinates.from = directions * deviations.cwiseInverse().asDiagonal();
  coordinates.back = deviations.asDiagonal() * directions.transpose();
  coordinates.rows = centered * coordinates.from;
  return coordinates;
}

// Each feature by itself, so that a diagonal matrix stays one; a constant feature keeps its (single) value.
Coordinates of_unit_variance(const Matrix& centered) {
  Vector deviations = covariance(centered).diagonal().cwiseSqrt();
  for (double& deviation : deviations) {
    if (!(deviation > 0)) deviation = 1;
  }
  Coordinates coordinates;
  coordinates.from = deviations.cwiseInverse().asDiagonal();
  coordinates.back = deviations.asDiagonal();
  coordinates.rows = centered * coordinates.from;
  return coordinates;
}

void check_start(const NcaOptions& options, Index components, Index features) {
  const Matrix& start = *options.start;
  if (start.rows() != components || start.cols() != features) {
    throw Error(fmt::format("start is {} x {}; allowed: {} x {} (components x features)", start.rows(), start.cols(),
                            components, features));
  }
  if (!start.allFinite() || start.isZero(0)) throw Error("start is zero or not finite; allowed: finite, not all zero");
  if (options.form == NcaForm::kDiagonal && !start.isDiagonal(0)) {
    throw Error("start has entries beside its diagonal; allowed in the diagonal form: a diagonal matrix");
  }
}

Matrix first_transform(const NcaOptions& options, const Matrix& centered) {
  const Index features = centered.cols();
  if (options.components < 0 || options.components > features) {
    throw Error(fmt::format("components is {}; allowed: 0 (as many as features) to {}", options.components, features));
  }
  const Index components = options.components == 0 ? features : options.components;
  if (options.form == NcaForm::kDiagonal && components != features) {
    throw Error(fmt::format("components is {}; allowed in the diagonal form: {}", components, features));
  }
  if (options.start) {
    check_start(options, components, features);
    return *options.start;
  }
  if (components == features) return Matrix::Identity(features, features);
  const internal::SymmetricEigen eigen(covariance(centered));
  return eigen.vectors.rightCols(components).rowwise().reverse().transpose();
}

}  // namespace

NcaResult learn_nca(const MatrixView& rows, const ClassOfRow& class_of_row, const NcaOptions& options,
                    const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_two_classes(class_of_row, rows.rows());
  internal::check_limits(options.limits);
  const internal::IterationWatch watch(options.limits, control);
  const std::vector<Index> order = internal::order_by_class(class_of_row);
  Matrix centered = rows(order, Eigen::all);
  centered.rowwise() -= centered.colwise().mean().eval();
  ClassOfRow ordered_classes;
  for (const Index row : order) ordered_classes.push_back(class_of_row[static_cast<std::size_t>(row)]);
  const Matrix start = first_transform(options, centered);

  const bool diagonal = options.form == NcaForm::kDiagonal;
  const Coordinates coordinates = diagonal ? of_unit_variance(centered) : uncorrelated(centered);
  const internal::LinearNcaProblem problem{coordinates.rows, ordered_classes, diagonal};
  const Matrix first = start * coordinates.back.transpose();
  internal::LinearNcaSolution solution = internal::solve_linear_nca(problem, first, options.limits, watch);

  NcaResult result;
  // Where the rows do not differ the start has the last word.
  result.transform = start + (solution.transform - first) * coordinates.from.transpose();
  result.learned.divergence = std::make_shared<Mahalanobis>(result.transform.transpose() * result.transform);
  result.learned.report = solution.report;
  return result;
}

Method internal::nca_method() {
  Method method;
  method.name = "nca";
  method.summary = "neighbourhood component analysis (Goldberger et al. 2005)";
  method.from_labels = true;
  method.limits = NcaOptions{}.limits;
  method.parameters = {internal::tunable_choice_parameter("form", "of the learned matrix", {"full", "diagonal"}),
                       internal::components_parameter("rows of the learned matrix")};
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    NcaOptions options;
    options.form = choices.whole("form") == 0 ? NcaForm::kFull : NcaForm::kDiagonal;
    options.components = choices.whole("components");
    options.limits = choices.limits;
    return learn_nca(rows, std::get<ClassOfRow>(supervision), options, control).learned;
  };
  return method;
}

}  // namespace bregmax
