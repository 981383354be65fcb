#pragma once

#include <algorithm>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// One family of constraints "s = G x + h >= 0" with multipliers y >= 0. A Newton step solves
//
//   G dx - ds + delta dy = -r,    y ds + s dy = c,
//
// where r = G x + h - s, and delta dy is a proximal term: it keeps the weights y / (s + delta y) bounded, also where
// the constraints leave no interior, and vanishes as the steps do.
struct Cone {
  Vector s, y, r, c, ds, dy;
  Vector ds_accepted, dy_accepted;  // of the direction that is kept while a better one is tried
  double delta = 0;
  Index count = 0;  // members that are constraints; the others have y = 0 and never move

  void resize(Index size) {
    for (Vector* v : {&y, &r, &c, &ds, &dy, &ds_accepted, &dy_accepted}) v->setZero(size);
    s.setOnes(size);
    count = size;
  }

  double weight(Index i) const { return y(i) / (s(i) + delta * y(i)); }

  // dy = (c - y r) / (s + delta y), the part of dy that does not depend on dx.
  void start_direction() { dy.array() = (c.array() - y.array() * r.array()) / (s.array() + delta * y.array()); }
  // ds from the finished dy.
  void finish_direction() {
    for (Index i = 0; i < s.size(); ++i) ds(i) = y(i) > 0 ? (c(i) - s(i) * dy(i)) / y(i) : 0;
  }
  void accept_direction() {
    ds.swap(ds_accepted);
    dy.swap(dy_accepted);
  }
};

// The largest step <= 1 that keeps value + step * change >= 0.
inline double largest_step(const Vector& value, const Vector& change) {
  double step = 1;
  for (Index i = 0; i < value.size(); ++i) {
    if (change(i) < 0 && value(i) + step * change(i) < 0) step = -value(i) / change(i);
  }
  return step;
}

}  // namespace bregmax::internal
