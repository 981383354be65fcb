#pragma once

// Every generator whose beta is known, with random boxes of its domain.

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "bregmax/theory/box.hpp"
#include "contract/divergence_cases.hpp"

namespace bregmax::testing {

struct GeneratorCase {
  std::string label;
  std::vector<Index> dimensions;
  bool exact;  // beta is the smallest that holds
  std::function<std::shared_ptr<const Divergence>(Index dimension, Random&)> divergence;
  std::function<Box(Index dimension, Random&)> random_box;
};

inline void PrintTo(const GeneratorCase& each, std::ostream* out) { *out << each.label; }

// 10^low .. 10^high, evenly in the exponent.
inline double log_uniform(Random& random, double low, double high) {
  return std::pow(10, low + (high - low) * random.uniform());
}

inline Box free_box(Index dimension, Random& random) {
  return {normal_rows(random, dimension, 1), log_uniform(random, -2, 0.5)};
}

// Anywhere among positive numbers, from far inside to nearly touching zero.
inline Box positive_box(Index dimension, Random& random) {
  const double radius = log_uniform(random, -1.5, 0.5);
  const double gap = radius * log_uniform(random, -1, 1);
  const Vector center = (uniform_rows(random, dimension, 1, 0, 2).array() + radius + gap).matrix();
  return {center, radius};
}

inline Box simplex_box(Index dimension, Random& random) {
  const Matrix probabilities = simplex_rows(random, 1, dimension + 1);
  const Vector center = probabilities.leftCols(dimension).transpose();
  const double room = std::min(center.minCoeff(), probabilities(0, dimension) / static_cast<double>(dimension));
  return {center, room * (0.2 + 0.7 * random.uniform())};
}

inline Box definite_box(Index dimension, Random& random) {
  const Index order = dimension == 1 ? 1 : dimension == 3 ? 2 : 3;
  const Matrix flat = positive_definite_rows(random, 1, order);
  const Eigen::MatrixXd matrix = Eigen::Map<const Matrix>(flat.data(), order, order);
  Vector center(dimension);
  for (Index i = 0, at = 0; i < order; ++i) {
    for (Index j = i; j < order; ++j) center(at++) = matrix(i, j);
  }
  // All eigenvalues are at least 0.1, see positive_definite_rows.
  return {center, 0.1 / static_cast<double>(order) * (0.2 + 0.7 * random.uniform())};
}

inline std::function<std::shared_ptr<const Divergence>(Index, Random&)> named(const std::string& name) {
  return [name](Index, Random&) { return make_closed_form(name); };
}

inline std::vector<GeneratorCase> generator_cases() {
  const auto mahalanobis = [](Index dimension, Random& random) -> std::shared_ptr<const Divergence> {
    const Matrix factor = normal_rows(random, dimension + 1, dimension);
    return std::make_shared<Mahalanobis>(factor.transpose() * factor);
  };
  const auto smoothed = [](Index dimension, Random& random) {
    return make_max_affine(normal_rows(random, 6, dimension), normal_rows(random, 6, 1), log_uniform(random, -1, 1));
  };
  const auto average = [](Index dimension, Random& random) -> std::shared_ptr<const Divergence> {
    const AverageDivergence::Members members = {
        make_closed_form("exponential"), make_closed_form("squared_euclidean"),
        make_max_affine(normal_rows(random, 4, dimension), normal_rows(random, 4, 1), 0.5)};
    return std::make_shared<AverageDivergence>(members, uniform_rows(random, 3, 1, 0.1, 2));
  };
  return {
      {"squared_euclidean", {1, 2, 3}, true, named("squared_euclidean"), free_box},
      {"mahalanobis", {1, 2, 3}, true, mahalanobis, free_box},
      {"exponential", {1, 2, 3}, true, named("exponential"), free_box},
      {"kl", {1, 2, 3}, true, named("kl"), simplex_box},
      {"i_divergence", {1, 2, 3}, true, named("i_divergence"), positive_box},
      {"itakura_saito", {1, 2, 3}, true, named("itakura_saito"), positive_box},
      {"logdet", {1, 3, 6}, false, named("logdet"), definite_box},
      {"smoothed_max_affine", {1, 2, 3}, false, smoothed, free_box},
      {"average", {1, 2, 3}, false, average, free_box},
  };
}

}  // namespace bregmax::testing
