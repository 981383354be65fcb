#pragma once

#include <array>

#include "core/simd.hpp"

namespace bregmax::internal {

// Loops over the members of a cone (see cone.hpp). With many constraints they take most of the time of a direction, so
// each loop reads its data only once.

// The arrays of a cone; delta is its proximal term. Members with y = 0 do not move.
struct ConeRows {
  Index size = 0;
  double delta = 0;
  const double *s = nullptr, *y = nullptr, *r = nullptr;
  double* inverse = nullptr;  // 1 / (s + delta y)
  double *c = nullptr, *ds = nullptr, *dy = nullptr;
  double *ds_accepted = nullptr, *dy_accepted = nullptr;
};

// How fast slacks and multipliers approach zero: the largest decrease in a full step, relative to the value, but at
// least 1.
struct StepRates {
  double primal = 1, dual = 1;
};

// The same for the accepted direction plus a part of a correction: 0, 1/4, 1/2, 3/4, all of it.
inline constexpr std::size_t kParts = 5;
inline constexpr double part_of(std::size_t index) { return static_cast<double>(index) / (kParts - 1); }
using PartRates = std::array<StepRates, kParts>;

// How much of a correction the slacks and the multipliers take.
struct CorrectionParts {
  double primal = 0, dual = 0;
};

// A centrality corrector looks at the products after these steps, and pulls them back between low and high.
struct CentralAim {
  double primal_step, dual_step, low, high;
};

void set_inverse(const ConeRows& rows, Instructions use = best_instructions());
// c = the change of the products that is aimed at, and dy = (c - y r) / (s + delta y), the part of dy that does not
// depend on dx. aim_at() aims at products of `target`; aim_corrected() corrects this by the second-order term of the
// current direction.
void aim_at(double target, const ConeRows& rows, Instructions use = best_instructions());
void aim_corrected(double target, const ConeRows& rows, Instructions use = best_instructions());
// If slack_change = G dx is given (else nullptr), adds the part of dy that depends on dx. Then sets ds and the rates.
void finish_direction(const ConeRows& rows, const double* slack_change, StepRates& rates,
                      Instructions use = best_instructions());

// A correction of the accepted direction does not change r. Only its c is stored, and its dy if that does not follow
// from c and slack_change: computing the rest again is faster than reading it.
//
// c = the change that pulls back the products of the accepted direction; dy = c / (s + delta y).
void aim_central(const ConeRows& rows, const CentralAim& aim, Instructions use = best_instructions());
void rate_correction(const ConeRows& rows, const double* slack_change, PartRates& rates,
                     Instructions use = best_instructions());
// accepted += parts of the correction; then aim_central() of `next`, if there is one, in the same pass.
void take_correction(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts,
                     const CentralAim* next, Instructions use = best_instructions());

}  // namespace bregmax::internal
