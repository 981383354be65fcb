#include "bregmax/methods/gmml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"

namespace bregmax {
namespace {

using internal::spectral;
using internal::symmetrized;

struct Scatters {
  Matrix similar, dissimilar;
};

void check_options(const GmmlOptions& options) {
  if (!(options.t >= 0 && options.t <= 1)) {
    throw Error(fmt::format("t is {}; allowed: a number from 0 to 1", options.t));
  }
  internal::check_not_negative(options.lambda, "lambda");
}

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
    return symmetrized(differences.transpose() * differences);
  };
  return {scatter(true), scatter(false)};
}

// sum over all unordered pairs of some rows of (x_i - x_j)(x_i - x_j)^T = size * scatter around their mean.
Matrix scatter_of_all_pairs(const Matrix& rows) {
  const Matrix centered = rows.rowwise() - rows.colwise().mean();
  return static_cast<double>(rows.rows()) * symmetrized(centered.transpose() * centered);
}

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
    if (!(trace > 0)) throw Error(fmt::format("no {} pair of different rows; at least one is needed", name));
    scatter->diagonal().array() += lambda * trace / features;
    const Vector eigenvalues = internal::symmetric_eigenvalues(*scatter);
    if (!(eigenvalues.minCoeff() > 1e-15 * trace)) {
      throw Error(fmt::format("the differences of {} pairs do not span all features, and lambda is {}; allowed: > 0",
                              name, lambda));
    }
  }
}

constexpr auto kLogarithm = [](double value) { return std::log(value); };

Learned geodesic_mean(Scatters scatters, const GmmlOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  regularise(scatters, options.lambda);
  const Matrix root = spectral(scatters.similar, [](double value) { return std::sqrt(value); });
  const Matrix inverse_root = spectral(scatters.similar, [](double value) { return 1 / std::sqrt(value); });
  const Matrix between = symmetrized(root * scatters.dissimilar * root);
  const double t = options.t;
  const Matrix power = spectral(between, [t](double value) { return std::pow(value, t); });
  const Matrix metric = symmetrized(inverse_root * power * inverse_root);

  // The gradient and the distances, seen from A: logarithms of A^-1/2 (.) A^-1/2.
  const Matrix metric_inverse_root = spectral(metric, [](double value) { return 1 / std::sqrt(value); });
  const Matrix metric_root = spectral(metric, [](double value) { return std::sqrt(value); });
  const Matrix to_similar = -spectral(symmetrized(metric_root * scatters.similar * metric_root), kLogarithm);
  const Matrix to_dissimilar =
      spectral(symmetrized(metric_inverse_root * scatters.dissimilar * metric_inverse_root), kLogarithm);

  Learned learned;
  learned.report.objective = (1 - t) * to_similar.squaredNorm() + t * to_dissimilar.squaredNorm();
  learned.report.stationarity = ((1 - t) * to_similar + t * to_dissimilar).norm() / (1 + to_dissimilar.norm());
  learned.report.status = metric.allFinite() ? Status::kConverged : Status::kNumericalError;
  learned.divergence = std::make_shared<Mahalanobis>(metric);
  learned.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return learned;
}

}  // namespace

Learned learn_gmml(const MatrixView& rows, const Pairs& pairs, const GmmlOptions& options) {
  internal::check_bounded_rows(rows);
  internal::check_pairs(pairs, rows.rows());
  check_options(options);
  return geodesic_mean(scatters_of(rows, pairs), options);
}

Learned learn_gmml(const MatrixView& rows, const ClassOfRow& class_of_row, const GmmlOptions& options) {
  internal::check_bounded_rows(rows);
  internal::check_two_classes(class_of_row, rows.rows());
  check_options(options);
  return geodesic_mean(scatters_of(rows, class_of_row), options);
}

Method internal::gmml_method() {
  Method method;
  method.name = "gmml";
  method.summary = "geometric mean metric learning: a point between similar and dissimilar scatter, in closed form";
  method.from_labels = method.from_pairs = true;
  const GmmlOptions standard;
  std::vector<double> twentieths;
  for (int i = 0; i <= 20; ++i) twentieths.push_back(i / 20.0);
  method.parameters = {
      internal::tuned({.name = "t",
                       .help = "where on the way from the similar to the dissimilar pairs",
                       .standard = standard.t,
                       .high = 1,
                       .grid = twentieths}),
      {.name = "lambda",
       .help = "weight of the prior, a multiple of the identity",
       .standard = standard.lambda,
       .grid = {0, 1e-3, 1e-2, 1e-1, 1}},
  };
  method.limits.tolerance = 1e-6;
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl&) {
    const GmmlOptions options{choices.number("t"), choices.number("lambda")};
    if (const auto* pairs = std::get_if<Pairs>(&supervision)) return learn_gmml(rows, *pairs, options);
    return learn_gmml(rows, std::get<ClassOfRow>(supervision), options);
  };
  return method;
}

}  // namespace bregmax
