#pragma once

#include <algorithm>
#include <array>
#include <new>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// The largest fall of a slack and of a multiplier in one whole step, relative to its value, but at least 1.
struct StepRates {
  double primal = 1, dual = 1;
};

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
  View inverse{nullptr, 0};                               // 1 / (s + delta y), of set_inverse()
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
    const std::array<View*, kRows> views = {&s, &y, &r, &c, &ds, &dy, &ds_accepted, &dy_accepted, &kept_s, &inverse};
    for (std::size_t i = 0; i < views.size(); ++i) {
      new (views[i]) View(storage_.data() + row_[i] * storage_.cols(), size);
    }
  }

  // Once for every iterate: a division costs more than reading what it gave.
  void set_inverse() {
    const double *slack = s.data(), *multiplier = y.data();
    double* out = inverse.data();
    for (Index i = 0; i < size_; ++i) out[i] = 1 / (slack[i] + delta * multiplier[i]);
  }
  double weight(Index i) const { return y(i) * inverse(i); }

  // c = goal(s, y, c, change of s, change of y), and dy = (c - y r) / (s + delta y), the part of dy that does not
  // depend on dx. The changes are those of the direction that is there, or of the accepted one. One pass: vectors over
  // the entries do not fit into the cache.
  template <typename Goal>
  void start_direction(const Goal& goal, bool from_accepted) {
    const double *from_ds = from_accepted ? ds_accepted.data() : ds.data(),
                 *from_dy = from_accepted ? dy_accepted.data() : dy.data();
    const double *slack = s.data(), *multiplier = y.data(), *residual = r.data(), *inverted = inverse.data();
    double *product = c.data(), *change = dy.data();
    for (Index i = 0; i < size_; ++i) {
      const double aim = goal(slack[i], multiplier[i], product[i], from_ds[i], from_dy[i]);
      product[i] = aim;
      change[i] = (aim - multiplier[i] * residual[i]) * inverted[i];
    }
  }

  // ds from the finished dy, and how fast the direction nears the boundary.
  void finish_direction(StepRates& rates) {
    finish(rates, [](Index, double change, double) { return change; });
  }
  // The same where dy still lacks the part of dx: slack_change is G dx.
  void finish_direction(const View& slack_change, StepRates& rates) {
    const double *moved = slack_change.data(), *inverted = inverse.data();
    finish(rates, [moved, inverted](Index i, double change, double multiplier) {
      return change - multiplier * moved[i] * inverted[i];
    });
  }
  void accept_direction() {
    std::swap(row_[4], row_[6]);
    std::swap(row_[5], row_[7]);
    set_size(size_);
  }

 private:
  template <typename Last>
  void finish(StepRates& rates, const Last& last) {
    const double *slack = s.data(), *multiplier = y.data(), *product = c.data();
    double *slack_change = ds.data(), *change = dy.data();
    double primal = rates.primal, dual = rates.dual;
    for (Index i = 0; i < size_; ++i) {
      const bool moves = multiplier[i] > 0;
      const double of_both = moves ? 1 / (slack[i] * multiplier[i]) : 0;
      const double of_slack = multiplier[i] * of_both, of_multiplier = slack[i] * of_both;  // 1 / slack, 1 / multiplier
      const double dual_change = moves ? last(i, change[i], multiplier[i]) : 0;
      const double primal_change = (product[i] - slack[i] * dual_change) * of_multiplier;
      change[i] = dual_change;
      slack_change[i] = primal_change;
      const double primal_rate = -primal_change * of_slack, dual_rate = -dual_change * of_multiplier;
      primal = primal_rate > primal ? primal_rate : primal;
      dual = dual_rate > dual ? dual_rate : dual;
    }
    rates.primal = primal;
    rates.dual = dual;
  }

  static constexpr Index kRows = 10;
  Matrix storage_;
  std::array<Index, kRows> row_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};  // which row of the storage a view is of
  Index size_ = 0;
};

}  // namespace bregmax::internal
