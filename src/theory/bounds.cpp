#include "bregmax/theory/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "core/checks.hpp"

namespace bregmax {

using internal::require;

namespace {

void check_not_negative(double value, const char* name) {
  require(value >= 0 && std::isfinite(value), "{} is {}; allowed: a finite number >= 0", name, value);
}

void check_at_least_one(Index value, const char* name) {
  require(value >= 1, "{} is {}; allowed: a whole number >= 1", name, value);
}

void check_inputs(const BoundInputs& inputs) {
  check_at_least_one(inputs.pieces, "pieces");
  check_at_least_one(inputs.features, "features");
  check_at_least_one(inputs.items, "items");
  check_not_negative(inputs.lipschitz, "lipschitz");
  check_not_negative(inputs.radius, "radius");
  require(inputs.delta > 0 && inputs.delta < 1, "delta is {}; allowed: a number > 0 and < 1", inputs.delta);
}

// K L R sqrt(2 ln(2d + 2) / m)
double scaled_deviation(const BoundInputs& inputs, double lipschitz) {
  const double log_features = std::log(2 * static_cast<double>(inputs.features) + 2);
  return static_cast<double>(inputs.pieces) * lipschitz * inputs.radius *
         std::sqrt(2 * log_features / static_cast<double>(inputs.items));
}

double squared(double value) { return value * value; }

// D(row first, row second) of every item.
template <class Item>
Vector divergences_of(const Divergence& divergence, const MatrixView& rows, const std::vector<Item>& items,
                      Index Item::*first, Index Item::*second) {
  std::vector<Index> points, references;
  for (const Item& item : items) {
    for (const Index row : {item.*first, item.*second}) {
      require(row >= 0 && row < rows.rows(), "item {} has the row number {}; allowed: 0 to {}", points.size(), row,
              rows.rows() - 1);
    }
    points.push_back(item.*first);
    references.push_back(item.*second);
  }
  return divergence.rowwise(rows(points, Eigen::all), rows(references, Eigen::all));
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
  require(!comparisons.empty(), "there are no comparisons; at least one is needed");
  const Vector near = divergences_of(divergence, rows, comparisons, &Comparison::i, &Comparison::j);
  const Vector far = divergences_of(divergence, rows, comparisons, &Comparison::k, &Comparison::l);
  const Vector hinge = (1 + near.array() - far.array()).cwiseMax(0.0);
  return {.hinge = hinge.mean(),
          .ramp = hinge.cwiseMin(1.0).mean(),
          .error = static_cast<double>((near.array() >= far.array()).count()) / static_cast<double>(near.size())};
}

double squared_loss(const Divergence& divergence, const MatrixView& rows, const Targets& targets) {
  require(!targets.empty(), "there are no targets; at least one is needed");
  Vector errors = divergences_of(divergence, rows, targets, &Target::i, &Target::j);
  for (Index t = 0; t < errors.size(); ++t) errors(t) -= targets[t].value;
  return errors.squaredNorm() / static_cast<double>(targets.size());
}

}  // namespace bregmax
