#pragma once

#include "bregmax/core/random.hpp"
#include "optimize/gradient/parameters.hpp"

namespace bregmax::internal {

// Where the iterations start. Without a network phi is near ||z||^2 / d: the slopes are its tangents at random rows,
// halved, and G is half of it, in the first `rank` coordinates or, where there are fewer than features, in random
// directions. Layers of a network start as is usual (uniform, by the number of inputs), with a random generator on top.
Vector start_parameters(const ParameterLayout& layout, const MatrixView& rows, Random random);

}  // namespace bregmax::internal
