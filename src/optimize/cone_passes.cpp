#include "optimize/cone_passes.hpp"

#include "core/simd.hpp"

namespace bregmax::internal {
namespace {

// The corrected aim stays within this many targets: beyond, a second-order term says little about where products end.
constexpr double kMostTargets = 20;

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

// c = goal, and dy without the part of dx; where it is a correction, r stays as it is.
template <bool correction, class V>
BREGMAX_INLINE void aim_at(const ConeRows& rows, Index i, const V& y, const V& goal) {
  const V none{};
  V inverse;
  load(rows.inverse + i, inverse);
  const V c = y > none ? goal : none;
  store(c, rows.c + i);
  if constexpr (correction) {
    store(c * inverse, rows.dy + i);
  } else {
    V r;
    load(rows.r + i, r);
    store((c - y * r) * inverse, rows.dy + i);
  }
}

struct Invert {
  ConeRows rows;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    V s, y;
    load(rows.s + i, s);
    load(rows.y + i, y);
    store(1 / (s + rows.delta * y), rows.inverse + i);
  }
};

struct Aim {
  ConeRows rows;
  double target;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    V s, y;
    load(rows.s + i, s);
    load(rows.y + i, y);
    aim_at<false, V>(rows, i, y, target - s * y);
  }
};

struct AimCorrected {
  ConeRows rows;
  double target, most;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    V s, y, ds, dy;
    load(rows.s + i, s);
    load(rows.y + i, y);
    load(rows.ds + i, ds);
    load(rows.dy + i, dy);
    const V none{};
    V goal = target - ds * dy;
    goal = goal > none ? goal : none;
    goal = goal < most ? goal : none + most;
    aim_at<false, V>(rows, i, y, goal - s * y);
  }
};

struct AimCentral {
  ConeRows rows;
  CentralAim aim;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    V s, y, ds, dy;
    load(rows.s + i, s);
    load(rows.y + i, y);
    load(rows.ds_accepted + i, ds);
    load(rows.dy_accepted + i, dy);
    const V none{};
    const V product = (s + aim.primal_step * ds) * (y + aim.dual_step * dy);
    const V up = aim.low - product;
    V down = aim.high - product;
    down = down > -aim.high ? down : none - aim.high;
    aim_at<true, V>(rows, i, y, (up > none ? up : none) + (down < none ? down : none));
  }
};

// ds, what has been missing of dy, and how fast both near the boundary, of one member or of four.
template <bool has_change, class V>
BREGMAX_INLINE void finish_member(const ConeRows& rows, const double* slack_change, Index i, V& of_slack,
                                  V& of_multiplier, V& primal_rate, V& dual_rate) {
  const V one = V{} + 1, none{};
  V s, y, c, dy;
  load(rows.s + i, s);
  load(rows.y + i, y);
  load(rows.c + i, c);
  load(rows.dy + i, dy);
  if constexpr (has_change) {
    V moved, inverse;
    load(slack_change + i, moved);
    load(rows.inverse + i, inverse);
    dy -= y * moved * inverse;
    store(dy, rows.dy + i);
  }
  const V of_both = one / (y > none ? s * y : one);
  of_slack = y * of_both;  // 1 / slack
  of_multiplier = y > none ? s * of_both : none;
  const V ds = (c - s * dy) * of_multiplier;
  store(ds, rows.ds + i);
  primal_rate = -ds * of_slack;
  dual_rate = -dy * of_multiplier;
}

template <bool has_change>
struct Finish {
  ConeRows rows;
  const double* slack_change;
  Four primal = Four{} + 1, dual = Four{} + 1;
  double primal_rest = 1, dual_rest = 1;

  template <class V>
  BREGMAX_INLINE void step(Index i) {
    V of_slack, of_multiplier, primal_rate, dual_rate;
    finish_member<has_change, V>(rows, slack_change, i, of_slack, of_multiplier, primal_rate, dual_rate);
    if constexpr (sizeof(V) == sizeof(Four)) {
      keep_larger<V>(primal_rate, primal);
      keep_larger<V>(dual_rate, dual);
    } else {
      keep_larger<V>(primal_rate, primal_rest);
      keep_larger<V>(dual_rate, dual_rest);
    }
  }
};

template <bool has_change>
struct FinishCorrection {
  ConeRows rows;
  const double* slack_change;
  // Of parts 1, 2, ...: part 0 is the accepted direction, whose rates are known.
  Four primal[kParts], dual[kParts];
  double primal_rest[kParts], dual_rest[kParts];

  BREGMAX_INLINE FinishCorrection(const ConeRows& cone, const double* change) : rows(cone), slack_change(change) {
    for (std::size_t part = 1; part < kParts; ++part) {
      primal[part] = dual[part] = Four{} + 1;
      primal_rest[part] = dual_rest[part] = 1;
    }
  }
  template <class V>
  BREGMAX_INLINE void compare(V (&primal_rates)[kParts], V (&dual_rates)[kParts], Index i) {
    V of_slack, of_multiplier, primal_rate, dual_rate, ds_accepted, dy_accepted;
    finish_member<has_change, V>(rows, slack_change, i, of_slack, of_multiplier, primal_rate, dual_rate);
    load(rows.ds_accepted + i, ds_accepted);
    load(rows.dy_accepted + i, dy_accepted);
    const V primal_from = -ds_accepted * of_slack, dual_from = -dy_accepted * of_multiplier;
    for (std::size_t part = 1; part < kParts; ++part) {
      keep_larger<V>(primal_from + part_of(part) * primal_rate, primal_rates[part]);
      keep_larger<V>(dual_from + part_of(part) * dual_rate, dual_rates[part]);
    }
  }
  template <class V>
  BREGMAX_INLINE void step(Index i) {
    if constexpr (sizeof(V) == sizeof(Four)) {
      compare<V>(primal, dual, i);
    } else {
      compare<V>(primal_rest, dual_rest, i);
    }
  }
};

