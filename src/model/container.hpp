#pragma once

// The frame of a model file: a header that every version of the format shares, JSON text, and arrays of doubles.
// docs/formats.md describes it byte by byte.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checks.hpp"

namespace bregmax::internal {

struct Array {
  std::vector<std::uint64_t> shape;  // empty: one number
  std::vector<double> values;        // row by row
};

// Everything that is a real number goes into an array, so that infinity, NaN and every last bit survive; the JSON
// holds texts, integers and the structure.
struct Container {
  nlohmann::json metadata = nlohmann::json::object();
  std::map<std::string, Array> arrays;

  void put(const std::string& name, double value);
  void put(const std::string& name, const Vector& values);
  void put(const std::string& name, const Matrix& values);

  bool has(const std::string& name) const { return arrays.contains(name); }
  // Throw Error when the array is missing or has another number of dimensions.
  double number(const std::string& name) const;
  Vector vector(const std::string& name) const;
  Matrix matrix(const std::string& name) const;
};

// Reads a whole number >= 0 of the JSON object `owner`. Throws Error when it is something else, or too large.
template <class Integer>
void read_count(const nlohmann::json& object, const char* owner, const char* name, Integer& value) {
  const nlohmann::json& given = object.at(name);
  require(given.is_number_unsigned() && std::in_range<Integer>(given.get<std::uint64_t>()),
          "invalid: {}.{} is not a whole number >= 0 that fits", owner, name);
  value = given.get<Integer>();
}

std::string write_container(const Container& container, std::uint32_t version);

// Whether these may be the first bytes of a model file: checked before the rest of it is read.
bool may_start_container(std::string_view bytes);
inline constexpr std::size_t kContainerStart = 8;  // bytes to look at

// Throws Error saying whether the bytes are foreign, truncated, corrupted, of a newer version or invalid.
Container read_container(std::string_view bytes, std::uint32_t newest_version);

// Writes length and checksum into the header. Declared here so that tests can alter a file and pass the checksum.
void seal(std::string& bytes);

}  // namespace bregmax::internal
