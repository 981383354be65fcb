#pragma once

#include <string>
#include <string_view>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// 2-D arrays of float32, float64, integers or bool (as 0 and 1) in C or Fortran order, format versions 1 to 3.
Matrix parse_npy(std::string_view bytes, const std::string& source);

}  // namespace bregmax::internal
