#include <fmt/format.h>

#include <memory>

#include "bregmax/baselines/registry.hpp"
#include "commands.hpp"
#include "method_report.hpp"
#include "options.hpp"
#include "output.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kMethodsExamples = R"(
Examples:
  bregmax methods
  bregmax fit builtin:iris --method itml --method-parameter gamma=10 --out itml.bregmax)";

std::string supervision_of(const BaselineMethod& method) {
  std::string text;
  const auto add = [&text](bool accepted, const char* name) {
    if (accepted) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(method.from_labels, "labels");
  add(method.from_pairs, "pairs");
  add(method.from_targets, "targets");
  return text;
}

Json parameters_as_json(const BaselineMethod& method) {
  Json list = Json::array();
  for (const BaselineParameter& parameter : method.parameters) {
    Json grid = Json::array();
    for (const double value : parameter.grid) {
      grid.push_back(parameter.choices.empty() ? Json(value) : Json(parameter_text(parameter, value)));
    }
    list.push_back({{"name", parameter.name},
                    {"help", parameter.help},
                    {"allowed", parameter.allowed()},
                    {"default", parameter_text(parameter, parameter.standard)},
                    {"grid", grid}});
  }
  return list;
}

void print_methods_as_json() {
  Json list = Json::array();
  for (const BaselineMethod& method : baseline_methods()) {
    list.push_back({{"name", method.name},
                    {"summary", method.summary},
                    {"supervision", supervision_of(method)},
                    {"tolerance", method.limits.tolerance},
                    {"max_iterations", method.limits.max_iterations},
                    {"parameters", parameters_as_json(method)}});
  }
  print_json({{"methods", list}});
}

void print_methods() {
  for (const BaselineMethod& method : baseline_methods()) {
    print(fmt::format("{:<12} {}\n{:12} learns from {}\n", method.name, method.summary, "", supervision_of(method)));
    for (const BaselineParameter& parameter : method.parameters) {
      print(fmt::format("{:12} {}: {} [{}; default {}]\n", "", parameter.name, parameter.help, parameter.allowed(),
                        parameter_text(parameter, parameter.standard)));
    }
  }
  print("\nUse them as bregmax fit DATA --method NAME --method-parameter PARAMETER=VALUE.\n");
}

}  // namespace

void add_methods(CLI::App& program, Action& chosen) {
  add_listing(program, {"methods", "the classical methods that fit knows, and their parameters", kMethodsExamples},
              print_methods, print_methods_as_json, chosen);
}

}  // namespace bregmax::app
