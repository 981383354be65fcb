#include "bregmax/data/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "bregmax/core/error.hpp"
#include "data/npy_header.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

template <class Number, bool kSwapBytes>
Number load_number(const char* bytes) {
  std::array<char, sizeof(Number)> copy;
  std::memcpy(copy.data(), bytes, sizeof(Number));
  if constexpr (kSwapBytes) std::reverse(copy.begin(), copy.end());
  return std::bit_cast<Number>(copy);
}

template <class Number, bool kSwapBytes>
void copy_array(const char* bytes, bool fortran_order, Matrix& matrix) {
  const auto load = [bytes](Index i) {
    return static_cast<double>(load_number<Number, kSwapBytes>(bytes + static_cast<std::size_t>(i) * sizeof(Number)));
  };
  if (!fortran_order) {
    for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = load(i);
    return;
  }
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (Index c = 0; c < matrix.cols(); ++c) matrix(r, c) = load(c * matrix.rows() + r);
  }
}

void check_shape(const internal::NpyHeader& header, const std::string& source) {
  if (header.shape.size() != 2) {
    throw Error(fmt::format("{}: holds a {}-dimensional array; allowed: 2 dimensions (rows, features)", source,
                            header.shape.size()));
  }
  if (header.shape[0] == 0 || header.shape[1] == 0) {
    throw Error(fmt::format("{}: holds an empty array of shape ({}, {}); expected at least one row and one column",
                            source, header.shape[0], header.shape[1]));
  }
}

// Before anything is allocated: the sizes in a header are not to be trusted.
void check_length(const internal::NpyHeader& header, std::size_t number_bytes, std::size_t found,
                  const std::string& source) {
  const auto rows = static_cast<std::size_t>(header.shape[0]);
  const auto cols = static_cast<std::size_t>(header.shape[1]);
  // The division comes first so that no product can overflow.
  const bool too_many = rows > found / number_bytes / cols;
  if (!too_many && rows * cols * number_bytes == found) return;
  throw Error(fmt::format("{}: {}: found {} bytes of data; expected {} x {} numbers of {} bytes", source,
                          too_many ? "truncated .npy file" : "the .npy file goes on after its array", found, rows, cols,
                          number_bytes));
}

}  // namespace

Matrix parse_npy(std::string_view bytes, const std::string& source) {
  const internal::NpyHeader header = internal::parse_npy_header(bytes, source);
  const std::string& descr = header.descr;
  const bool is_float = descr.size() == 3 && (descr[0] == '<' || descr[0] == '>' || descr[0] == '=') &&
                        descr[1] == 'f' && (descr[2] == '4' || descr[2] == '8');
  if (!is_float) {
    throw Error(fmt::format("{}: holds numbers of type {}; allowed: float32 or float64 (<f4, <f8, >f4, >f8)", source,
                            internal::quoted_excerpt(descr)));
  }
  check_shape(header, source);
  const bool is_double = descr[2] == '8';
  check_length(header, is_double ? 8 : 4, bytes.size() - header.data_offset, source);

  Matrix matrix(header.shape[0], header.shape[1]);
  const char* data = bytes.data() + header.data_offset;
  const bool native_is_little = std::endian::native == std::endian::little;
  const bool swap = descr[0] != '=' && (descr[0] == '<') != native_is_little;
  const auto copy = is_double ? (swap ? copy_array<double, true> : copy_array<double, false>)
                              : (swap ? copy_array<float, true> : copy_array<float, false>);
  copy(data, header.fortran_order, matrix);
  return matrix;
}

}  // namespace bregmax
