#pragma once

// Families of random problems that are hard on a solver, each for one reason.

#include <ostream>
#include <span>

#include "optimize/problems.hpp"

namespace bregmax::test {

struct Family {
  const char* name;
  LearningProblem (*make)(Random& random, Kind kind);
  // False: features differ by twelve powers of ten and hardly anything holds their slopes. Doubles are then too coarse
  // for some proofs, and a solve may end without one.
  bool always_solved = true;
  bool mixed_scales = false;  // features differ by many powers of ten
};

// For the names of tests.
inline std::ostream& operator<<(std::ostream& out, const Family& family) { return out << family.name; }

std::span<const Family> hard_families();

}  // namespace bregmax::test
