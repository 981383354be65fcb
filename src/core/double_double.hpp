#pragma once

#include <Eigen/Core>
#include <cmath>
#include <compare>

namespace bregmax::internal {

// A double-double number is the sum of two doubles. It has 32 digits and the range of a double. One operation costs
// about twenty operations on doubles. Files that use it need -ffp-contract=off: no two roundings may be fused into one.
// (T. J. Dekker, "A floating-point technique for extending the available precision", 1971.)
class DoubleDouble {
 public:
  DoubleDouble() = default;
  DoubleDouble(double high) : high_(high) {}                           // NOLINT(google-explicit-constructor)
  DoubleDouble(int high) : DoubleDouble(static_cast<double>(high)) {}  // NOLINT(google-explicit-constructor)

  explicit operator double() const { return high_ + low_; }
  bool is_finite() const { return std::isfinite(high_); }

  DoubleDouble operator-() const { return {-high_, -low_}; }
  friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble high = two_sum(a.high_, b.high_), low = two_sum(a.low_, b.low_);
    const DoubleDouble sum = normal(high.high_, high.low_ + low.high_);
    return normal(sum.high_, sum.low_ + low.low_);
  }
  friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + (-b); }
  friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const double product = a.high_ * b.high_;
    return normal(product, __builtin_fma(a.high_, b.high_, -product) + (a.high_ * b.low_ + a.low_ * b.high_));
  }
  friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high_ / b.high_;
    const DoubleDouble rest = a - b * first;
    const double second = rest.high_ / b.high_;
    const double third = (rest - b * second).high_ / b.high_;
    return normal(first, second) + third;
  }
  DoubleDouble& operator+=(const DoubleDouble& other) { return *this = *this + other; }
  DoubleDouble& operator-=(const DoubleDouble& other) { return *this = *this - other; }
  DoubleDouble& operator*=(const DoubleDouble& other) { return *this = *this * other; }
  DoubleDouble& operator/=(const DoubleDouble& other) { return *this = *this / other; }

  friend auto operator<=>(const DoubleDouble&, const DoubleDouble&) = default;

  friend DoubleDouble abs(const DoubleDouble& x) { return x.high_ < 0 ? -x : x; }
  friend DoubleDouble sqrt(const DoubleDouble& x) {
    if (!(x.high_ > 0)) return std::sqrt(x.high_);
    const DoubleDouble root = std::sqrt(x.high_);
    return root + (x - root * root) / (DoubleDouble(2) * root);
  }

 private:
  DoubleDouble(double high, double low) : high_(high), low_(low) {}

  static DoubleDouble two_sum(double a, double b) {
    const double sum = a + b, b_part = sum - a;
    return {sum, (a - (sum - b_part)) + (b - b_part)};
  }
  // For |high| >= |low|.
  static DoubleDouble normal(double high, double low) {
    const double sum = high + low;
    return {sum, low - (sum - high)};
  }

  double high_ = 0, low_ = 0;
};

}  // namespace bregmax::internal

namespace Eigen {

template <>
struct NumTraits<bregmax::internal::DoubleDouble> : GenericNumTraits<bregmax::internal::DoubleDouble> {
  using Real = bregmax::internal::DoubleDouble;
  using Literal = double;
  // NOLINTNEXTLINE(readability-identifier-naming): the names are Eigen's
  enum { IsSigned = 1, RequireInitialization = 1, ReadCost = 2, AddCost = 20, MulCost = 20 };
  static Real epsilon() { return 0x1p-104; }
  static Real dummy_precision() { return 1e-28; }
  static Real highest() { return NumTraits<double>::highest(); }
  static Real lowest() { return NumTraits<double>::lowest(); }
  static int digits10() { return 31; }
};

}  // namespace Eigen
