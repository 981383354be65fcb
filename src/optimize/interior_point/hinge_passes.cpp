#include "optimize/interior_point/hinge_passes.hpp"

#include "optimize/interior_point/cone_members.hpp"
#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {
namespace {

// How the direction changes D[plus] - D[minus] of one hinge, or of four.
BREGMAX_INLINE void gather(const HingeRows& rows, Index t, const double* dD, double& change) {
  change = (rows.plus[t] == kNoEntry ? 0 : dD[rows.plus[t]]) - dD[rows.minus[t]];
}
BREGMAX_INLINE void gather(const HingeRows& rows, Index t, const double* dD, Four& change) {
  for (Index i = 0; i < kLanes; ++i) {
    double one = 0;
    gather(rows, t + i, dD, one);
    change[i] = one;
  }
}

BREGMAX_INLINE void scatter(const HingeRows& rows, Index t, const double& value, double* right_side) {
  if (rows.plus[t] != kNoEntry) right_side[rows.plus[t]] += value;
  right_side[rows.minus[t]] -= value;
}
BREGMAX_INLINE void scatter(const HingeRows& rows, Index t, const Four& value, double* right_side) {
  for (Index i = 0; i < kLanes; ++i) scatter(rows, t + i, value[i], right_side);
}

// The equations of zeta, given the parts of both dy that do not depend on dx.
template <class V>
struct ZetaElimination {
  V over_inverse, nonneg_inverse, over_weight, nonneg_weight, inverse_sum;

  BREGMAX_INLINE ZetaElimination(const HingeRows& rows, Index t) {
    V y;
    load(rows.over.y + t, y);
    load(rows.over.inverse + t, over_inverse);
    over_weight = y * over_inverse;
    load(rows.nonneg.y + t, y);
    load(rows.nonneg.inverse + t, nonneg_inverse);
    nonneg_weight = y * nonneg_inverse;
    load(rows.inverse_sum + t, inverse_sum);
  }
  // What a correction starts from: both dy without the part of dx, and zeta's right-hand side times inverse_sum.
  BREGMAX_INLINE void start(const V& over_c, const V& nonneg_c, V& over, V& nonneg, V& rhs) const {
    over = over_c * over_inverse;
    nonneg = nonneg_c * nonneg_inverse;
    rhs = (over + nonneg) * inverse_sum;
  }
  // Completes both dy.
  BREGMAX_INLINE void recover(const V& change, const V& rhs, V& over, V& nonneg, V& dzeta) const {
    dzeta = rhs + over_weight * change * inverse_sum;
    over -= over_weight * (dzeta - change);
    nonneg -= nonneg_weight * dzeta;
  }
};

struct EliminateZeta {
  HingeRows rows;
  double* right_side;
  template <class V>
  BREGMAX_INLINE void step(Index t) const {
    const ZetaElimination<V> zeta(rows, t);
    V over, nonneg, residual;
    load(rows.over.dy + t, over);
    load(rows.nonneg.dy + t, nonneg);
    load(rows.residual + t, residual);
    const V rhs = (over + nonneg - residual) * zeta.inverse_sum;
    scatter(rows, t, zeta.over_weight * rhs - over, right_side);
  }
};

struct RecoverZeta {
  HingeRows rows;
  const double* dD;
  template <class V>
  BREGMAX_INLINE void step(Index t) const {
    const ZetaElimination<V> zeta(rows, t);
    V over, nonneg, residual, change, dzeta;
    load(rows.over.dy + t, over);
    load(rows.nonneg.dy + t, nonneg);
    load(rows.residual + t, residual);
    gather(rows, t, dD, change);
    zeta.recover(change, (over + nonneg - residual) * zeta.inverse_sum, over, nonneg, dzeta);
    store(over, rows.over.dy + t);
    store(nonneg, rows.nonneg.dy + t);
    store(dzeta, rows.dzeta + t);
  }
};

// All parts of a correction, computed from the c of the two cones.
template <class V>
struct HingeCorrection {
  V over_ds, over_dy, nonneg_ds, nonneg_dy, dzeta;

