#include "data/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "core/checks.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

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
        require(peek() != '[', "{}: holds a structured array; allowed: a plain array of numbers", source_);
        descr = read_string("the value of 'descr'");
      } else if (key == "fortran_order") {
        fortran_order = read_boolean();
      } else if (key == "shape") {
        shape = read_shape();
      } else {
        expect(false, fmt::format("unknown key {}", quoted_excerpt(key)));
      }
      expect(accept(',') || peek() == '}', "expected ',' or '}' after a value");
    }
    expect(peek() == '\0', "text after the closing '}'");
    expect(descr && fortran_order && shape, "expected the keys 'descr', 'fortran_order' and 'shape'");
    return {*descr, *fortran_order, *shape, 0};
  }

 private:
  void expect(bool holds, std::string_view reason) const {
    require(holds, "{}: malformed .npy header: {}", source_, reason);
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
  void expect(char wanted) { expect(accept(wanted), fmt::format("expected '{}'", wanted)); }

  std::string read_string(std::string_view what) {
    const char quote = peek();
    expect(quote == '\'' || quote == '"', fmt::format("expected {} in quotes", what));
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    expect(end != std::string_view::npos, "a string is not closed");
    at_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  bool read_boolean() {
    peek();
    const bool value = text_.substr(at_).starts_with("True");
    expect(value || text_.substr(at_).starts_with("False"), "'fortran_order' must be True or False");
    at_ += value ? 4 : 5;
    return value;
  }

  std::vector<Index> read_shape() {
    std::vector<Index> shape;
    expect('(');
    while (!accept(')')) {
      peek();
      Index size = -1;
      const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      expect(error == std::errc{} && size >= 0, "'shape' must be a tuple of sizes that fit into 63 bits");
      at_ = stop - text_.data();
      shape.push_back(size);
      accept('L');  // written by Python 2
      expect(accept(',') || peek() == ')', "expected ',' or ')' in 'shape'");
    }
    return shape;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

// Throws Error for a foreign, truncated or malformed header.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& source) {
  require(bytes.starts_with(kNpyMagic), "{}: not an .npy file (its first bytes differ)", source);
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
  const auto refuse_truncated = [&](std::size_t needed) {
    require(bytes.size() >= needed, "{}: truncated .npy header: found {} bytes; expected at least {}", source,
            bytes.size(), needed);
  };
  refuse_truncated(8);
  const std::size_t version = byte(6);
  require(version >= 1 && version <= 3, "{}: .npy format version {}.{}; allowed: 1 to 3", source, version, byte(7));
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

constexpr const char* kAllowedTypes = "float32, float64, integers of 8 to 64 bits, and bool";

// The number of type Number at `bytes`, as a double; `swap`: the bytes are in the other order than the machine's.
template <class Number>
double load_number(const char* bytes, bool swap) {
  std::array<char, sizeof(Number)> copy;
  std::memcpy(copy.data(), bytes, sizeof(Number));
  if (swap) std::ranges::reverse(copy);
  return static_cast<double>(std::bit_cast<Number>(copy));
}

struct NumberType {
  std::string_view name;  // kind and size, as in the header
  std::size_t bytes;
  double (*load)(const char* bytes, bool swap);
};

constexpr NumberType kNumberTypes[] = {
    {"f4", 4, load_number<float>},         {"f8", 8, load_number<double>},        {"i1", 1, load_number<std::int8_t>},
    {"i2", 2, load_number<std::int16_t>},  {"i4", 4, load_number<std::int32_t>},  {"i8", 8, load_number<std::int64_t>},
    {"u1", 1, load_number<std::uint8_t>},  {"u2", 2, load_number<std::uint16_t>}, {"u4", 4, load_number<std::uint32_t>},
    {"u8", 8, load_number<std::uint64_t>}, {"b1", 1, load_number<std::uint8_t>}};

// Larger integers are not all doubles.
constexpr double kLargestExactInteger = 9007199254740992.0;

// Before anything is allocated: the sizes in a header are not to be trusted.
void check_shape(const NpyHeader& header, std::size_t number_bytes, std::size_t found, const std::string& source) {
  require(header.shape.size() == 2, "{}: holds a {}-dimensional array; allowed: 2 dimensions (rows, features)", source,
          header.shape.size());
  const std::size_t rows = header.shape[0], cols = header.shape[1];
  require(rows > 0 && cols > 0, "{}: holds an empty array of shape ({}, {}); expected at least one row and one column",
          source, rows, cols);
  // The division comes first so that no product can overflow.
  const bool too_many = rows > found / number_bytes / cols;
  require(!too_many && rows * cols * number_bytes == found,
          "{}: {}: found {} bytes of data; expected {} x {} numbers of {} bytes", source,
          too_many ? "truncated .npy file" : "the .npy file goes on after its array", found, rows, cols, number_bytes);
}

}  // namespace

Matrix parse_npy(std::string_view bytes, const std::string& source) {
  const NpyHeader header = parse_npy_header(bytes, source);
  const std::string& descr = header.descr;
  const std::string_view name = std::string_view(descr).substr(std::min<std::size_t>(descr.size(), 1));
  const auto* const type = std::ranges::find(kNumberTypes, name, &NumberType::name);
  const bool known =
      type != std::end(kNumberTypes) && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  require(known && (descr[0] != '|' || type->bytes == 1), "{}: holds numbers of type {}; allowed: {}", source,
          quoted_excerpt(descr), kAllowedTypes);
  check_shape(header, type->bytes, bytes.size() - header.data_offset, source);

  Matrix matrix(header.shape[0], header.shape[1]);
  const char* data = bytes.data() + header.data_offset;
  const bool native_is_little = std::endian::native == std::endian::little;
  const bool swap = descr[0] != '=' && descr[0] != '|' && (descr[0] == '<') != native_is_little;
  const bool is_integer = name[0] != 'f';
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (Index c = 0; c < matrix.cols(); ++c) {
      const std::size_t place = header.fortran_order ? c * matrix.rows() + r : r * matrix.cols() + c;
      const double value = type->load(data + place * type->bytes, swap);
      require(!is_integer || std::abs(value) < kLargestExactInteger,
              "{}: row {}, column {} (from 0): found {:.0f}; allowed: integers below 2^53 in size, which doubles hold "
              "exactly",
              source, r, c, value);
      matrix(r, c) = value;
    }
  }
  return matrix;
}

}  // namespace bregmax::internal
