#include "methods/parameters.hpp"

#include <utility>

namespace bregmax::internal {

MethodParameter real_parameter(std::string name, std::string help, double standard, const Range& range,
                               std::vector<double> grid) {
  const auto& [low, high, low_included] = range;
  return {std::move(name), std::move(help), standard, low, high, low_included, false, {}, std::move(grid)};
}

MethodParameter whole_parameter(std::string name, std::string help, double standard, const Range& range,
                                std::vector<double> grid) {
  MethodParameter parameter = real_parameter(std::move(name), std::move(help), standard, range, std::move(grid));
  parameter.whole = true;
  return parameter;
}

MethodParameter choice_parameter(std::string name, std::string help, std::vector<std::string> choices, bool tunable) {
  MethodParameter parameter{.name = std::move(name), .help = std::move(help), .choices = std::move(choices)};
  for (std::size_t i = 0; tunable && i < parameter.choices.size(); ++i)
    parameter.grid.push_back(static_cast<double>(i));
  return parameter;
}

MethodParameter tuned(MethodParameter parameter) {
  parameter.tuned = true;
  return parameter;
}

MethodParameter of_shape(MethodParameter parameter) {
  parameter.of_shape = true;
  return parameter;
}

MethodParameter constraints_parameter() {
  return whole_parameter("constraints", "pairs drawn from labels; 0: 20 times the square of the number of classes", 0,
                         {0, 1e9});
}

std::vector<MethodParameter> margin_parameters() {
  return {whole_parameter("neighbours", "target neighbours of a row", 3, {1, 1e9}, {1, 3, 5, 7}),
          real_parameter("push", "weight of impostors against that of targets", 0.5, {0, 0.999999, false},
                         {0.1, 0.3, 0.5, 0.7, 0.9})};
}

}  // namespace bregmax::internal
