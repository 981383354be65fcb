#include <fmt/format.h>

#include <memory>

#include "bregmax/methods/registry.hpp"
#include "commands/commands.hpp"
#include "options/options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kMethodsExamples = R"(
Examples:
  bregmax methods
  bregmax fit builtin:iris --method itml --out itml.bregmax
  bregmax fit builtin:iris --method itml --method-parameter gamma=10 --out itml.bregmax
  bregmax fit builtin:iris --method lmnn --method-parameter push=auto --method-parameter neighbours=3,5)";

std::string supervision_of(const Method& method) {
  std::string text;
  const auto add = [&text](bool accepted, const char* name) {
    if (accepted) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(method.from_labels, "labels");
  add(method.from_comparisons, "comparisons");
  add(method.from_pairs, "pairs");
  add(method.from_targets, "targets");
  return text;
}

std::string default_of(const Method& method, const MethodParameter& parameter) {
  const std::string standard = parameter.text(parameter.standard);
  if (parameter.tuned && method.learns_from_items) return "default: auto";
  if (parameter.tuned) return fmt::format("default from labels: auto, {} otherwise", standard);
  return fmt::format("default {}{}", standard, parameter.grid.empty() ? "" : ", or auto");
}

Json parameters_as_json(const Method& method) {
  Json list = Json::array();
  for (const MethodParameter& parameter : method.parameters) {
    Json grid = Json::array();
    for (const double value : parameter.grid) {
      grid.push_back(parameter.choices.empty() ? Json(value) : Json(parameter.text(value)));
    }
    list.push_back({{"name", parameter.name},
                    {"help", parameter.help},
                    {"allowed", parameter.allowed()},
                    {"default", parameter.text(parameter.standard)},
                    {"grid", grid},
                    {"tuned", parameter.tuned}});
  }
  return list;
}

void print_methods_as_json() {
  Json list = Json::array();
  for (const Method& method : all_methods()) {
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
  for (const Method& method : all_methods()) {
    print(fmt::format("{:<12} {}\n{:12} learns from {}\n", method.name, method.summary, "", supervision_of(method)));
    for (const MethodParameter& parameter : method.parameters) {
      print(fmt::format("{:12} {}: {} [{}; {}]\n", "", parameter.name, parameter.help, parameter.allowed(),
                        default_of(method, parameter)));
    }
  }
  print(
      "\nUse them as bregmax fit DATA --method NAME --method-parameter PARAMETER=VALUE; pbdl, the default, has options "
      "of\n"
      "its own for these (--lambda, --smoothing, --pieces, --lipschitz).\n"
      "auto: chosen by cross-validation, as are several values with commas between them.\n");
}

}  // namespace

void add_methods(CLI::App& program, Action& chosen) {
  add_listing(program, {"methods", "the methods that fit knows, and their parameters", kMethodsExamples}, print_methods,
              print_methods_as_json, chosen);
}

}  // namespace bregmax::app
