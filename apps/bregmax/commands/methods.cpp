#include <fmt/format.h>

#include "bregmax/methods/registry.hpp"
#include "commands/commands.hpp"
#include "core/text.hpp"
#include "learn/as_json.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kMethodsExamples = R"(
Examples:
  bregmax methods
  bregmax fit builtin:iris --method itml --out itml.bregmax
  bregmax fit builtin:iris --method itml --method-parameter gamma=10 --out itml.bregmax
  bregmax fit builtin:iris --method lmnn --method-parameter push=auto --method-parameter neighbours=3,5)";

std::string default_of(const MethodParameter& parameter) {
  const std::string standard = parameter.text(parameter.standard);
  if (parameter.tuned) return "default: auto";
  if (parameter.tuned_from_items) return fmt::format("default: {} from labels, else auto", standard);
  return fmt::format("default {}{}", standard, parameter.grid.empty() ? "" : ", or auto");
}

ExitCode run_methods(const ListingRequest& request) {
  const Json list = internal::methods_as_json();
  std::string text;
  for (std::size_t m = 0; m < list.size(); ++m) {
    const Method& method = all_methods()[m];
    text += fmt::format("{:<12} {}\n{:12} learns from {}\n", method.name, method.summary, "",
                        list[m]["supervision"].get<std::string>());
    for (const MethodParameter& parameter : method.parameters) {
      text += fmt::format("{:12} {}: {} [{}; {}]\n", "", parameter.name, parameter.help, parameter.allowed(),
                          default_of(parameter));
    }
  }
  text +=
      "\nWithout --method, fit chooses among " + internal::joined(automatic_methods(), ", ") +
      " by cross-validation.\n"
      "Use them as bregmax fit DATA --method NAME --method-parameter PARAMETER=VALUE; pbdl has options of its own for\n"
      "these (--lambda, --smoothing, --pieces, --lipschitz).\n"
      "auto: chosen by cross-validation, as are several values with commas between them.\n";
  return print_report(request.json, {{"methods", list}}, text);
}

}  // namespace

void add_methods(CLI::App& program, Action& chosen) {
  auto [options, request] = add_command(
      program, {"methods", "the methods that fit knows, and their parameters", kMethodsExamples}, run_methods, chosen);
  options.json(request->json);
}

}  // namespace bregmax::app
