#include "bregmax/divergence/closed_forms.hpp"

#include <algorithm>
#include <cmath>

#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "core/text.hpp"
#include "divergence/checks.hpp"
#include "divergence/excess.hpp"

namespace bregmax {

using internal::fail;
using internal::PositiveDefinite;
using internal::require;
using internal::role_name;

namespace {

double squared(double x) { return x * x; }
double twice(double x) { return 2 * x; }
double squared_difference(double point, double reference) { return squared(point - reference); }

double i_divergence_slope(double reference) { return std::log(reference) + 1; }

double itakura_saito_generator(double point) { return -std::log(point); }
double itakura_saito_slope(double reference) { return -1 / reference; }
double itakura_saito_term(double point, double reference) {
  const double difference = point - reference;
  if (std::abs(difference) <= 0.1 * reference) return internal::log_excess(difference / reference);
  const double ratio = point / reference;
  return ratio - std::log(ratio) - 1;
}

double exponential(double x) { return std::exp(x); }
double exponential_term(double point, double reference) {
  return internal::exp_excess(reference, point, point - reference);
}

struct Domain {
  bool (*allows)(double);  // null: every number
  const char* rule;
};
constexpr Domain kAnywhere{nullptr, ""};
constexpr Domain kNotNegative{[](double x) { return x >= 0; }, "entries >= 0"};
constexpr Domain kPositive{[](double x) { return x > 0; }, "entries > 0"};
constexpr Domain kNotTiny{[](double x) { return x >= 1e-100; }, "entries > 0 (at least 1e-100)"};
constexpr Domain kBelow300{[](double x) { return x <= 300; }, "entries <= 300"};

Index order_of(const VectorView& row) {
  return static_cast<Index>(std::lround(std::sqrt(static_cast<double>(row.size()))));
}

// The row as a matrix, made exactly symmetric.
Matrix unflatten(const VectorView& row) {
  const Index order = order_of(row);
  const Eigen::Map<const Matrix> given(row.data(), order, order);
  return 0.5 * (given + given.transpose());
}

}  // namespace

struct SeparableDivergence::Terms {
  const char* name;
  double (*generator)(double);
  double (*slope)(double);
  double (*divergence)(double point, double reference);  // >= 0, without cancellation
  Domain points, references;
  bool centering_helps, sums_to_one;
};

namespace {

using internal::i_divergence_term;
using internal::x_log_x;

// In the order of SeparableForm.
constexpr SeparableDivergence::Terms kTerms[] = {
    {"squared_euclidean", squared, twice, squared_difference, kAnywhere, kAnywhere, true, false},
    {"i_divergence", x_log_x, i_divergence_slope, i_divergence_term, kNotNegative, kPositive, false, false},
    {"kl", x_log_x, i_divergence_slope, i_divergence_term, kNotNegative, kPositive, false, true},
    {"itakura_saito", itakura_saito_generator, itakura_saito_slope, itakura_saito_term, kNotTiny, kNotTiny, false,
     false},
    {"exponential", exponential, exponential, exponential_term, kBelow300, kBelow300, true, false}};

std::vector<std::shared_ptr<const Divergence>> closed_forms() {
  return {std::make_shared<SquaredEuclidean>(), std::make_shared<KullbackLeibler>(), std::make_shared<IDivergence>(),
          std::make_shared<ItakuraSaito>(),     std::make_shared<LogDet>(),          std::make_shared<Exponential>()};
}

}  // namespace

SeparableDivergence::SeparableDivergence(SeparableForm form) : terms_(kTerms[static_cast<int>(form)]) {}

std::string SeparableDivergence::name() const { return terms_.name; }

bool SeparableDivergence::centering_helps() const { return terms_.centering_helps; }

double SeparableDivergence::generator(const VectorView& point) const {
  double sum = 0;
  for (Index i = 0; i < point.size(); ++i) sum += terms_.generator(point(i));
  return sum;
}

void SeparableDivergence::gradient(const VectorView& reference, VectorSpan out) const {
  for (Index i = 0; i < reference.size(); ++i) out(i) = terms_.slope(reference(i));
}

double SeparableDivergence::divergence(const VectorView& point, const VectorView& reference) const {
  double sum = 0;
  for (Index i = 0; i < point.size(); ++i) sum += terms_.divergence(point(i), reference(i));
  return sum;
}

void SeparableDivergence::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  const Domain& domain = role == RowRole::kPoint ? terms_.points : terms_.references;
  if (domain.allows == nullptr) return;
  for (Index i = 0; i < row.size(); ++i) {
    if (domain.allows(row(i))) continue;
    fail("{0} row {1}, feature {2} is {3}; {4} takes {0}s with {5}", role_name(role), row_number, i, row(i),
         terms_.name, domain.rule);
  }
  require(!terms_.sums_to_one || std::abs(row.sum() - 1) <= 1e-6,
          "{} row {} sums to {}; kl takes probability vectors, which sum to 1 (to 1e-6)", role_name(role), row_number,
          row.sum());
}

double LogDet::generator(const VectorView& point) const {
  return -PositiveDefinite(unflatten(point)).log_determinant();
}

void LogDet::gradient(const VectorView& reference, VectorSpan out) const {
  const Matrix inverse = PositiveDefinite(unflatten(reference)).inverse();
  Eigen::Map<Matrix>(out.data(), inverse.rows(), inverse.cols()) = -0.5 * (inverse + inverse.transpose());
}

// With Y = L L^T and u the eigenvalues of L^-1 (X - Y) L^-T, D = sum u - log(1 + u): no cancellation for close
// matrices. Near u = -1 (X almost singular relative to Y) the determinants are taken apart instead.
double LogDet::divergence(const VectorView& point, const VectorView& reference) const {
  const Matrix x = unflatten(point), y = unflatten(reference);
  const PositiveDefinite factored(y);
  const Vector u = internal::symmetric_eigenvalues(factored.whitened(x - y));
  if (u.minCoeff() > -0.9) {
    double sum = 0;
    for (const double each : u) sum += internal::log_excess(each);
    return sum;
  }
  return std::max(0.0, u.sum() - PositiveDefinite(x).log_determinant() + factored.log_determinant());
}

void LogDet::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  const Index order = order_of(row);
  require(order * order == row.size(),
          "the {}s have {} features; logdet takes flattened square matrices (1, 4, 9, ...)", role_name(role),
          row.size());
  const double largest = row.cwiseAbs().maxCoeff();
  for (Index i = 0; i < order; ++i) {
    for (Index j = 0; j < i; ++j) {
      const Index below = i * order + j, above = j * order + i;
      require(std::abs(row(below) - row(above)) <= 1e-9 * largest,
              "{} row {} is not a symmetric matrix: features {} and {} are {} and {}", role_name(role), row_number,
              below, above, row(below), row(above));
    }
  }
  const PositiveDefinite factored(unflatten(row));
  require(factored.succeeded() && std::isfinite(factored.log_determinant()),
          "{} row {} is not a positive definite matrix, which logdet needs", role_name(role), row_number);
}

std::vector<std::string> closed_form_names() {
  std::vector<std::string> names;
  for (const auto& form : closed_forms()) names.push_back(form->name());
  return names;
}

std::shared_ptr<const Divergence> make_closed_form(std::string_view name) {
  for (auto& form : closed_forms()) {
    if (form->name() == name) return form;
  }
  fail("unknown divergence '{}'; allowed: {}", name, internal::joined(closed_form_names(), ", "));
}

}  // namespace bregmax
