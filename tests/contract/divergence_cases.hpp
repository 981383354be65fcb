#pragma once

// Every Bregman divergence of the library, with random rows of its domain. Tree and kernel embeddings are not Bregman.

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bregmax/core/random.hpp"
#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/exponential_sum.hpp"
#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax::testing {

struct DivergenceCase {
  std::string label;
  std::shared_ptr<const Divergence> divergence;
  std::function<Matrix(Random&, Index rows)> sample;  // rows that may be points and references
  bool smooth = true;
  bool symmetric = false;
  Matrix bad_point, bad_reference;  // finite rows outside the domain; empty: there are none
};

inline void PrintTo(const DivergenceCase& each, std::ostream* out) { *out << each.label; }

inline Matrix normal_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

inline Matrix uniform_rows(Random& random, Index rows, Index features, double low, double high) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = low + (high - low) * random.uniform();
  return out;
}

inline Matrix simplex_rows(Random& random, Index rows, Index features) {
  Matrix out = -uniform_rows(random, rows, features, 1e-9, 1).array().log().matrix();
  for (Index i = 0; i < rows; ++i) out.row(i) /= out.row(i).sum();
  return out;
}

inline Matrix positive_definite_rows(Random& random, Index rows, Index order) {
  Matrix out(rows, order * order);
  for (Index i = 0; i < rows; ++i) {
    const Matrix factor = normal_rows(random, order + 2, order);
    Eigen::Map<Matrix>(out.data() + i * out.cols(), order, order) =
        factor.transpose() * factor / static_cast<double>(order) + 0.1 * Matrix::Identity(order, order);
  }
  return out;
}

inline Matrix row_of(std::initializer_list<double> values) {
  Matrix out(1, static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

inline std::function<Matrix(Random&, Index)> normal_sample(Index features) {
  return [features](Random& random, Index rows) { return normal_rows(random, rows, features); };
}

inline std::shared_ptr<const Divergence> random_pieces(std::uint64_t seed, Index pieces, Index features,
                                                       double temperature) {
  Random random(seed);
  Matrix slopes = normal_rows(random, pieces, features);
  Vector offsets = normal_rows(random, pieces, 1);
  return make_max_affine(std::move(slopes), std::move(offsets), temperature);
}

inline std::shared_ptr<const Divergence> random_log_sum_exp_quadratic(std::uint64_t seed, Index pieces, Index features,
                                                                      double temperature, Index rank) {
  Random random(seed);
  Matrix slopes = normal_rows(random, pieces, features);
  Vector offsets = normal_rows(random, pieces, 1);
  return std::make_shared<LogSumExpQuadratic>(std::move(slopes), std::move(offsets), temperature,
                                              0.5 * normal_rows(random, rank, features));
}

inline std::shared_ptr<const Divergence> random_exponential_sum() {
  Random random(8);
  Matrix anchors = 0.5 * normal_rows(random, 6, 3);
  anchors(0, 0) = 1;  // so that a large first feature is outside the domain
  Vector weights = uniform_rows(random, 6, 1, 0, 1);
  weights(2) = 0;
  return std::make_shared<ExponentialSum>(std::move(anchors), std::move(weights));
}

inline std::vector<DivergenceCase> closed_form_cases() {
  const Matrix metric = Matrix::Identity(3, 3) + 0.5 * Matrix::Ones(3, 3);
  const Matrix rank_one = row_of({1, -2, 3}).transpose() * row_of({1, -2, 3});
  return {
      {"squared_euclidean", make_closed_form("squared_euclidean"), normal_sample(4), true, true, {}, {}},
      {"mahalanobis", std::make_shared<Mahalanobis>(metric), normal_sample(3), true, true, {}, {}},
      {"mahalanobis_singular", std::make_shared<Mahalanobis>(rank_one), normal_sample(3), true, true, {}, {}},
      {"kl", make_closed_form("kl"), [](Random& random, Index rows) { return simplex_rows(random, rows, 4); }, true,
       false, row_of({0.5, 0.6}), row_of({0, 1})},
      {"i_divergence", make_closed_form("i_divergence"),
       [](Random& random, Index rows) { return uniform_rows(random, rows, 3, 0.01, 5); }, true, false,
       row_of({1, -0.5}), row_of({0, 2})},
      {"itakura_saito", make_closed_form("itakura_saito"),
       [](Random& random, Index rows) { return uniform_rows(random, rows, 3, 0.1, 1.1); }, true, false, row_of({1, 0}),
       row_of({0, 1})},
      {"exponential", make_closed_form("exponential"), normal_sample(3), true, false, row_of({301}), row_of({301})},
      {"exponential_sum", random_exponential_sum(), normal_sample(3), true, false, row_of({1e4, 0, 0}),
       row_of({1e4, 0, 0})},
      {"logdet_2", make_closed_form("logdet"),
       [](Random& random, Index rows) { return positive_definite_rows(random, rows, 2); }, true, false,
       row_of({1, 2, 2, 1}), row_of({1, 0.5, 0.1, 1})},
      {"logdet_3", make_closed_form("logdet"),
       [](Random& random, Index rows) { return positive_definite_rows(random, rows, 3); }, true, false,
       row_of({1, 2, 3}), row_of({0})},
  };
}

inline std::vector<DivergenceCase> piecewise_cases() {
  const AverageDivergence::Members hard = {random_pieces(4, 5, 3, 0), random_pieces(5, 9, 3, 0)};
  const AverageDivergence::Members mixed = {random_pieces(6, 5, 3, 0.4), make_closed_form("squared_euclidean"),
                                            make_closed_form("exponential")};
  Vector weights(3);
  weights << 0.5, 0, 2;
  return {
      {"max_affine", random_pieces(1, 7, 3, 0), normal_sample(3), false, false, {}, {}},
      {"max_affine_many", random_pieces(2, 150, 5, 0), normal_sample(5), false, false, {}, {}},
      {"smoothed", random_pieces(1, 7, 3, 0.5), normal_sample(3), true, false, {}, {}},
      {"smoothed_warm", random_pieces(2, 20, 5, 3), normal_sample(5), true, false, {}, {}},
      {"smoothed_cold", random_pieces(3, 20, 2, 0.02), normal_sample(2), true, false, {}, {}},
      {"quadratic", random_log_sum_exp_quadratic(9, 20, 4, 1, 4), normal_sample(4), true, false, {}, {}},
      {"quadratic_rank_one", random_log_sum_exp_quadratic(10, 7, 3, 1, 1), normal_sample(3), true, false, {}, {}},
      {"quadratic_no_rank", random_log_sum_exp_quadratic(11, 7, 3, 1, 0), normal_sample(3), true, false, {}, {}},
      {"quadratic_cold", random_log_sum_exp_quadratic(12, 20, 2, 0.02, 2), normal_sample(2), true, false, {}, {}},
      {"average_of_max_affine", std::make_shared<AverageDivergence>(hard), normal_sample(3), false, false, {}, {}},
      {"average_of_smooth", std::make_shared<AverageDivergence>(mixed, weights), normal_sample(3), true, false,
       row_of({0, 800, 0}), row_of({0, 800, 0})},
  };
}

inline std::vector<DivergenceCase> all_divergence_cases() {
  std::vector<DivergenceCase> cases = closed_form_cases();
  for (DivergenceCase& each : piecewise_cases()) cases.push_back(std::move(each));
  return cases;
}

}  // namespace bregmax::testing
