#pragma once

// Files that keep the state of a long run. Each solver has its own kind, which the first line of the file names with
// its version.

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

class Checksum {
 public:
  void add_bytes(const void* data, std::size_t size);
  // Number by number: structs have padding.
  template <class... Numbers>
  void add(Numbers... numbers) {
    static_assert((std::is_arithmetic_v<Numbers> && ...));
    (add_bytes(&numbers, sizeof(numbers)), ...);
  }
  // Of numbers in a row, after how many there are.
  template <class Items>
  void add_all(const Items& items) {
    static_assert(std::is_arithmetic_v<std::remove_cvref_t<decltype(*items.data())>>);
    add(static_cast<std::uint64_t>(items.size()));
    add_bytes(items.data(), static_cast<std::size_t>(items.size()) * sizeof(*items.data()));
  }
  std::uint64_t value() const { return sum_; }

 private:
  void mix(std::uint64_t word);

  std::uint64_t sum_ = 0xCBF29CE484222325ULL;
};

// Where the numbers lie that a checkpoint holds: address and bytes.
using RawParts = std::vector<std::pair<char*, std::size_t>>;

// Appends numbers, vectors and matrices.
template <class... Values>
void append(RawParts& parts, Values&... values) {
  const auto add = [&](auto& value) {
    if constexpr (std::is_arithmetic_v<std::remove_reference_t<decltype(value)>>) {
      parts.emplace_back(reinterpret_cast<char*>(&value), sizeof(value));
    } else {
      parts.emplace_back(reinterpret_cast<char*>(value.data()),
                         static_cast<std::size_t>(value.size()) * sizeof(*value.data()));
    }
  };
  (add(values), ...);
}

// The file: the mark (kind, a blank, version, a line end), the fingerprint, the numbers that the sizes of the parts
// follow from (at least one), a checksum of all this, the parts, a checksum of everything. Written completely or not at
// all. The fingerprint identifies the problem and the options that change the iterations.
void write_checkpoint(const std::string& path, std::string_view mark, std::uint64_t fingerprint,
                      const std::vector<Index>& shape, const RawParts& parts);

// Throws Error if there is a file that is not a checkpoint of this kind.
void check_checkpoint_target(const std::string& path, std::string_view mark);

// The same for both files of a run, before it is known which solver will write and read them; they may be empty. The
// checkpoint must be writable, and the one to resume from must be there.
void check_checkpoint_files(const std::string& checkpoint, const std::string& resume);

// Reads in two steps, since the sizes of the parts depend on the shape. Throws Error if the file is not a complete
// checkpoint of this problem. The parts may then have been overwritten, and must not be used.
class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, std::string_view mark, std::uint64_t fingerprint);
  const std::vector<Index>& shape() const { return shape_; }
  void read(const RawParts& parts);
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  void take(void* to, std::size_t size);
  void check_sum();

  std::string path_;
  std::ifstream file_;
  Checksum sum_;  // of all that was taken
  std::vector<Index> shape_;
};

}  // namespace bregmax::internal
