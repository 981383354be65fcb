#pragma once

// Divergences that need no parameters.

#include <string_view>
#include <vector>

#include "bregmax/divergence/smooth.hpp"

namespace bregmax {

enum class SeparableForm { kSquaredEuclidean, kIDivergence, kKullbackLeibler, kItakuraSaito, kExponential };

// phi(x) = sum over the features of one function of one number. Any number of features.
class SeparableDivergence : public SmoothDivergence {
 public:
  struct Terms;  // a row of the table in closed_forms.cpp

  std::string name() const final;
  Index dimension() const final { return 0; }

 protected:
  explicit SeparableDivergence(SeparableForm form);

  double generator(const VectorView& point) const final;
  void gradient(const VectorView& reference, VectorSpan out) const final;
  double divergence(const VectorView& point, const VectorView& reference) const final;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const final;
  bool centering_helps() const final;

 private:
  const Terms& terms_;
};

template <SeparableForm form>
class Separable final : public SeparableDivergence {
 public:
  Separable() : SeparableDivergence(form) {}
};

// "squared_euclidean": phi(x) = ||x||^2, D(point, reference) = ||point - reference||^2.
using SquaredEuclidean = Separable<SeparableForm::kSquaredEuclidean>;

// "i_divergence", the generalised I-divergence: phi(x) = sum x_i log x_i,
// D(point, reference) = sum p_i log(p_i / r_i) - p_i + r_i. A point has entries >= 0 (0 log 0 = 0), a reference > 0.
using IDivergence = Separable<SeparableForm::kIDivergence>;

// "kl", the Kullback-Leibler divergence of probability vectors: the I-divergence on rows that sum to 1 (to 1e-6; other
// rows are refused, never rescaled). A point may have zeros, a reference may not. On the simplex the terms - p_i + r_i
// of the sum cancel; with them D stays non-negative for rows whose sum is rounded.
using KullbackLeibler = Separable<SeparableForm::kKullbackLeibler>;

// "itakura_saito": phi(x) = -sum log x_i, D(point, reference) = sum p_i / r_i - log(p_i / r_i) - 1. All entries are > 0
// (at least 1e-100, so that no quotient overflows).
using ItakuraSaito = Separable<SeparableForm::kItakuraSaito>;

// "exponential": phi(x) = sum exp(x_i), D(point, reference) = sum e^p_i - e^r_i (1 + p_i - r_i). Entries are at most
// 300, where exp times any entry is still finite.
using Exponential = Separable<SeparableForm::kExponential>;

// "logdet": each row is a symmetric positive definite p x p matrix, flattened row by row (p * p features);
// phi(X) = -log det X, D(point X, reference Y) = tr(X Y^-1) - log det(X Y^-1) - p.
class LogDet final : public SmoothDivergence {
 public:
  std::string name() const override { return "logdet"; }
  Index dimension() const override { return 0; }  // any p * p

 protected:
  double generator(const VectorView& point) const override;
  void gradient(const VectorView& reference, VectorSpan out) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
};

// All of them, by name().
std::vector<std::string> closed_form_names();
// Throws Error listing the known names when `name` is not one of them.
std::shared_ptr<const Divergence> make_closed_form(std::string_view name);

}  // namespace bregmax
