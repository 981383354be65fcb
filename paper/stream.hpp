#pragma once

#include <cstdint>
#include <string_view>

namespace bregmax::internal {

// The stream of random numbers of a thing with a name, the same on every machine (FNV-1a).
constexpr std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace bregmax::internal
