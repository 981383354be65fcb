#pragma once

#include "core/simd.hpp"
#include "optimize/interior_point/cone_passes.hpp"

// The parts of the loops over the members of cones (cone_passes.cpp, hinge_passes.cpp).
namespace bregmax::internal {

// A pass is a struct whose step() works on one member or on four, and whose end(), if it has one, gives the result.
template <class Pass, class... Arguments>
BREGMAX_INLINE void run_body(Index size, Arguments... arguments) {
  Pass pass{arguments...};
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes) pass.template step<Four>(i);
  for (; i < size; ++i) pass.template step<double>(i);
  if constexpr (requires { pass.end(); }) pass.end();
}
template <class Pass, class... Arguments>
void run(Instructions use, Index size, Arguments... arguments) {
  dispatch<run_body<Pass, Arguments...>>(use, size, arguments...);
}

// The largest of 1 and the numbers that it is given, one or four at a time.
class Largest {
 public:
  BREGMAX_INLINE void take(const Four& value) { fours_ = value > fours_ ? value : fours_; }
  BREGMAX_INLINE void take(const double& value) { rest_ = value > rest_ ? value : rest_; }
  BREGMAX_INLINE void keep_in(double& largest) const {
    double all = rest_;
    for (Index i = 0; i < kLanes; ++i) all = fours_[i] > all ? fours_[i] : all;
    largest = all > largest ? all : largest;
  }

 private:
  Four fours_ = Four{} + 1;
  double rest_ = 1;
};

// s, y, 1 / s and 1 / y of a member or of four; the last two are 0 if it does not move.
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
  BREGMAX_INLINE void add(const CorrectionParts& parts, const V& ds_correction, const V& dy_correction,
                          const ConeRows& rows, Index i) {
    ds += parts.primal * ds_correction;
    dy += parts.dual * dy_correction;
    store(ds, rows.ds_accepted + i);
    store(dy, rows.dy_accepted + i);
  }
};

// c of a centrality corrector: how it should change the products that the accepted direction leads to.
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

// The largest rates of the accepted direction plus parts 1, 2, ... of a correction. Part 0 is the accepted direction
// itself, whose rates are known.
struct LargestRates {
  Largest primal[kParts], dual[kParts];

  template <class V>
  BREGMAX_INLINE void take(const Member<V>& member, const AcceptedChange<V>& accepted, const V& ds, const V& dy) {
    const V primal_from = -accepted.ds * member.inverse_s, primal_rate = -ds * member.inverse_s;
    const V dual_from = -accepted.dy * member.inverse_y, dual_rate = -dy * member.inverse_y;
    BREGMAX_UNROLL
    for (std::size_t part = 1; part < kParts; ++part) {
      primal[part].take(primal_from + part_of(part) * primal_rate);
      dual[part].take(dual_from + part_of(part) * dual_rate);
    }
  }
  BREGMAX_INLINE void keep_in(PartRates& rates) const {
    for (std::size_t part = 1; part < kParts; ++part) {
      primal[part].keep_in(rates[part].primal);
      dual[part].keep_in(rates[part].dual);
    }
  }
};

}  // namespace bregmax::internal
