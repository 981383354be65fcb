#pragma once

#include <array>
#include <new>
#include <utility>

#include "bregmax/core/matrix.hpp"
#include "optimize/interior_point/cone_passes.hpp"

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
  View kept_s{nullptr, 0}, kept_y{nullptr, 0};            // copies that PrimalDualMethod::refine_dual() makes
  View inverse{nullptr, 0};  // 1 / (s + delta y), from set_inverse(): reading it is faster than dividing
  double delta = 0;
  Index count = 0;  // members that are constraints; the others have y = 0 and never move

  void resize(Index size) { reserve(size, size); }

  // Allocates `capacity` members, of which `size` are in use: s = 1 and everything else 0.
  void reserve(Index capacity, Index size) {
    storage_.setZero(kRows, capacity);
    storage_.row(0).setOnes();
    count = size;
    set_size(size);
  }

  // The first `size` members; allocates nothing.
  void set_size(Index size) {
    size_ = size;
    const std::array<View*, kRows> views = {&s,           &y,           &r,      &c,      &ds,     &dy,
                                            &ds_accepted, &dy_accepted, &kept_s, &kept_y, &inverse};
    for (std::size_t i = 0; i < views.size(); ++i) {
      new (views[i]) View(storage_.data() + row_[i] * storage_.cols(), size);
    }
  }

  double weight(Index i) const { return y(i) * inverse(i); }

  void accept_direction() {
    std::swap(row_[4], row_[6]);
    std::swap(row_[5], row_[7]);
    set_size(size_);
  }

  ConeRows rows() {
    return {size_,    delta,     s.data(),  y.data(),           r.data(),          inverse.data(),
            c.data(), ds.data(), dy.data(), ds_accepted.data(), dy_accepted.data()};
  }

 private:
  static constexpr Index kRows = 11;
  Matrix storage_;
  std::array<Index, kRows> row_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // the row of the storage behind each view
  Index size_ = 0;
};

}  // namespace bregmax::internal
