#pragma once

#include "bregmax/methods/learned.hpp"

namespace bregmax {

// The squared Euclidean distance, with nothing learned: what every method is held against.
Learned learn_euclidean(const MatrixView& rows);

}  // namespace bregmax
