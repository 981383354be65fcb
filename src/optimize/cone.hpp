#pragma once

#include <algorithm>
#include <array>
#include <new>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// One family of constraints "s = G x + h >= 0" with multipliers y >= 0. A Newton step solves
//
//   G dx - ds + delta dy = -r,    y ds + s dy = c,
//
// where r = G x + h - s, and delta dy is a proximal term: it keeps the weights y / (s + delta y) bounded, also where
// the constraints leave no interior, and vanishes as the steps do.
struct Cone {
  using View = Eigen::Map<Vector>;
  View s{nullptr, 0}, y{nullptr, 0}, r{nullptr, 0}, c{nullptr, 0}, ds{nullptr, 0}, dy{nullptr, 0};
  View ds_accepted{nullptr, 0}, dy_accepted{nullptr, 0};  // of the direction that is kept while a better one is tried
  View kept_s{nullptr, 0};                                // slacks that are put aside
  double delta = 0;
  Index count = 0;  // members that are constraints; the others have y = 0 and never move

  void resize(Index size) { reserve(size, size); }

  // Room for `capacity` members, `size` of them there: s = 1 and everything else 0.
  void reserve(Index capacity, Index size) {
    storage_.setZero(kRows, capacity);
    storage_.row(0).setOnes();
    count = size;
    set_size(size);
  }

  // The first `size` members; allocates nothing.
  void set_size(Index size) {
    size_ = size;
    const std::array<View*, kRows> views = {&s, &y, &r, &c, &ds, &dy, &ds_accepted, &dy_accepted, &kept_s};
    for (std::size_t i = 0; i < views.size(); ++i) {
      new (views[i]) View(storage_.data() + row_[i] * storage_.cols(), size);
    }
  }

  double weight(Index i) const { return y(i) / (s(i) + delta * y(i)); }

  // dy = (c - y r) / (s + delta y), the part of dy that does not depend on dx.
  void start_direction() { dy.array() = (c.array() - y.array() * r.array()) / (s.array() + delta * y.array()); }
  // ds from the finished dy.
  void finish_direction() {
    for (Index i = 0; i < s.size(); ++i) ds(i) = y(i) > 0 ? (c(i) - s(i) * dy(i)) / y(i) : 0;
  }
  void accept_direction() {
    std::swap(row_[4], row_[6]);
    std::swap(row_[5], row_[7]);
    set_size(size_);
  }

 private:
  static constexpr Index kRows = 9;
  Matrix storage_;
  std::array<Index, kRows> row_ = {0, 1, 2, 3, 4, 5, 6, 7, 8};  // which row of the storage a view is of
  Index size_ = 0;
};

// The largest step from 0 to 1 that keeps value + step * change >= 0.
inline double largest_step(const Cone::View& value, const Cone::View& change) {
  double step = 1;
  for (Index i = 0; i < value.size(); ++i) {
    if (change(i) < 0 && value(i) + step * change(i) < 0) step = std::max(0.0, -value(i) / change(i));
  }
  return step;
}

}  // namespace bregmax::internal
