#include "bregmax/core/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bregmax {
namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed), state_{} {
  std::uint64_t state = seed;
  for (auto& word : state_) word = splitmix64(state);
}

std::uint64_t Random::next_bits() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next_bits() >> 11) * 0x1.0p-53; }

double Random::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  // Box-Muller; 1 - uniform() is in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

Index Random::uniform_index(Index size) {
  // Reject the last, incomplete block of values, so that every index is equally likely.
  const auto count = static_cast<std::uint64_t>(size);
  const std::uint64_t rejected_below = (0 - count) % count;
  std::uint64_t bits = next_bits();
  while (bits < rejected_below) bits = next_bits();
  return static_cast<Index>(bits % count);
}

std::vector<Index> Random::permutation(Index size) {
  std::vector<Index> order(size);
  std::iota(order.begin(), order.end(), Index{0});
  shuffle(order);
  return order;
}

Random Random::fork(std::uint64_t stream) const {
  std::uint64_t state = seed_ ^ 0x5851f42d4c957f2dULL;
  const std::uint64_t mixed_seed = splitmix64(state);
  state = mixed_seed + stream;
  return Random(splitmix64(state));
}

}  // namespace bregmax
