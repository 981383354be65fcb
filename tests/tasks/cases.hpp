#pragma once

// Divergences and rows in their domains, for tests that hold for every divergence.

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bregmax/core/random.hpp"
#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax::test {

inline Matrix normal_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

// Few different values: many duplicates and many equal divergences. Integers, so that value() is exact.
inline Matrix grid_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<double>(random.uniform_index(4));
  return out;
}

inline Matrix positive_rows(Random& random, Index rows, Index features) {
  return normal_rows(random, rows, features).array().exp();
}

inline Matrix simplex_rows(Random& random, Index rows, Index features) {
  Matrix out = positive_rows(random, rows, features);
  for (Index i = 0; i < rows; ++i) out.row(i) /= out.row(i).sum();
  return out;
}

inline Matrix positive_definite_rows(Random& random, Index rows, Index) {
  Matrix out(rows, 4);
  for (Index i = 0; i < rows; ++i) {
    const Matrix factor = normal_rows(random, 2, 2);
    const Matrix product = factor * factor.transpose() + 0.1 * Matrix::Identity(2, 2);
    out.row(i) << product(0, 0), product(0, 1), product(0, 1), product(1, 1);
  }
  return out;
}

inline std::shared_ptr<const Divergence> integer_max_affine(Random& random, Index pieces, Index features,
                                                            double temperature = 0) {
  Matrix slopes(pieces, features);
  Vector offsets(pieces);
  for (Index i = 0; i < slopes.size(); ++i) slopes.data()[i] = static_cast<double>(random.uniform_index(9) - 4);
  for (Index i = 0; i < pieces; ++i) offsets(i) = static_cast<double>(random.uniform_index(9) - 4);
  return make_max_affine(std::move(slopes), std::move(offsets), temperature);
}

// What a solver leaves of a max-affine divergence: every piece is there three times, up to a residue, which the
// resolution covers.
struct WithResidue {
  std::shared_ptr<const Divergence> clean, learned;
};
inline WithResidue with_residue(Random& random, Index pieces, Index features) {
  constexpr Index kTimes = 3;
  constexpr double kResidue = 1e-11, kResolution = 1e-8;
  const Matrix slopes = Matrix::NullaryExpr(pieces, features, [&] { return random.normal(); });
  const Vector offsets = Vector::NullaryExpr(pieces, [&] { return random.normal(); });
  Matrix learned_slopes(kTimes * pieces, features);
  Vector learned_offsets(kTimes * pieces);
  for (Index k = 0; k < learned_offsets.size(); ++k) {
    learned_offsets(k) = offsets(k % pieces) + kResidue * random.normal();
    for (Index f = 0; f < features; ++f) learned_slopes(k, f) = slopes(k % pieces, f) + kResidue * random.normal();
  }
  return {make_max_affine(slopes, offsets, 0), make_max_affine(learned_slopes, learned_offsets, 0, kResolution)};
}

struct Case {
  std::string name;
  std::shared_ptr<const Divergence> divergence;
  std::function<Matrix(Random&, Index rows, Index features)> rows;
};

inline void PrintTo(const Case& parameters, std::ostream* out) { *out << parameters.name; }

// Every divergence takes 4 features here. On the grid, smoothing is strong enough that no divergence vanishes into
// rounding.
inline std::vector<Case> all_cases() {
  Random random(7);
  const auto max_affine = integer_max_affine(random, 9, 4);
  const auto other_max_affine = integer_max_affine(random, 6, 4);
  Matrix metric = 0.5 * Matrix::Ones(4, 4) + Matrix::Identity(4, 4);
  const auto average = std::make_shared<AverageDivergence>(AverageDivergence::Members{max_affine, other_max_affine});
  return {
      {"max_affine_grid", max_affine, grid_rows},
      {"max_affine", max_affine, normal_rows},
      {"smoothed_max_affine_grid", integer_max_affine(random, 9, 4, 4.0), grid_rows},
      {"smoothed_max_affine", integer_max_affine(random, 9, 4, 0.5), normal_rows},
      {"average_of_max_affine", average, grid_rows},
      {"squared_euclidean_grid", make_closed_form("squared_euclidean"), grid_rows},
      {"squared_euclidean", make_closed_form("squared_euclidean"), normal_rows},
      {"mahalanobis_grid", std::make_shared<Mahalanobis>(metric), grid_rows},
      {"kl", make_closed_form("kl"), simplex_rows},
      {"i_divergence", make_closed_form("i_divergence"), positive_rows},
      {"itakura_saito", make_closed_form("itakura_saito"), positive_rows},
      {"exponential", make_closed_form("exponential"), normal_rows},
      {"logdet", make_closed_form("logdet"), positive_definite_rows},
  };
}

inline std::vector<int> random_classes(Random& random, Index rows, Index classes) {
  std::vector<int> out(static_cast<std::size_t>(rows));
  for (int& label : out) label = static_cast<int>(random.uniform_index(classes));
  return out;
}

inline Matrix permuted(const Matrix& rows, const std::vector<Index>& order) {
  Matrix out(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < order.size(); ++i) out.row(static_cast<Index>(i)) = rows.row(order[i]);
  return out;
}

inline std::vector<int> permuted(const std::vector<int>& labels, const std::vector<Index>& order) {
  std::vector<int> out;
  for (const Index row : order) out.push_back(labels[static_cast<std::size_t>(row)]);
  return out;
}

// Other numbers for the same classes, with gaps.
inline std::vector<int> renamed(std::vector<int> labels) {
  for (int& label : labels) label = (label * 7 + 3) % 11 + 100 * (label % 2);
  return labels;
}

}  // namespace bregmax::test
