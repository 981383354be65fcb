#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/theory/approximate.hpp"
#include "theory/coordinate_generator.hpp"

namespace bregmax::internal {

// The largest errors of a max-affine approximator that are found on the box and on the inner box: at lattice points
// (where cells of a grid meet, so that errors are largest), at random points, and by climbing from the worst of them.
struct MeterPlan {
  Box box;
  double margin = 0;
  Index cells = 0;  // of the grid per axis; 0: the anchors are no grid
  Index samples = 0;
  std::uint64_t seed = 0;
};
ApproximationErrors largest_errors(const CoordinateGenerator& generator, const MaxAffine& approximator,
                                   const MeterPlan& plan, const RunControl& control);

}  // namespace bregmax::internal
