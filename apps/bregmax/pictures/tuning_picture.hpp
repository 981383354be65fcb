#pragma once

#include <string>

#include "bregmax/model/tuning_record.hpp"

namespace bregmax::app {

// An SVG picture: the score that chose over lambda, one curve per smoothing, for the chosen values of all else. Throws
// Error when fewer than two lambdas were tried.
std::string draw_tuning(const TuningRecord& record);

}  // namespace bregmax::app
