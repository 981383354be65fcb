#include "model/container.hpp"

#include <bit>
#include <cstring>

namespace bregmax::internal {
namespace {

constexpr std::string_view kMagic = "BREGMAX\n";
static_assert(kMagic.size() == kContainerStart);
constexpr std::size_t kVersionAt = 8, kLengthAt = 16, kChecksumAt = 24, kMetadataLengthAt = 32, kHeaderSize = 40;

std::uint64_t load_word(const char* from) {
  std::uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | static_cast<unsigned char>(from[i]);
  return word;
}

void store_word(std::uint64_t word, char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(word >> (8 * i) & 0xff);
}

// Over all 64-bit words of the file except the checksum itself. Every step is invertible, so that a change within one
// word is always detected.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    if (at == kChecksumAt) continue;
    hash = (hash ^ load_word(bytes.data() + at)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

void check_frame(std::string_view bytes, std::uint32_t newest_version) {
  require(may_start_container(bytes), "not a bregmax model file");
  require(bytes.size() >= kHeaderSize, "truncated: {} bytes, and the header alone has {}", bytes.size(), kHeaderSize);
  const std::uint64_t length = load_word(bytes.data() + kLengthAt);
  require(bytes.size() >= length, "truncated: {} bytes of {}", bytes.size(), length);
  require(bytes.size() == length && length % 8 == 0, "corrupted: {} bytes where the header says {}", bytes.size(),
          length);
  require(checksum(bytes) == load_word(bytes.data() + kChecksumAt), "corrupted: the checksum does not match");
  // After the checksum, which all versions share: a damaged version number is a corrupted file, not a newer one.
  const std::uint64_t version = load_word(bytes.data() + kVersionAt);
  require(version <= newest_version, "newer: written in format version {}, and this program reads versions up to {}",
          version, newest_version);
  require(version > 0, "invalid: format version 0");
}

// Number of entries, or an Error when that is more than `available`; the product cannot overflow on the way.
std::uint64_t entries_of(const std::vector<std::uint64_t>& shape, std::uint64_t available) {
  std::uint64_t entries = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return 0;
    require(extent <= available / entries, "invalid: an array is larger than the file");
    entries *= extent;
  }
  require(entries <= available, "invalid: an array is larger than the file");
  return entries;
}

void read_arrays(std::string_view data, Container& container) {
  for (const auto& entry : container.metadata.at("arrays")) {
    const auto& shape = entry.at("shape");
    require(shape.is_array() && shape.size() <= 2, "invalid: an array does not have 0, 1 or 2 dimensions");
    Array array;
    for (const auto& extent : shape) {
      require(extent.is_number_unsigned(), "invalid: a size of an array is not a whole number");
      array.shape.push_back(extent.get<std::uint64_t>());
    }
    const std::uint64_t entries = entries_of(array.shape, data.size() / 8);
    array.values.resize(entries);
    for (std::uint64_t i = 0; i < entries; ++i) array.values[i] = std::bit_cast<double>(load_word(data.data() + 8 * i));
    data.remove_prefix(8 * entries);
    const auto name = entry.at("name").get<std::string>();
    const bool fresh = container.arrays.emplace(name, std::move(array)).second;
    require(fresh, "invalid: two arrays are named '{}'", name);
  }
  require(data.empty(), "invalid: the arrays are shorter than the file");
}

const Array& find(const Container& container, const std::string& name, std::size_t dimensions) {
  const auto found = container.arrays.find(name);
  require(found != container.arrays.end(), "invalid: the array '{}' is missing", name);
  const std::size_t given = found->second.shape.size();
  require(given == dimensions, "invalid: the array '{}' has {} dimensions instead of {}", name, given, dimensions);
  return found->second;
}

}  // namespace

void Container::put(const std::string& name, double value) { arrays[name] = {{}, {value}}; }

void Container::put(const std::string& name, const Vector& values) {
  arrays[name] = {{static_cast<std::uint64_t>(values.size())}, {values.data(), values.data() + values.size()}};
}

void Container::put(const std::string& name, const Matrix& values) {
  arrays[name] = {{static_cast<std::uint64_t>(values.rows()), static_cast<std::uint64_t>(values.cols())},
                  {values.data(), values.data() + values.size()}};
}

double Container::number(const std::string& name) const { return find(*this, name, 0).values.front(); }

Vector Container::vector(const std::string& name) const {
  const Array& array = find(*this, name, 1);
  return Eigen::Map<const Vector>(array.values.data(), std::ssize(array.values));
}

Matrix Container::matrix(const std::string& name) const {
  const Array& array = find(*this, name, 2);
  // With no entries the other extent may be any number, which must not reach an allocation.
  require(!array.values.empty(), "invalid: the array '{}' is empty", name);
  return Eigen::Map<const Matrix>(array.values.data(), array.shape[0], array.shape[1]);
}

std::string write_container(const Container& container, std::uint32_t version) {
  nlohmann::json metadata = container.metadata;
  metadata["arrays"] = nlohmann::json::array();
  for (const auto& [name, array] : container.arrays) {
    metadata["arrays"].push_back({{"name", name}, {"shape", array.shape}});
  }
  // Column names may come from files in any encoding; what is not UTF-8 becomes U+FFFD.
  std::string text = metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');

  std::string bytes(kHeaderSize, '\0');
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store_word(version, bytes.data() + kVersionAt);
  store_word(text.size(), bytes.data() + kMetadataLengthAt);
  bytes += text;
  for (const auto& [name, array] : container.arrays) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + 8 * array.values.size());
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      store_word(std::bit_cast<std::uint64_t>(array.values[i]), bytes.data() + begin + 8 * i);
    }
  }
  seal(bytes);
  return bytes;
}

bool may_start_container(std::string_view bytes) {
  return bytes.substr(0, kMagic.size()) == kMagic.substr(0, bytes.size());
}

Container read_container(std::string_view bytes, std::uint32_t newest_version) {
  check_frame(bytes, newest_version);
  const std::uint64_t text_length = load_word(bytes.data() + kMetadataLengthAt);
  require(text_length <= bytes.size() - kHeaderSize && text_length % 8 == 0,
          "invalid: the length of the metadata is {}", text_length);
  const std::string_view text = bytes.substr(kHeaderSize, text_length);
  Container container;
  try {
    container.metadata = nlohmann::json::parse(text);
    require(container.metadata.is_object(), "invalid: the metadata is not a JSON object");
    read_arrays(bytes.substr(kHeaderSize + text_length), container);
  } catch (const nlohmann::json::exception& error) {
    fail("invalid metadata: {}", error.what());
  }
  return container;
}

void seal(std::string& bytes) {
  if (bytes.size() < kHeaderSize) return;
  store_word(bytes.size(), bytes.data() + kLengthAt);
  store_word(checksum(bytes), bytes.data() + kChecksumAt);
}

}  // namespace bregmax::internal
