#include "optimize/interior_point/cone_passes.hpp"

#include "optimize/interior_point/cone_members.hpp"

namespace bregmax::internal {
namespace {

// The corrected aim stays within this many targets: beyond, a second-order term says little about where products end.
constexpr double kMostTargets = 20;

// c = goal, and dy without the part of dx.
template <class V>
BREGMAX_INLINE void aim_at(const ConeRows& rows, Index i, const V& y, const V& goal) {
  const V none{};
  V r, inverse;
  load(rows.r + i, r);
  load(rows.inverse + i, inverse);
  const V c = y > none ? goal : none;
  store(c, rows.c + i);
  store((c - y * r) * inverse, rows.dy + i);
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
    aim_at<V>(rows, i, y, target - s * y);
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
    aim_at<V>(rows, i, y, goal - s * y);
  }
};

template <bool has_change>
struct Finish {
  ConeRows rows;
  const double* slack_change;
  Four primal = Four{} + 1, dual = Four{} + 1;
  double primal_rest = 1, dual_rest = 1;

  template <class V>
  BREGMAX_INLINE void step(Index i) {
    const Member<V> member(rows, i);
    V c, dy;
    load(rows.c + i, c);
    load(rows.dy + i, dy);
    if constexpr (has_change) {
      V moved, inverse;
      load(slack_change + i, moved);
      load(rows.inverse + i, inverse);
      dy -= member.y * moved * inverse;
      store(dy, rows.dy + i);
    }
    V ds;
    member.solve_slack(c, dy, ds);
    store(ds, rows.ds + i);
    const V primal_rate = -ds * member.inverse_s, dual_rate = -dy * member.inverse_y;
    if constexpr (sizeof(V) == sizeof(Four)) {
      keep_larger<V>(primal_rate, primal);
      keep_larger<V>(dual_rate, dual);
    } else {
      keep_larger<V>(primal_rate, primal_rest);
      keep_larger<V>(dual_rate, dual_rest);
    }
  }
};

template <class V>
BREGMAX_INLINE void aim_centrally(const ConeRows& rows, Index i, const CentralAim& aim, const Member<V>& member,
                                  const AcceptedChange<V>& accepted) {
  V inverse, c;
  load(rows.inverse + i, inverse);
  set_central_goal(aim, member, accepted, c);
  store(c, rows.c + i);
  store(c * inverse, rows.dy + i);
}

struct AimCentral {
  ConeRows rows;
  CentralAim aim;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    aim_centrally<V>(rows, i, aim, Member<V>(rows, i), AcceptedChange<V>(rows, i));
  }
};

// ds and dy of a correction.
template <bool has_change, class V>
BREGMAX_INLINE void make_correction(const ConeRows& rows, const double* slack_change, Index i, const Member<V>& member,
                                    V& ds, V& dy) {
  V c;
  load(rows.c + i, c);
  if constexpr (has_change) {
    V moved, inverse;
    load(slack_change + i, moved);
    load(rows.inverse + i, inverse);
    dy = (c - member.y * moved) * inverse;
  } else {
    load(rows.dy + i, dy);
  }
  member.solve_slack(c, dy, ds);
}

template <bool has_change>
struct RateCorrection {
  ConeRows rows;
  const double* slack_change;
  LargestRates largest;
  template <class V>
  BREGMAX_INLINE void step(Index i) {
    const Member<V> member(rows, i);
    V ds, dy;
    make_correction<has_change, V>(rows, slack_change, i, member, ds, dy);
    largest.take(member, AcceptedChange<V>(rows, i), ds, dy);
  }
};

