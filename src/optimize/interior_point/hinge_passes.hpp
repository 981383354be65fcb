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
struct HingePasses {
  // Of a direction, once the cones have been aimed; and the way back to dzeta and dy.
  void (*eliminate)(const HingeRows& rows, double* field);
  void (*recover)(const HingeRows& rows, const double* dD);

  // What the passes of the same name do for both cones (see cone_passes.hpp), with elimination and recovery: only c is
  // kept of a correction.
  void (*aim_central)(const HingeRows& rows, const CentralAim& aim, double* field);
  void (*rate_correction)(const HingeRows& rows, const double* dD, PartRates& rates);
  void (*add_correction)(const HingeRows& rows, const double* dD, const CorrectionParts& parts);
  void (*add_and_aim_central)(const HingeRows& rows, const double* dD, const CorrectionParts& parts,
                              const CentralAim& aim, double* field);
};

// The fastest on this processor.
const HingePasses& hinge_passes();
// Those without instructions that not every processor has.
const HingePasses& portable_hinge_passes();

}  // namespace bregmax::internal
