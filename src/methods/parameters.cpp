#include "methods/parameters.hpp"

#include <utility>

namespace bregmax::internal {

MethodParameter positive_parameter(std::string name, std::string help, double standard, std::vector<double> grid) {
  return {.name = std::move(name),
          .help = std::move(help),
          .standard = standard,
          .low_included = false,
          .grid = std::move(grid)};
}

MethodParameter choice_parameter(std::string name, std::string help, std::vector<std::string> choices) {
  return {.name = std::move(name), .help = std::move(help), .choices = std::move(choices)};
}

MethodParameter tunable_choice_parameter(std::string name, std::string help, std::vector<std::string> choices) {
  MethodParameter parameter = choice_parameter(std::move(name), std::move(help), std::move(choices));
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) parameter.grid.push_back(static_cast<double>(i));
  return parameter;
}

MethodParameter tuned(MethodParameter parameter) {
  parameter.tuned = true;
  return parameter;
}

MethodParameter constraints_parameter() {
  return {.name = "constraints",
          .help = "pairs drawn from labels; 0: 20 times the square of the number of classes",
          .high = 1e9,
          .whole = true};
}

std::vector<MethodParameter> margin_parameters() {
  return {{.name = "neighbours",
           .help = "target neighbours of a row",
           .standard = 3,
           .low = 1,
           .whole = true,
           .grid = {1, 3, 5, 7}},
          {.name = "push",
           .help = "weight of impostors against that of targets",
           .standard = 0.5,
           .high = 0.999999,
           .low_included = false,
           .grid = {0.1, 0.3, 0.5, 0.7, 0.9}}};
}

MethodParameter components_parameter(std::string of_what) {
  return {.name = "components", .help = std::move(of_what) + "; 0: as many as features", .high = 100000, .whole = true};
}

}  // namespace bregmax::internal
