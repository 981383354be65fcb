#pragma once

#include <string>

#include "bregmax/theory/approximate.hpp"

namespace bregmax::app {

// Measured errors and the bounds of Theorem 1 over K, both axes logarithmic.
std::string draw_sweep(const Sweep& sweep, const std::string& title);

}  // namespace bregmax::app
