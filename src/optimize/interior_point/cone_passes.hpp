#pragma once

#include <array>

#include "core/simd.hpp"

namespace bregmax::internal {

// Loops over the members of a cone (see cone.hpp). They take most of the time that directions cost where there are many
// constraints, and each reads what it needs once.

// The arrays of a cone; delta is its proximal term. Members with y = 0 do not move.
struct ConeRows {
  Index size = 0;
  double delta = 0;
  const double *s = nullptr, *y = nullptr, *r = nullptr;
  double* inverse = nullptr;  // 1 / (s + delta y)
  double *c = nullptr, *ds = nullptr, *dy = nullptr;
  double *ds_accepted = nullptr, *dy_accepted = nullptr;
};

// How fast slacks and multipliers near the boundary: the largest fall in a whole step, relative to its value, but at
// least 1.
struct StepRates {
  double primal = 1, dual = 1;
};

// The same of the accepted direction and a part of a correction: 0, 1/4, 1/2, 3/4, all of it.
inline constexpr std::size_t kParts = 5;
inline constexpr double part_of(std::size_t index) { return static_cast<double>(index) / (kParts - 1); }
using PartRates = std::array<StepRates, kParts>;

// How much of a correction is taken: slacks and multipliers each have a part of their own.
struct CorrectionParts {
  double primal = 0, dual = 0;
};

// Where a centrality corrector looks for products, and where it pulls them back to.
struct CentralAim {
  double primal_step, dual_step, low, high;
};

void set_inverse(const ConeRows& rows, Instructions use = best_instructions());
// c = the change of the products that is aimed at, and dy = (c - y r) / (s + delta y), the part of dy that does not
// depend on dx. The first: to `target`. The second: the same, corrected by the second-order term of the direction that
// is there.
void aim_at(double target, const ConeRows& rows, Instructions use = best_instructions());
void aim_corrected(double target, const ConeRows& rows, Instructions use = best_instructions());
// Adds the part of dx to dy where slack_change, which is G dx, is given (else nullptr); then ds, and the rates.
void finish_direction(const ConeRows& rows, const double* slack_change, StepRates& rates,
                      Instructions use = best_instructions());

// Of a correction of the accepted direction, which leaves r alone, only c is kept, and dy where it does not follow from
// c and slack_change: to read the rest again would take longer than to compute it.
//
// c = what pulls the products that the accepted direction leads to; dy = c / (s + delta y).
void aim_central(const ConeRows& rows, const CentralAim& aim, Instructions use = best_instructions());
void rate_correction(const ConeRows& rows, const double* slack_change, PartRates& rates,
                     Instructions use = best_instructions());
// accepted += parts of the correction; then aim_central() of `next`, if there is one, in the same pass.
void take_correction(const ConeRows& rows, const double* slack_change, const CorrectionParts& parts,
                     const CentralAim* next, Instructions use = best_instructions());

}  // namespace bregmax::internal
