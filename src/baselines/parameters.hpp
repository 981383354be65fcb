#pragma once

#include "bregmax/baselines/registry.hpp"

namespace bregmax::internal {

// Declarations of parameters, those that several methods share among them.

// A number > 0.
BaselineParameter positive_parameter(std::string name, std::string help, double standard,
                                     std::vector<double> grid = {});
// One of several names; the first is the standard.
BaselineParameter choice_parameter(std::string name, std::string help, std::vector<std::string> choices);
// The same, with all of them in the grid.
BaselineParameter tunable_choice_parameter(std::string name, std::string help, std::vector<std::string> choices);
// Chosen by cross-validation unless a value is given.
BaselineParameter tuned(BaselineParameter parameter);

BaselineParameter constraints_parameter();           // of methods that draw pairs from labels
std::vector<BaselineParameter> margin_parameters();  // of the losses of large margin neighbours
BaselineParameter components_parameter(std::string of_what);

}  // namespace bregmax::internal
