#include "data/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "bregmax/core/error.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

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

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& source) {
  if (!bytes.starts_with(kMagic)) throw Error(fmt::format("{}: not an .npy file (its first bytes differ)", source));
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

}  // namespace bregmax::internal