  BREGMAX_INLINE HingeCorrection(const HingeRows& rows, Index t, const double* dD, const Member<V>& over,
                                 const Member<V>& nonneg) {
    const ZetaElimination<V> zeta(rows, t);
    V over_c, nonneg_c, change, rhs;
    load(rows.over.c + t, over_c);
    load(rows.nonneg.c + t, nonneg_c);
    gather(rows, t, dD, change);
    zeta.start(over_c, nonneg_c, over_dy, nonneg_dy, rhs);
    zeta.recover(change, rhs, over_dy, nonneg_dy, dzeta);
    over.solve_slack(over_c, over_dy, over_ds);
    nonneg.solve_slack(nonneg_c, nonneg_dy, nonneg_ds);
  }
};

template <class V>
BREGMAX_INLINE void aim_centrally(const HingeRows& rows, Index t, const CentralAim& aim, const Member<V>& over,
                                  const Member<V>& nonneg, const AcceptedChange<V>& over_accepted,
                                  const AcceptedChange<V>& nonneg_accepted, double* right_side) {
  const ZetaElimination<V> zeta(rows, t);
  V over_c, nonneg_c, over_dy, nonneg_dy, rhs;
  set_central_goal(aim, over, over_accepted, over_c);
  set_central_goal(aim, nonneg, nonneg_accepted, nonneg_c);
  store(over_c, rows.over.c + t);
  store(nonneg_c, rows.nonneg.c + t);
  zeta.start(over_c, nonneg_c, over_dy, nonneg_dy, rhs);
  scatter(rows, t, zeta.over_weight * rhs - over_dy, right_side);
}

struct AimHinges {
  HingeRows rows;
  CentralAim aim;
  double* right_side;
  template <class V>
  BREGMAX_INLINE void step(Index t) const {
    aim_centrally<V>(rows, t, aim, Member<V>(rows.over, t), Member<V>(rows.nonneg, t), AcceptedChange<V>(rows.over, t),
                     AcceptedChange<V>(rows.nonneg, t), right_side);
  }
};

struct RateHinges {
  HingeRows rows;
  const double* dD;
  PartRates* rates;
  LargestRates largest = {};
  template <class V>
  BREGMAX_INLINE void step(Index t) {
    const Member<V> over(rows.over, t), nonneg(rows.nonneg, t);
    const HingeCorrection<V> correction(rows, t, dD, over, nonneg);
    largest.take(over, AcceptedChange<V>(rows.over, t), correction.over_ds, correction.over_dy);
    largest.take(nonneg, AcceptedChange<V>(rows.nonneg, t), correction.nonneg_ds, correction.nonneg_dy);
  }
  BREGMAX_INLINE void end() const { largest.keep_in(*rates); }
};

template <bool aims>
struct CorrectHinges {
  HingeRows rows;
  const double* dD;
  CorrectionParts parts;
  CentralAim aim;
  double* right_side;
  template <class V>
  BREGMAX_INLINE void step(Index t) const {
    const Member<V> over(rows.over, t), nonneg(rows.nonneg, t);
    const HingeCorrection<V> correction(rows, t, dD, over, nonneg);
    AcceptedChange<V> over_accepted(rows.over, t), nonneg_accepted(rows.nonneg, t);
    over_accepted.add(parts, correction.over_ds, correction.over_dy, rows.over, t);
    nonneg_accepted.add(parts, correction.nonneg_ds, correction.nonneg_dy, rows.nonneg, t);
    V dzeta;
    load(rows.dzeta_accepted + t, dzeta);
    store(dzeta + parts.primal * correction.dzeta, rows.dzeta_accepted + t);
    if constexpr (aims) aim_centrally<V>(rows, t, aim, over, nonneg, over_accepted, nonneg_accepted, right_side);
  }
};

}  // namespace

void eliminate_zeta(const HingeRows& rows, double* right_side, Instructions use) {
  run<EliminateZeta>(use, rows.over.size, rows, right_side);
}

void recover_zeta(const HingeRows& rows, const double* dD, Instructions use) {
  run<RecoverZeta>(use, rows.over.size, rows, dD);
}

void aim_central(const HingeRows& rows, const CentralAim& aim, double* right_side, Instructions use) {
  run<AimHinges>(use, rows.over.size, rows, aim, right_side);
}

void rate_correction(const HingeRows& rows, const double* dD, PartRates& rates, Instructions use) {
  run<RateHinges>(use, rows.over.size, rows, dD, &rates);
}

void take_correction(const HingeRows& rows, const double* dD, const CorrectionParts& parts, const CentralAim* next,
                     double* right_side, Instructions use) {
  next == nullptr ? run<CorrectHinges<false>>(use, rows.over.size, rows, dD, parts, CentralAim{}, right_side)
                  : run<CorrectHinges<true>>(use, rows.over.size, rows, dD, parts, *next, right_side);
}

}  // namespace bregmax::internal
