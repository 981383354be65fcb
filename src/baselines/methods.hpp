#pragma once

#include "bregmax/baselines/registry.hpp"

namespace bregmax::internal {

// One a method, each in the file of the method; src/baselines/registry.cpp lists them.
BaselineMethod euclidean_method();

}  // namespace bregmax::internal
