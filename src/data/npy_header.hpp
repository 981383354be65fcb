#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// What the header of an .npy file says, before it is checked against what is supported.
struct NpyHeader {
  std::string descr;  // such as "<f8"
  bool fortran_order = false;
  std::vector<Index> shape;
  std::size_t data_offset = 0;  // where the array begins
};

// Throws Error for a foreign, truncated or malformed header.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& source);

}  // namespace bregmax::internal
