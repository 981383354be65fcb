#include "optimize/interior_point/cone_passes.hpp"

#include "optimize/interior_point/cone_members.hpp"

namespace bregmax::internal {
namespace {

// The corrected aim is at most this many times the target: a larger second-order term says little about the products.
constexpr double kMostTargets = 20;

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

template <bool corrected>
struct Aim {
  ConeRows rows;
  double target;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    const V none{};
    V s, y, r, inverse, goal = none + target;
    load(rows.s + i, s);
    load(rows.y + i, y);
    load(rows.r + i, r);
    load(rows.inverse + i, inverse);
    if constexpr (corrected) {
      V ds, dy;
      load(rows.ds + i, ds);
      load(rows.dy + i, dy);
      const double most = kMostTargets * target;
      goal = target - ds * dy;
      goal = goal > none ? goal : none;
      goal = goal < most ? goal : none + most;
    }
    const V change = goal - s * y, c = y > none ? change : none;
    store(c, rows.c + i);
    store((c - y * r) * inverse, rows.dy + i);
  }
};

template <bool has_change>
struct Finish {
  ConeRows rows;
  const double* slack_change;
  StepRates* rates;
  Largest primal = {}, dual = {};

  template <class V>
  BREGMAX_INLINE void step(Index i) {
    const Member<V> member(rows, i);
    V c, dy, ds;
    load(rows.c + i, c);
    load(rows.dy + i, dy);
    if constexpr (has_change) {
      V moved, inverse;
      load(slack_change + i, moved);
      load(rows.inverse + i, inverse);
      dy -= member.y * moved * inverse;
      store(dy, rows.dy + i);
    }
    member.solve_slack(c, dy, ds);
    store(ds, rows.ds + i);
    primal.take(-ds * member.inverse_s);
    dual.take(-dy * member.inverse_y);
  }
  BREGMAX_INLINE void end() const {
    primal.keep_in(rates->primal);
    dual.keep_in(rates->dual);
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
  PartRates* rates;
  LargestRates largest = {};
  template <class V>
  BREGMAX_INLINE void step(Index i) {
    const Member<V> member(rows, i);
    V ds, dy;
    make_correction<has_change, V>(rows, slack_change, i, member, ds, dy);
    largest.take(member, AcceptedChange<V>(rows, i), ds, dy);
  }
  BREGMAX_INLINE void end() const { largest.keep_in(*rates); }
};

template <bool has_change, bool aims>
struct TakeCorrection {
  ConeRows rows;
  const double* slack_change;
  CorrectionParts parts;
  CentralAim next;
  template <class V>
  BREGMAX_INLINE void step(Index i) const {
    const Member<V> member(rows, i);
    V ds, dy;
    make_correction<has_change, V>(rows, slack_change, i, member, ds, dy);
    AcceptedChange<V> accepted(rows, i);
    accepted.add(parts, ds, dy, rows, i);
    if constexpr (aims) aim_centrally<V>(rows, i, next, member, accepted);
  }
};

}  // namespace

void set_inverse(const ConeRows& rows, Instructions use) { run<Invert>(use, rows.size, rows); }

void aim_at(double target, const ConeRows& rows, Instructions use) { run<Aim<false>>(use, rows.size, rows, target); }

void aim_corrected(double target, const ConeRows& rows, Instructions use) {
  run<Aim<true>>(use, rows.size, rows, target);
}

void finish_direction(const ConeRows& rows, const double* slack_change, StepRates& rates, Instructions use) {
  slack_change == nullptr ? run<Finish<false>>(use, rows.size, rows, slack_change, &rates)
                          : run<Finish<true>>(use, rows.size, rows, slack_change, &rates);
}

void aim_central(const ConeRows& rows, const CentralAim& aim, Instructions use) {
  run<AimCentral>(use, rows.size, rows, aim);
}

void rate_correction(const ConeRows& rows, const double* slack_change, PartRates& rates, Instructions use) {
  slack_change == nullptr ? run<RateCorrection<false>>(use, rows.size, rows, slack_change, &rates)
                          : run<RateCorrection<true>>(use, rows.size, rows, slack_change, &rates);
}

void take_correction(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts,
                     const CentralAim* next, Instructions use) {
  const auto take = [&]<bool aims>(const CentralAim& aim) {
    slack_change == nullptr ? run<TakeCorrection<false, aims>>(use, rows.size, rows, slack_change, parts, aim)
                            : run<TakeCorrection<true, aims>>(use, rows.size, rows, slack_change, parts, aim);
  };
  next == nullptr ? take.operator()<false>({}) : take.operator()<true>(*next);
}

}  // namespace bregmax::internal
