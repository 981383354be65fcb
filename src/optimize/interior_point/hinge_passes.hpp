#pragma once

#include "optimize/interior_point/cone_passes.hpp"

namespace bregmax::internal {

// Loops over the hinges zeta >= margin + D[plus] - D[minus], zeta >= 0, each of which has a member in two cones. With
// all ordered pairs every dissimilar one is a hinge.
struct HingeRows {
  ConeRows over, nonneg;
  const double* inverse_sum = nullptr;            // 1 / (the sum of the two weights), 0 if both are 0
  const double* residual = nullptr;               // dual, of zeta
  const Index *plus = nullptr, *minus = nullptr;  // positions of the entries; plus may be kNoEntry
  double *dzeta = nullptr, *dzeta_accepted = nullptr;
};

// `right_side` and dD have a number per entry. The right-hand sides that are left after the elimination of zeta are
// added to `right_side`; dD is the change of the divergences.
//
// Elimination for a direction, after the cones have been aimed; and recovery of dzeta and dy.
void eliminate_zeta(const HingeRows& rows, double* right_side, Instructions use = best_instructions());
void recover_zeta(const HingeRows& rows, const double* dD, Instructions use = best_instructions());

// The passes of the same name in cone_passes.hpp, for both cones, with elimination and recovery. Only c of a correction
// is stored.
void aim_central(const HingeRows& rows, const CentralAim& aim, double* right_side,
                 Instructions use = best_instructions());
void rate_correction(const HingeRows& rows, const double* dD, PartRates& rates, Instructions use = best_instructions());
void take_correction(const HingeRows& rows, const double* dD, const CorrectionParts& parts, const CentralAim* next,
                     double* right_side, Instructions use = best_instructions());

}  // namespace bregmax::internal
