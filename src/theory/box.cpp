#include "bregmax/theory/box.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "theory/checks.hpp"
#include "theory/coordinate_generator.hpp"

namespace bregmax {
namespace {

Box around_the_uniform_distribution(Index dimension) {
  // The corner at which the last probability is smallest leaves it 1/(d+1) - d R.
  const double features = static_cast<double>(dimension + 1);
  return {Vector::Constant(dimension, 1 / features), 0.75 / (static_cast<double>(dimension) * features)};
}

Box around_the_identity(Index dimension) {
  const Index order = internal::symmetric_order(dimension);
  Vector center = Vector::Zero(dimension);
  for (Index i = 0, at = 0; i < order; at += order - i, ++i) center(at) = 1;
  return {center, 0.5 / static_cast<double>(order)};
}

}  // namespace

namespace internal {

void check_box(const Box& box) {
  if (box.dimension() < 1) throw Error("the center of the box is empty; allowed: one coordinate or more");
  if (!box.center.allFinite()) throw Error("the center of the box is not finite");
  if (!(box.radius > 0) || !std::isfinite(box.radius)) {
    throw Error(fmt::format("the radius of the box is {}; allowed: a finite number > 0", box.radius));
  }
}

}  // namespace internal

Box default_box(const Divergence& divergence, Index dimension) {
  const internal::CoordinateGenerator checked(divergence, dimension);
  switch (internal::chart_of(divergence)) {
    case internal::Chart::kSimplex:
      return around_the_uniform_distribution(dimension);
    case internal::Chart::kSymmetric:
      return around_the_identity(dimension);
    case internal::Chart::kIdentity:
      break;
  }
  Box box{Vector::Zero(dimension), 1};
  try {
    smoothness(divergence, box);
  } catch (const Error&) {
    // A generator (or a member of an average) that is defined for positive entries only.
    box = {Vector::Constant(dimension, 0.6), 0.5};
  }
  return box;
}

}  // namespace bregmax
