
#include <algorithm>
#include <cmath>
#include <map>

#include "bregmax/divergence/mahalanobis.hpp"
#include "core/checks.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "methods/training_rows.hpp"

// Geometric mean metric learning (Zadeh, Hosseini and Sra 2016). With the scatter S of the differences of similar pairs
// and D of dissimilar ones, the point at t of the geodesic from S^-1 to D in the manifold of positive definite
// matrices,
//
//   A = S^-1 #_t D = S^-1/2 (S^1/2 D S^1/2)^t S^-1/2,
//
// which minimises (1 - t) dist^2(A, S^-1) + t dist^2(A, D) for the Riemannian distance; for t = 1/2 it also minimises
// tr(A S) + tr(A^-1 D). Both scatters are regularised towards the prior A_0 = sqrt(tr D / tr S) I:
// S + lambda c A_0^-1 and D + lambda c A_0 with c = sqrt(tr S tr D) / d, so that lambda has no unit.
//
// A closed form: no iterations. The objective is the one above, the stationarity the norm of its Riemannian gradient.

namespace bregmax {
namespace {

using internal::product;
using internal::spectral;
using internal::symmetrized;
using internal::transposed_product;

struct Scatters {
  Matrix similar, dissimilar;
};

Scatters scatters_of(const MatrixView& rows, const Pairs& pairs) {
  const auto scatter = [&](bool similar) {
    const auto size = static_cast<Index>(
        std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.similar == similar; }));
    Matrix differences(size, rows.cols());
    Index at = 0;
    for (const Pair& pair : pairs) {
      if (pair.similar != similar) continue;
      differences.row(at++) = std::sqrt(pair.weight) * (rows.row(pair.i) - rows.row(pair.j));
    }
    return symmetrized(transposed_product(differences, differences));
  };
  return {scatter(true), scatter(false)};
}

// sum over all unordered pairs of some rows of (x_i - x_j)(x_i - x_j)^T = size * scatter around their mean.
Matrix scatter_of_all_pairs(const Matrix& rows) {
  const Matrix differences = internal::centered(rows);
  return static_cast<double>(rows.rows()) * symmetrized(transposed_product(differences, differences));
}

// The scatters of all pairs of rows, in time linear in the number of rows.
Scatters scatters_of(const MatrixView& rows, const ClassOfRow& class_of_row) {
  std::map<int, std::vector<Index>> members;
  for (std::size_t i = 0; i < class_of_row.size(); ++i) members[class_of_row[i]].push_back(static_cast<Index>(i));
  Scatters scatters{Matrix::Zero(rows.cols(), rows.cols()), scatter_of_all_pairs(rows)};
  for (const auto& [row_class, numbers] : members) scatters.similar += scatter_of_all_pairs(rows(numbers, Eigen::all));
  scatters.dissimilar -= scatters.similar;
  return scatters;
}

void regularise(Scatters& scatters, double lambda) {
  const double features = static_cast<double>(scatters.similar.rows());
  for (auto [scatter, name] : {std::pair{&scatters.similar, "similar"}, {&scatters.dissimilar, "dissimilar"}}) {
    const double trace = scatter->trace();
    if (!(trace > 0)) internal::fail("no {} pair of different rows; at least one is needed", name);
    scatter->diagonal().array() += lambda * trace / features;
    const Vector eigenvalues = internal::symmetric_eigenvalues(*scatter);
    if (!(eigenvalues.minCoeff() > 1e-15 * trace)) {
      internal::fail("the differences of {} pairs do not span all features, and lambda is {}; allowed: > 0", name,
                     lambda);
    }
  }
}

constexpr auto kLogarithm = [](double value) { return std::log(value); };
constexpr auto kRoot = [](double value) { return std::sqrt(value); };
constexpr auto kInverseRoot = [](double value) { return 1 / std::sqrt(value); };

Learned learn_gmml(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                   const RunControl& control) {
  const internal::IterationWatch watch(choices.limits, control);
  const auto* class_of_row = std::get_if<ClassOfRow>(&supervision);
  Scatters scatters =
      class_of_row != nullptr ? scatters_of(rows, *class_of_row) : scatters_of(rows, std::get<Pairs>(supervision));
  regularise(scatters, choices.number("lambda"));
  const Matrix root = spectral(scatters.similar, kRoot), inverse_root = spectral(scatters.similar, kInverseRoot);
  const Matrix between = symmetrized(product(product(root, scatters.dissimilar), root));
  const double t = choices.number("t");
  const Matrix power = spectral(between, [t](double value) { return std::pow(value, t); });
  const Matrix metric = symmetrized(product(product(inverse_root, power), inverse_root));

  // The gradient and the distances, seen from A: logarithms of A^-1/2 (.) A^-1/2.
  const auto logarithm = [](const Matrix& scatter, const Matrix& by) {
    return Matrix(spectral(symmetrized(product(product(by, scatter), by)), kLogarithm));
  };
  const Matrix to_similar = -logarithm(scatters.similar, spectral(metric, kRoot));
  const Matrix to_dissimilar = logarithm(scatters.dissimilar, spectral(metric, kInverseRoot));

  const double objective = (1 - t) * to_similar.squaredNorm() + t * to_dissimilar.squaredNorm();
  const double gradient = ((1 - t) * to_similar + t * to_dissimilar).norm();
  Learned learned{std::make_shared<Mahalanobis>(metric),
                  watch.report(0, objective, gradient / (1 + to_dissimilar.norm()))};
  if (metric.allFinite()) learned.report.status = Status::kConverged;
  return learned;
}

}  // namespace

Method internal::gmml_method() {
  std::vector<double> twentieths;
  for (int i = 0; i <= 20; ++i) twentieths.push_back(i / 20.0);
  return {.name = "gmml",
          .summary = "geometric mean metric learning: a point between similar and dissimilar scatter, in closed form",
          .from_labels = true,
          .from_pairs = true,
          .parameters = {tuned(real_parameter("t", "where on the way from the similar to the dissimilar pairs", 0.5,
                                              {0, 1}, twentieths)),
                         real_parameter("lambda", "weight of the prior, a multiple of the identity", 1e-6, {},
                                        {0, 1e-3, 1e-2, 1e-1, 1})},
          .limits = {.tolerance = 1e-6},
          .learn = learn_gmml,
          .predicted_seconds = [](const FitSize& size, const MethodChoices&) {
            return 1e-7 * (size.rows + size.items) * size.features +
                   1e-8 * size.features * size.features * size.features;
          }};
}

}  // namespace bregmax
