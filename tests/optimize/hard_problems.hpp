#pragma once

// Families of random problems that are hard on a solver, each for one reason.

#include <ostream>
#include <span>

#include "optimize/problems.hpp"

namespace bregmax::test {

struct Family {
  const char* name;
  LearningProblem (*make)(Random& random, Kind kind);
  // 1: the solver proves every one of them optimal. Less: a known limit of it; at least this share is, and of the rest
  // it says so by their status.
  double least_solved = 1;
};

// For the names of tests.
inline std::ostream& operator<<(std::ostream& out, const Family& family) { return out << family.name; }

std::span<const Family> hard_families();

}  // namespace bregmax::test
