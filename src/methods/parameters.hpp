#pragma once

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// Short ways to declare parameters, and the parameters that several methods share.

struct Range {
  double low = 0, high = std::numeric_limits<double>::infinity();
  bool low_included = true;
};
inline constexpr Range kPositive = {.low_included = false};

MethodParameter real_parameter(std::string name, std::string help, double standard, const Range& range = {},
                               std::vector<double> grid = {});
MethodParameter whole_parameter(std::string name, std::string help, double standard, const Range& range = {},
                                std::vector<double> grid = {});
// One of several names; the first is the standard. `tunable`: all of them are in the grid.
MethodParameter choice_parameter(std::string name, std::string help, std::vector<std::string> choices,
                                 bool tunable = false);
// Chosen by cross-validation unless a value is given.
MethodParameter tuned(MethodParameter parameter);
// Fixed by the model that a run goes on from.
MethodParameter of_shape(MethodParameter parameter);

MethodParameter constraints_parameter();           // of methods that draw pairs from labels
std::vector<MethodParameter> margin_parameters();  // of the losses of large margin neighbours

}  // namespace bregmax::internal