struct AddCorrection {
  ConeRows rows;
  double primal_part, dual_part;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    V ds, dy, ds_accepted, dy_accepted;
    load(rows.ds + i, ds);
    load(rows.dy + i, dy);
    load(rows.ds_accepted + i, ds_accepted);
    load(rows.dy_accepted + i, dy_accepted);
    store(ds_accepted + primal_part * ds, rows.ds_accepted + i);
    store(dy_accepted + dual_part * dy, rows.dy_accepted + i);
  }
};

BREGMAX_INLINE void invert_body(const ConeRows& rows) {
  Invert pass{rows};
  run(pass, rows.size);
}
BREGMAX_INLINE void aim_body(const ConeRows& rows, double target) {
  Aim pass{rows, target};
  run(pass, rows.size);
}
BREGMAX_INLINE void aim_corrected_body(const ConeRows& rows, double target) {
  AimCorrected pass{rows, target, kMostTargets * target};
  run(pass, rows.size);
}
BREGMAX_INLINE void aim_central_body(const ConeRows& rows, const CentralAim& aim) {
  AimCentral pass{rows, aim};
  run(pass, rows.size);
}
template <bool has_change>
BREGMAX_INLINE void finish_as(const ConeRows& rows, const double* slack_change, StepRates& rates) {
  Finish<has_change> pass{rows, slack_change};
  run(pass, rows.size);
  keep_larger(largest_of(pass.primal), rates.primal);
  keep_larger(pass.primal_rest, rates.primal);
  keep_larger(largest_of(pass.dual), rates.dual);
  keep_larger(pass.dual_rest, rates.dual);
}
BREGMAX_INLINE void finish_body(const ConeRows& rows, const double* slack_change, StepRates& rates) {
  slack_change == nullptr ? finish_as<false>(rows, slack_change, rates) : finish_as<true>(rows, slack_change, rates);
}
template <bool has_change>
BREGMAX_INLINE void finish_correction_as(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  FinishCorrection<has_change> pass(rows, slack_change);
  run(pass, rows.size);
  for (std::size_t part = 1; part < kParts; ++part) {
    keep_larger(largest_of(pass.primal[part]), rates[part].primal);
    keep_larger(pass.primal_rest[part], rates[part].primal);
    keep_larger(largest_of(pass.dual[part]), rates[part].dual);
    keep_larger(pass.dual_rest[part], rates[part].dual);
  }
}
BREGMAX_INLINE void finish_correction_body(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  slack_change == nullptr ? finish_correction_as<false>(rows, slack_change, rates)
                          : finish_correction_as<true>(rows, slack_change, rates);
}
BREGMAX_INLINE void add_correction_body(const ConeRows& rows, double primal_part, double dual_part) {
  AddCorrection pass{rows, primal_part, dual_part};
  run(pass, rows.size);
}

#ifdef BREGMAX_AVX2
BREGMAX_AVX2 void invert_avx2(const ConeRows& rows) { invert_body(rows); }
BREGMAX_AVX2 void aim_avx2(const ConeRows& rows, double target) { aim_body(rows, target); }
BREGMAX_AVX2 void aim_corrected_avx2(const ConeRows& rows, double target) { aim_corrected_body(rows, target); }
BREGMAX_AVX2 void aim_central_avx2(const ConeRows& rows, const CentralAim& aim) { aim_central_body(rows, aim); }
BREGMAX_AVX2 void finish_avx2(const ConeRows& rows, const double* slack_change, StepRates& rates) {
  finish_body(rows, slack_change, rates);
}
BREGMAX_AVX2 void finish_correction_avx2(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  finish_correction_body(rows, slack_change, rates);
}
BREGMAX_AVX2 void add_correction_avx2(const ConeRows& rows, double primal_part, double dual_part) {
  add_correction_body(rows, primal_part, dual_part);
}
#endif

void invert_portable(const ConeRows& rows) { invert_body(rows); }
void aim_portable(const ConeRows& rows, double target) { aim_body(rows, target); }
void aim_corrected_portable(const ConeRows& rows, double target) { aim_corrected_body(rows, target); }
void aim_central_portable(const ConeRows& rows, const CentralAim& aim) { aim_central_body(rows, aim); }
void finish_portable(const ConeRows& rows, const double* slack_change, StepRates& rates) {
  finish_body(rows, slack_change, rates);
}
void finish_correction_portable(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  finish_correction_body(rows, slack_change, rates);
}
void add_correction_portable(const ConeRows& rows, double primal_part, double dual_part) {
  add_correction_body(rows, primal_part, dual_part);
}

}  // namespace

const ConePasses& portable_cone_passes() {
  static constexpr ConePasses kPasses = {
      invert_portable,         aim_portable,    aim_corrected_portable,
      aim_central_portable,    finish_portable, finish_correction_portable,
      add_correction_portable,
  };
  return kPasses;
}

const ConePasses& cone_passes() {
#ifdef BREGMAX_AVX2
  static constexpr ConePasses kPasses = {
      invert_avx2,         aim_avx2, aim_corrected_avx2, aim_central_avx2, finish_avx2, finish_correction_avx2,
      add_correction_avx2,
  };
  if (has_avx2()) return kPasses;
#endif
  return portable_cone_passes();
}

}  // namespace bregmax::internal
