#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// Seeded random numbers that are the same on every platform and compiler (the distributions of the
// standard library are not). The generator is xoshiro256++ seeded through splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next_bits();
  double uniform();                 // [0, 1)
  double normal();                  // mean 0, standard deviation 1
  Index uniform_index(Index size);  // 0 .. size - 1; size >= 1
  std::vector<Index> permutation(Index size);

  // An independent generator for one part of the work, so that results do not depend on the order of the parts.
  Random fork(std::uint64_t stream) const;

  template <class Container>
  void shuffle(Container& items) {
    for (Index i = static_cast<Index>(items.size()) - 1; i > 0; --i) {
      using std::swap;
      swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(uniform_index(i + 1))]);
    }
  }

 private:
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

}  // namespace bregmax
