#include "bregmax/data/scaling.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax {

Scaling Scaling::none(Index features) { return {Vector::Zero(features), Vector::Ones(features)}; }

Scaling Scaling::standard(const MatrixView& rows) {
  if (rows.rows() == 0) throw Error("scaling: found no rows; standard scaling needs at least one");
  Scaling scaling = none(rows.cols());
  for (Index c = 0; c < rows.cols(); ++c) {
    const auto feature = rows.col(c);
    // A constant feature is recognised by its values: rounding would give it a tiny deviation instead of none.
    if (feature.minCoeff() == feature.maxCoeff()) {
      scaling.center(c) = feature(0);
      continue;
    }
    const double mean = feature.mean();
    // Squares relative to the largest deviation neither overflow nor vanish.
    const double largest = (feature.array() - mean).abs().maxCoeff();
    const double deviation = largest * std::sqrt(((feature.array() - mean) / largest).square().mean());
    if (!std::isfinite(mean) || !std::isfinite(deviation) || !std::isfinite(1 / deviation)) {
      throw Error(
          fmt::format("scaling: feature {} lies between {} and {}; its standard deviation is not a usable double", c,
                      feature.minCoeff(), feature.maxCoeff()));
    }
    scaling.center(c) = mean;
    scaling.scale(c) = deviation;
  }
  return scaling;
}

bool Scaling::is_identity() const { return (center.array() == 0).all() && (scale.array() == 1).all(); }

Matrix Scaling::apply(const MatrixView& rows) const {
  if (rows.cols() != center.size()) {
    throw Error(fmt::format("found {} features; expected {}, as in the data that the scaling was made on", rows.cols(),
                            center.size()));
  }
  if (is_identity()) return rows;
  return (rows.rowwise() - center.transpose()).array().rowwise() / scale.transpose().array();
}

}  // namespace bregmax