template <bool has_change, bool aims>
struct AddCorrection {
  ConeRows rows;
  const double* slack_change;
  CorrectionParts parts;
  CentralAim aim;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    const Member<V> member(rows, i);
    V ds, dy;
    make_correction<has_change, V>(rows, slack_change, i, member, ds, dy);
    AcceptedChange<V> accepted(rows, i);
    accepted.add(parts, ds, dy);
    accepted.keep(rows, i);
    if constexpr (aims) aim_centrally<V>(rows, i, aim, member, accepted);
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
BREGMAX_INLINE void rate_correction_as(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  RateCorrection<has_change> pass{rows, slack_change, {}};
  run(pass, rows.size);
  pass.largest.keep_in(rates);
}
BREGMAX_INLINE void rate_correction_body(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  slack_change == nullptr ? rate_correction_as<false>(rows, slack_change, rates)
                          : rate_correction_as<true>(rows, slack_change, rates);
}
template <bool aims>
BREGMAX_INLINE void add_correction_body(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts,
                                        const CentralAim& aim) {
  if (slack_change == nullptr) {
    AddCorrection<false, aims> pass{rows, slack_change, parts, aim};
    run(pass, rows.size);
  } else {
    AddCorrection<true, aims> pass{rows, slack_change, parts, aim};
    run(pass, rows.size);
  }
}

#ifdef BREGMAX_AVX2
BREGMAX_AVX2 void invert_avx2(const ConeRows& rows) { invert_body(rows); }
BREGMAX_AVX2 void aim_avx2(const ConeRows& rows, double target) { aim_body(rows, target); }
BREGMAX_AVX2 void aim_corrected_avx2(const ConeRows& rows, double target) { aim_corrected_body(rows, target); }
BREGMAX_AVX2 void aim_central_avx2(const ConeRows& rows, const CentralAim& aim) { aim_central_body(rows, aim); }
BREGMAX_AVX2 void finish_avx2(const ConeRows& rows, const double* slack_change, StepRates& rates) {
  finish_body(rows, slack_change, rates);
}
BREGMAX_AVX2 void rate_correction_avx2(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  rate_correction_body(rows, slack_change, rates);
}
BREGMAX_AVX2 void add_correction_avx2(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts) {
  add_correction_body<false>(rows, slack_change, parts, {});
}
BREGMAX_AVX2 void add_and_aim_central_avx2(const ConeRows& rows, const double* slack_change,
                                           const CorrectionParts& parts, const CentralAim& aim) {
  add_correction_body<true>(rows, slack_change, parts, aim);
}
#endif

void invert_portable(const ConeRows& rows) { invert_body(rows); }
void aim_portable(const ConeRows& rows, double target) { aim_body(rows, target); }
void aim_corrected_portable(const ConeRows& rows, double target) { aim_corrected_body(rows, target); }
void aim_central_portable(const ConeRows& rows, const CentralAim& aim) { aim_central_body(rows, aim); }
void finish_portable(const ConeRows& rows, const double* slack_change, StepRates& rates) {
  finish_body(rows, slack_change, rates);
}
void rate_correction_portable(const ConeRows& rows, const double* slack_change, PartRates& rates) {
  rate_correction_body(rows, slack_change, rates);
}
void add_correction_portable(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts) {
  add_correction_body<false>(rows, slack_change, parts, {});
}
void add_and_aim_central_portable(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts,
                                  const CentralAim& aim) {
  add_correction_body<true>(rows, slack_change, parts, aim);
}

}  // namespace

const ConePasses& portable_cone_passes() {
  static constexpr ConePasses kPasses = {
      invert_portable,         aim_portable,
      aim_corrected_portable,  finish_portable,
      aim_central_portable,    rate_correction_portable,
      add_correction_portable, add_and_aim_central_portable,
  };
  return kPasses;
}

const ConePasses& cone_passes() {
#ifdef BREGMAX_AVX2
  static constexpr ConePasses kPasses = {
      invert_avx2,         aim_avx2,
      aim_corrected_avx2,  finish_avx2,
      aim_central_avx2,    rate_correction_avx2,
      add_correction_avx2, add_and_aim_central_avx2,
  };
  if (has_avx2()) return kPasses;
#endif
  return portable_cone_passes();
}

}  // namespace bregmax::internal
