#include "bregmax/theory/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

void check_not_negative(double value, const char* name) {
  if (!(value >= 0) || !std::isfinite(value)) {
    throw Error(fmt::format("{} is {}; allowed: a finite number >= 0", name, value));
  }
}

void check_at_least_one(Index value, const char* name) {
  if (value < 1) throw Error(fmt::format("{} is {}; allowed: a whole number >= 1", name, value));
}

void check_inputs(const BoundInputs& inputs) {
  check_at_least_one(inputs.pieces, "pieces");
  check_at_least_one(inputs.features, "features");
  check_at_least_one(inputs.items, "items");
  check_not_negative(inputs.lipschitz, "lipschitz");
  check_not_negative(inputs.radius, "radius");
  if (!(inputs.delta > 0 && inputs.delta < 1)) {
    throw Error(fmt::format("delta is {}; allowed: a number > 0 and < 1", inputs.delta));
  }
}

// sqrt(2 ln(2d + 2) / m)
double deviation(const BoundInputs& inputs) {
  return std::sqrt(2 * std::log(2 * static_cast<double>(inputs.features) + 2) / static_cast<double>(inputs.items));
}

// K L R sqrt(2 ln(2d + 2) / m)
double scaled_deviation(const BoundInputs& inputs, double lipschitz) {
  return static_cast<double>(inputs.pieces) * lipschitz * inputs.radius * deviation(inputs);
}

double squared(double value) { return value * value; }

void check_row(Index row, Index rows, std::size_t item) {
  if (row < 0 || row >= rows) {
    throw Error(fmt::format("item {} has the row number {}; allowed: 0 to {}", item, row, rows - 1));
  }
}

// D(row first(t), row second(t)) of every item t.
template <class Items, class First, class Second>
Vector divergences_of(const Divergence& divergence, const MatrixView& rows, const Items& items, First first,
                      Second second) {
  const auto count = static_cast<Index>(items.size());
  Matrix points(count, rows.cols()), references(count, rows.cols());
  for (std::size_t t = 0; t < items.size(); ++t) {
    check_row(items[t].*first, rows.rows(), t);
    check_row(items[t].*second, rows.rows(), t);
    points.row(static_cast<Index>(t)) = rows.row(items[t].*first);
    references.row(static_cast<Index>(t)) = rows.row(items[t].*second);
  }
  return divergence.rowwise(points, references);
}

}  // namespace

double rademacher_bound(const BoundInputs& inputs) {
  check_inputs(inputs);
  return 4 * scaled_deviation(inputs, inputs.lipschitz);
}

BoundTerms comparison_bound(const BoundInputs& inputs, double loss, Constants constants) {
  check_inputs(inputs);
  check_not_negative(loss, "loss");
  const bool proved = constants == Constants::kProved;
  // The union over Lipschitz constants is over 2, 4, 8, ...: the smallest class has L = 2, and L is at least half of
  // the constant of its class.
  const double lipschitz = proved ? std::max(inputs.lipschitz, 1.0) : inputs.lipschitz;
  const double doublings = std::log2(std::max(inputs.lipschitz, 2.0));
  const double failure = (proved ? 2 : 1) * std::log(1 / inputs.delta);
  return {loss, 32 * scaled_deviation(inputs, lipschitz),
          std::sqrt((4 * std::log(4 * doublings) + failure) / static_cast<double>(inputs.items))};
}

double residual_bound(const BoundInputs& inputs, double noise) {
  check_inputs(inputs);
  check_not_negative(noise, "noise");
  return 4 * inputs.lipschitz * inputs.radius + noise;
}

BoundTerms regression_bound(const BoundInputs& inputs, double loss, double noise) {
  check_not_negative(loss, "loss");
  const double residual = residual_bound(inputs, noise);
  return {loss, 16 * residual * scaled_deviation(inputs, inputs.lipschitz),
          squared(residual) * std::sqrt(std::log(1 / inputs.delta) / (2 * static_cast<double>(inputs.items)))};
}

BoundTerms regression_approximation_bound(const BoundInputs& inputs, double beta, double noise) {
  check_not_negative(beta, "beta");
  const double residual = residual_bound(inputs, noise);
  const double cell = std::pow(static_cast<double>(inputs.pieces), -1 / static_cast<double>(inputs.features));
  return {squared(36 * beta * squared(inputs.radius) * cell),
          16 * residual * scaled_deviation(inputs, inputs.lipschitz),
          squared(residual) * std::sqrt(2 * std::log(2 / inputs.delta) / static_cast<double>(inputs.items))};
}

Index regression_pieces(Index items, Index features) {
  check_at_least_one(items, "items");
  check_at_least_one(features, "features");
  const double d = static_cast<double>(features);
  const double pieces = std::pow(static_cast<double>(items), d / (4 + 2 * d));
  // A power that is a whole number, such as 10^4 to the 1/4, may be rounded to just above it.
  const double nearest = std::round(pieces);
  return static_cast<Index>(std::abs(pieces - nearest) <= 1e-12 * nearest ? nearest : std::ceil(pieces));
}

ComparisonLosses comparison_losses(const Divergence& divergence, const MatrixView& rows,
                                   const Comparisons& comparisons) {
  if (comparisons.empty()) throw Error("there are no comparisons; at least one is needed");
  const Vector near = divergences_of(divergence, rows, comparisons, &Comparison::i, &Comparison::j);
  const Vector far = divergences_of(divergence, rows, comparisons, &Comparison::k, &Comparison::l);
  const Vector hinge = (1 + near.array() - far.array()).cwiseMax(0.0);
  ComparisonLosses losses;
  losses.hinge = hinge.mean();
  losses.ramp = hinge.cwiseMin(1.0).mean();
  losses.error = static_cast<double>((near.array() >= far.array()).count()) / static_cast<double>(near.size());
  return losses;
}

double squared_loss(const Divergence& divergence, const MatrixView& rows, const Targets& targets) {
  if (targets.empty()) throw Error("there are no targets; at least one is needed");
  Vector values(static_cast<Index>(targets.size()));
  for (std::size_t t = 0; t < targets.size(); ++t) values(static_cast<Index>(t)) = targets[t].value;
  return (divergences_of(divergence, rows, targets, &Target::i, &Target::j) - values).squaredNorm() /
         static_cast<double>(targets.size());
}

}  // namespace bregmax
