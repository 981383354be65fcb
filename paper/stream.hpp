#pragma once

#include <cstdint>
#include <string_view>

namespace bregmax::internal {

// The number of the random stream that belongs to a name, the same on every machine (FNV-1a).
constexpr std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace bregmax::internal
