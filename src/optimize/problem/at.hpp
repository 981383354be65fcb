#pragma once

#include <cstddef>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// An Index as the subscript of a std::vector.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace bregmax::internal
