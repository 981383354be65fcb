// Any bytes are either read as a matrix of the size that the input can hold or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bregmax/core/error.hpp"
#include "data/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const bregmax::Matrix matrix = bregmax::internal::parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (matrix.size() < 1 || static_cast<std::size_t>(matrix.size()) > size / 4) std::abort();
  } catch (const bregmax::Error&) {
  }
  return 0;
}
