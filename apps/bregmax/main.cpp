#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/blas_kernels.hpp"
#include "commands/commands.hpp"
#include "core/edit_distance.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

// A caller's mistake is exactly one line on standard error.
ExitCode report_mistake(std::string message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return say_mistake("bregmax: error: " + message);
}

// Replaces a message of CLI11 that counts values ("--lambda: 1 required V missing").
std::string explain_count(const std::string& message) {
  const std::string option = message.substr(0, message.find(':'));
  const bool missing = message.find("missing") != std::string::npos;
  return option + (missing ? " needs a value" : " was given more than once");
}

// CLI11 would call an unknown command an unexpected argument.
void check_command_name(const CLI::App& program, int argc, char** argv) {
  require(argc >= 2, "no command was given; bregmax --help lists them");
  const std::string name = argv[1];
  if (name.starts_with("-")) {
    if (program.get_option_no_throw(name) != nullptr) return;
    fail("there is no option {} before a command; bregmax --help lists the commands", name);
  }
  std::string known;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return;
    if (!command->get_group().empty()) known += (known.empty() ? "" : ", ") + command->get_name();
  }
  fail("there is no command '{}'; there are {}", name, known);
}

// CLI11 would say of a mistyped option that some argument is unexpected, or that another one is missing.
std::optional<std::string> explain_unknown_option(const CLI::App& program, int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  const std::vector<const CLI::App*> commands =
      program.get_subcommands([&](const CLI::App* one) { return one->get_name() == argv[1]; });
  if (commands.empty()) return std::nullopt;
  const CLI::App* command = commands.front();
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::string name(argument.substr(0, argument.find('=')));
    if (!name.starts_with("--") || name == "--" || command->get_option_no_throw(name) != nullptr) continue;
    std::string nearest;
    std::size_t fewest = 3;  // a name that differs by 3 letters is another word
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& known : option->get_lnames()) {
        const bool begins = known.starts_with(name.substr(2)) && name.size() > 4;
        const std::size_t edits = begins ? 1 : internal::edit_distance(name.substr(2), known);
        if (edits >= fewest) continue;
        fewest = edits;
        nearest = known;
      }
    }
    const std::string meant = nearest.empty() ? "" : fmt::format("; did you mean --{}?", nearest);
    return fmt::format("there is no option {}{} (bregmax {} --help lists them)", name, meant, command->get_name());
  }
  return std::nullopt;
}

ExitCode run(int argc, char** argv) {
  CLI::App program(
      "Learn a Bregman divergence from comparisons, pairs, labels or target values, with a proof of\n"
      "optimality, and use it.",
      "bregmax");
  program.formatter(help_formatter());
  program.set_version_flag("--version", std::string("bregmax ") + BREGMAX_VERSION, "print the version");
  program.require_subcommand(1);
  Action chosen;
  for (AddCommand* add :
       {add_demo, add_compare, add_fit, add_show, add_divergence, add_evaluate, add_rank, add_cluster, add_classify,
        add_predict, add_bounds, add_approximate, add_reproduce, add_methods, add_datasets, add_help_markdown}) {
    add(program, chosen);
  }
  try {
    check_command_name(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    program.exit(request);
    flush_output();
    return kDone;
  } catch (const CLI::ArgumentMismatch& mistake) {
    return report_mistake(explain_count(mistake.what()));
  } catch (const CLI::ParseError& mistake) {
    return report_mistake(explain_unknown_option(program, argc, argv).value_or(mistake.what()));
  }
  const ExitCode code = chosen();
  flush_output();
  return code;
}

}  // namespace
}  // namespace bregmax::app

int main(int argc, char** argv) {
  using bregmax::app::report_mistake;
  try {
    bregmax::restart_with_better_blas_kernels(argv);
    return bregmax::app::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report_mistake("there is not enough memory for data of this size");
  } catch (const std::exception& error) {
    return report_mistake(error.what());
  }
}
