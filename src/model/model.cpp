#include "bregmax/model/model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "model/tuning_parts.hpp"

namespace bregmax {
namespace {

void check_scaling(const Scaling& scaling) {
  if (scaling.center.size() == 0 || scaling.center.size() != scaling.scale.size()) {
    throw Error(fmt::format("the scaling has {} centers and {} scales; allowed: one of each per feature, at least one",
                            scaling.center.size(), scaling.scale.size()));
  }
  for (Index i = 0; i < scaling.center.size(); ++i) {
    if (!std::isfinite(scaling.center(i))) {
      throw Error(fmt::format("the center of feature {} is {}; allowed: finite", i, scaling.center(i)));
    }
    if (!(scaling.scale(i) > 0 && std::isfinite(scaling.scale(i)))) {
      throw Error(fmt::format("the scale of feature {} is {}; allowed: > 0 and finite", i, scaling.scale(i)));
    }
  }
}

}  // namespace

Matrix Model::divergences(const MatrixView& points, const MatrixView& references) const {
  return with_scaled(points, [&](const MatrixView& scaled_points) {
    return with_scaled(references, [&](const MatrixView& scaled_references) {
      return divergence->matrix(scaled_points, scaled_references);
    });
  });
}

Vector Model::rowwise(const MatrixView& points, const MatrixView& references) const {
  return with_scaled(points, [&](const MatrixView& scaled_points) {
    return with_scaled(references, [&](const MatrixView& scaled_references) {
      return divergence->rowwise(scaled_points, scaled_references);
    });
  });
}

double Model::value(const VectorView& point, const VectorView& reference) const {
  return divergence->value(scaled(point.transpose()).row(0).transpose(),
                           scaled(reference.transpose()).row(0).transpose());
}

Vector Model::generator_values(const MatrixView& points) const {
  return with_scaled(points, [&](const MatrixView& rows) { return divergence->generator_values(rows); });
}

Matrix Model::gradients(const MatrixView& references) const {
  Matrix out = with_scaled(references, [&](const MatrixView& rows) { return divergence->gradients(rows); });
  out.array().rowwise() /= scaling.scale.transpose().array();
  return out;
}

Matrix Model::embedded(const MatrixView& rows) const {
  return with_scaled(rows, [&](const MatrixView& scaled_rows) { return embedded_rows(*divergence, scaled_rows); });
}

Matrix Model::scaled(const MatrixView& rows) const { return scaling.apply(rows); }

Matrix Model::unscaled(const MatrixView& scaled_rows) const {
  if (scaled_rows.cols() != features()) {
    throw Error(
        fmt::format("the scaled rows have {} columns; allowed: {}, one per feature", scaled_rows.cols(), features()));
  }
  Matrix rows = scaled_rows.array().rowwise() * scaling.scale.transpose().array();
  rows.rowwise() += scaling.center.transpose();
  return rows;
}

void check_model(const Model& model) {
  if (!model.divergence) throw Error("the model has no divergence");
  check_scaling(model.scaling);
  const Index features = model.features();
  if (model.divergence->dimension() != 0 && model.divergence->dimension() != features) {
    throw Error(fmt::format("the divergence takes {} features and the scaling {}; they must agree",
                            model.divergence->dimension(), features));
  }
  if (!model.feature_names.empty() && static_cast<Index>(model.feature_names.size()) != features) {
    throw Error(fmt::format("there are {} feature names for {} features; allowed: none or one per feature",
                            model.feature_names.size(), features));
  }
  internal::check_tuning(model.tuning);
}

}  // namespace bregmax
