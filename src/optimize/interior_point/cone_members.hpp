#pragma once

#include "core/simd.hpp"
#include "optimize/interior_point/cone_passes.hpp"

// What the loops over the members of cones (cone_passes.cpp, hinge_passes.cpp) are made of.
namespace bregmax::internal {

// Each pass is a struct whose step works on one member, or on four of them.
template <class Pass>
BREGMAX_INLINE void run(Pass& pass, Index size) {
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) pass.template step<Four>(i);
  for (; i < size; ++i) pass.template step<double>(i);
}

template <class V>
BREGMAX_INLINE void keep_larger(const V& value, V& largest) {
  largest = value > largest ? value : largest;
}

BREGMAX_INLINE double largest_of(const Four& value) {
  double largest = value[0];
  for (Index i = 1; i < kLanes; ++i) keep_larger(value[i], largest);
  return largest;
}

// s, y, 1 / s and 1 / y of a member or of four; the last two are 0 of one that does not move.
template <class V>
struct Member {
  V s, y, inverse_s, inverse_y;

  BREGMAX_INLINE Member(const ConeRows& rows, Index i) {
    const V one = V{} + 1, none{};
    load(rows.s + i, s);
    load(rows.y + i, y);
    const V of_both = one / (y > none ? s * y : one);
    inverse_s = y * of_both;
    inverse_y = y > none ? s * of_both : none;
  }
  // From y ds + s dy = c.
  BREGMAX_INLINE void solve_slack(const V& c, const V& dy, V& ds) const { ds = (c - s * dy) * inverse_y; }
};

// ds_accepted and dy_accepted of a member or of four.
template <class V>
struct AcceptedChange {
  V ds, dy;

  BREGMAX_INLINE AcceptedChange(const ConeRows& rows, Index i) {
    load(rows.ds_accepted + i, ds);
    load(rows.dy_accepted + i, dy);
  }
  BREGMAX_INLINE void add(const CorrectionParts& parts, const V& ds_correction, const V& dy_correction) {
    ds += parts.primal * ds_correction;
    dy += parts.dual * dy_correction;
  }
  BREGMAX_INLINE void keep(const ConeRows& rows, Index i) const {
    store(ds, rows.ds_accepted + i);
    store(dy, rows.dy_accepted + i);
  }
};

// c of a centrality corrector: what it changes the products by that the accepted direction leads to.
template <class V>
BREGMAX_INLINE void set_central_goal(const CentralAim& aim, const Member<V>& member, const AcceptedChange<V>& accepted,
                                     V& c) {
  const V none{};
  const V product = (member.s + aim.primal_step * accepted.ds) * (member.y + aim.dual_step * accepted.dy);
  const V up = aim.low - product;
  V down = aim.high - product;
  down = down > -aim.high ? down : none - aim.high;
  const V goal = (up > none ? up : none) + (down < none ? down : none);
  c = member.y > none ? goal : none;
}

// The largest rates of the accepted direction with parts 1, 2, ... of a correction: part 0 is the accepted direction,
// whose rates are known.
class LargestRates {
 public:
  BREGMAX_INLINE LargestRates() {
    for (std::size_t part = 1; part < kParts; ++part) {
      primal_[part] = dual_[part] = Four{} + 1;
      primal_rest_[part] = dual_rest_[part] = 1;
    }
  }
  template <class V>
  BREGMAX_INLINE void take(const Member<V>& member, const AcceptedChange<V>& accepted, const V& ds, const V& dy) {
    if constexpr (sizeof(V) == sizeof(Four)) {
      take_into(primal_, dual_, member, accepted, ds, dy);
    } else {
      take_into(primal_rest_, dual_rest_, member, accepted, ds, dy);
    }
  }
  BREGMAX_INLINE void keep_in(PartRates& rates) const {
    for (std::size_t part = 1; part < kParts; ++part) {
      keep_larger(largest_of(primal_[part]), rates[part].primal);
      keep_larger(primal_rest_[part], rates[part].primal);
      keep_larger(largest_of(dual_[part]), rates[part].dual);
      keep_larger(dual_rest_[part], rates[part].dual);
    }
  }

 private:
  template <class V>
  static BREGMAX_INLINE void take_into(V (&primal)[kParts], V (&dual)[kParts], const Member<V>& member,
                                       const AcceptedChange<V>& accepted, const V& ds, const V& dy) {
    const V primal_from = -accepted.ds * member.inverse_s, primal_rate = -ds * member.inverse_s;
    const V dual_from = -accepted.dy * member.inverse_y, dual_rate = -dy * member.inverse_y;
    for (std::size_t part = 1; part < kParts; ++part) {
      keep_larger<V>(primal_from + part_of(part) * primal_rate, primal[part]);
      keep_larger<V>(dual_from + part_of(part) * dual_rate, dual[part]);
    }
  }

  Four primal_[kParts], dual_[kParts];
  double primal_rest_[kParts], dual_rest_[kParts];
};

}  // namespace bregmax::internal
