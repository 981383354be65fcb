#pragma once

// Functions minus their tangent at 0. Plain subtraction loses every digit near 0, where the divergences of close rows
// are; these forms do not. They are exactly 0 at 0 and never negative.

#include <cmath>

namespace bregmax::internal {

// exp(t) - 1 - t = t^2/2! + t^3/3! + ...
inline double exp_excess(double t) {
  if (std::abs(t) > 0.3) return std::expm1(t) - t;
  double sum = 1;
  for (int n = 14; n >= 3; --n) sum = 1 + t / n * sum;
  return t * t / 2 * sum;
}

// exp(to) - exp(from) (1 + t) with t = to - from. exp(t) may overflow where exp(to) does not.
inline double exp_excess(double from, double to, double t) {
  return t <= 1 ? std::exp(from) * exp_excess(t) : std::exp(to) - std::exp(from) * (1 + t);
}

// u - log(1 + u) = u^2/2 - u^3/3 + ..., u > -1
inline double log_excess(double u) {
  if (std::abs(u) > 0.1) return u - std::log1p(u);
  double sum = 0;
  for (int n = 18; n >= 2; --n) sum = 1.0 / n - u * sum;
  return u * u * sum;
}

// (1 + u) log(1 + u) - u = u^2/(1 2) - u^3/(2 3) + ..., |u| <= 0.1
inline double entropy_excess(double u) {
  double sum = 0;
  for (int n = 18; n >= 2; --n) sum = 1.0 / (n * (n - 1)) - u * sum;
  return u * u * sum;
}

// x log x, continued to 0.
inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

// point log(point / reference) - point + reference, for point >= 0 and reference > 0.
inline double i_divergence_term(double point, double reference) {
  if (point == 0) return reference;
  const double difference = point - reference;
  if (std::abs(difference) <= 0.1 * reference) return reference * entropy_excess(difference / reference);
  const double ratio = point / reference;
  // The quotient may overflow or underflow where its logarithm is harmless.
  const double log_ratio = std::isnormal(ratio) ? std::log(ratio) : std::log(point) - std::log(reference);
  return point * log_ratio - difference;
}

}  // namespace bregmax::internal
