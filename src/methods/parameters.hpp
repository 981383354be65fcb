#pragma once

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// Declarations of parameters, those that several methods share among them.

// A number > 0.
MethodParameter positive_parameter(std::string name, std::string help, double standard, std::vector<double> grid = {});
// One of several names; the first is the standard.
MethodParameter choice_parameter(std::string name, std::string help, std::vector<std::string> choices);
// The same, with all of them in the grid.
MethodParameter tunable_choice_parameter(std::string name, std::string help, std::vector<std::string> choices);
// Chosen by cross-validation unless a value is given.
MethodParameter tuned(MethodParameter parameter);

MethodParameter constraints_parameter();           // of methods that draw pairs from labels
std::vector<MethodParameter> margin_parameters();  // of the losses of large margin neighbours
MethodParameter components_parameter(std::string of_what);

}  // namespace bregmax::internal
