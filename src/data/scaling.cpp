#include "bregmax/data/scaling.hpp"

#include <cmath>

#include "core/checks.hpp"

namespace bregmax {
namespace {

// Row by row: going feature by feature would read the whole matrix once per feature.
template <class Each>
void for_each_row(const MatrixView& rows, const Each& each) {
  for (Index i = 0; i < rows.rows(); ++i) each(rows.row(i).transpose());
}

}  // namespace

Scaling Scaling::none(Index features) { return {Vector::Zero(features), Vector::Ones(features)}; }

Scaling Scaling::standard(const MatrixView& rows) {
  internal::require(rows.rows() > 0, "scaling: found no rows; standard scaling needs at least one");
  Scaling scaling = none(rows.cols());
  const auto count = static_cast<double>(rows.rows());
  Vector least = rows.row(0), most = least, mean = Vector::Zero(rows.cols());
  for_each_row(rows, [&](const auto& row) {
    least = least.cwiseMin(row);
    most = most.cwiseMax(row);
    mean += row;
  });
  mean /= count;
  // Squares relative to the largest deviation neither overflow nor vanish.
  Vector largest = Vector::Zero(rows.cols()), squares = largest;
  for_each_row(rows, [&](const auto& row) { largest = largest.cwiseMax((row - mean).cwiseAbs()); });
  for_each_row(rows, [&](const auto& row) { squares += (row - mean).cwiseQuotient(largest).cwiseAbs2(); });
  for (Index c = 0; c < rows.cols(); ++c) {
    // A constant feature is recognised by its values: rounding would give it a tiny deviation instead of none.
    if (least(c) == most(c)) {
      scaling.center(c) = rows(0, c);
      continue;
    }
    const double deviation = largest(c) * std::sqrt(squares(c) / count);
    internal::require(std::isfinite(mean(c)) && std::isfinite(deviation) && std::isfinite(1 / deviation),
                      "scaling: feature {} lies between {} and {}; its standard deviation is not a usable double", c,
                      least(c), most(c));
    scaling.center(c) = mean(c);
    scaling.scale(c) = deviation;
  }
  return scaling;
}

bool Scaling::is_identity() const { return (center.array() == 0).all() && (scale.array() == 1).all(); }

Matrix Scaling::apply(const MatrixView& rows) const {
  internal::require(rows.cols() == center.size(),
                    "found {} features; expected {}, as in the data that the scaling was made on", rows.cols(),
                    center.size());
  if (is_identity()) return rows;
  return (rows.rowwise() - center.transpose()).array().rowwise() / scale.transpose().array();
}

}  // namespace bregmax
