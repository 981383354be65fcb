#pragma once

#include "optimize/interior_point/cone_passes.hpp"

namespace bregmax::internal {

// Loops over the hinges zeta >= margin + D[plus] - D[minus], zeta >= 0, each of which has a member in two cones. With
// all ordered pairs every dissimilar one is a hinge.
struct HingeRows {
  ConeRows over, nonneg;
  const double* inverse_sum = nullptr;            // 1 / (the sum of the two weights), 0 where both are
  const double* residual = nullptr;               // dual, of zeta
  const Index *plus = nullptr, *minus = nullptr;  // positions of the entries; plus may be kNoEntry
  double *dzeta = nullptr, *dzeta_accepted = nullptr;
};

// `field` is over the entries: what zeta's elimination leaves of the right-hand sides is added to it. dD is over the
// entries, too: how the direction changes the divergences.
//
// Of a direction, once the cones have been aimed; and the way back to dzeta and dy.
void eliminate_zeta(const HingeRows& rows, double* field, Instructions use = best_instructions());
void recover_zeta(const HingeRows& rows, const double* dD, Instructions use = best_instructions());

// What the passes of the same name do for both cones (see cone_passes.hpp), with elimination and recovery: only c is
// kept of a correction.
void aim_central(const HingeRows& rows, const CentralAim& aim, double* field, Instructions use = best_instructions());
void rate_correction(const HingeRows& rows, const double* dD, PartRates& rates, Instructions use = best_instructions());
void take_correction(const HingeRows& rows, const double* dD, const CorrectionParts& parts, const CentralAim* next,
                     double* field, Instructions use = best_instructions());

}  // namespace bregmax::internal
