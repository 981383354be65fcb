#pragma once

#include "bregmax/core/random.hpp"
#include "bregmax/core/run_control.hpp"
#include "theory/coordinate_generator.hpp"

namespace bregmax::internal {

// The largest q with q^dimension <= pieces.
Index cells_per_axis(Index pieces, Index dimension);

// The centres of q^d equal cubes that cover the box: every point of it is within R/q of one.
Matrix grid_anchors(const Box& box, Index cells);

// `count` points spread evenly at random over the box.
Matrix random_points(const Box& box, Index count, Random& random);
// The q^d points of a regular lattice over the box, its corners included; q >= 2.
Matrix lattice_points(const Box& box, Index per_axis);
// per_axis^dimension, or `most` + 1 where that is more than `most`.
Index lattice_size(Index per_axis, Index dimension, Index most);

// The centre of the box, then again and again the candidate x with the largest min_i D(x, anchor i) = phi(x) - h(x).
// Fewer than `pieces` where the candidates leave no error, or the run was stopped.
Matrix greedy_anchors(const CoordinateGenerator& generator, const Box& box, Index pieces, Index candidates,
                      std::uint64_t seed, const RunControl& control);

}  // namespace bregmax::internal
