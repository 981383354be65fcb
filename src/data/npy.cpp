#include "data/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "bregmax/core/error.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

using internal::quoted_excerpt;

// What the header of an .npy file says, before it is checked against what is supported.
struct NpyHeader {
  std::string descr;  // such as "<f8"
  bool fortran_order = false;
  std::vector<Index> shape;
  std::size_t data_offset = 0;  // where the array begins
};

// Reads the Python dictionary of the header: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  NpyHeader read() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<Index>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = read_string("a key");
      expect(':');
      if (key == "descr") {
        if (peek() == '[') {
          throw Error(fmt::format("{}: holds a structured array; allowed: float32 or float64", source_));
        }
        descr = read_string("the value of 'descr'");
      } else if (key == "fortran_order") {
        fortran_order = read_boolean();
      } else if (key == "shape") {
        shape = read_shape();
      } else {
        fail(fmt::format("unknown key {}", quoted_excerpt(key)));
      }
      if (!accept(',') && peek() != '}') fail("expected ',' or '}' after a value");
    }
    if (peek() != '\0') fail("text after the closing '}'");
    if (!descr || !fortran_order || !shape) fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    return {*descr, *fortran_order, *shape, 0};
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}: malformed .npy header: {}", source_, reason));
  }

  // The next character that is not a space; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("expected '{}'", wanted));
  }

  std::string read_string(std::string_view what) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(fmt::format("expected {} in quotes", what));
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a string is not closed");
    at_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  bool read_boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("'fortran_order' must be True or False");
  }

  std::vector<Index> read_shape() {
    std::vector<Index> shape;
    expect('(');
    while (!accept(')')) {
      peek();
      Index size = -1;
      const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc{} || size < 0) fail("'shape' must be a tuple of sizes that fit into 63 bits");
      at_ = static_cast<std::size_t>(stop - text_.data());
      shape.push_back(size);
      accept('L');  // written by Python 2
      if (!accept(',') && peek() != ')') fail("expected ',' or ')' in 'shape'");
    }
    return shape;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

// Throws Error for a foreign, truncated or malformed header.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& source) {
  if (!bytes.starts_with(kNpyMagic)) throw Error(fmt::format("{}: not an .npy file (its first bytes differ)", source));
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const auto refuse_truncated = [&](std::size_t needed) {
    if (bytes.size() >= needed) return;
    throw Error(
        fmt::format("{}: truncated .npy header: found {} bytes; expected at least {}", source, bytes.size(), needed));
  };
  refuse_truncated(8);
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    throw Error(fmt::format("{}: .npy format version {}.{}; allowed: 1 to 3", source, version, byte(7)));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t header_begin = 8 + length_bytes;
  refuse_truncated(header_begin);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  refuse_truncated(header_begin + length);
  NpyHeader header = DictionaryReader(bytes.substr(header_begin, length), source).read();
  header.data_offset = header_begin + length;
  return header;
}

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

void check_shape(const NpyHeader& header, const std::string& source) {
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
void check_length(const NpyHeader& header, std::size_t number_bytes, std::size_t found, const std::string& source) {
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
  const NpyHeader header = parse_npy_header(bytes, source);
  const std::string& descr = header.descr;
  const bool is_float = descr.size() == 3 && (descr[0] == '<' || descr[0] == '>' || descr[0] == '=') &&
                        descr[1] == 'f' && (descr[2] == '4' || descr[2] == '8');
  if (!is_float) {
    throw Error(fmt::format("{}: holds numbers of type {}; allowed: float32 or float64 (<f4, <f8, >f4, >f8)", source,
                            quoted_excerpt(descr)));
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
