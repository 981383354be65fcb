#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "bregmax/core/error.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "output.hpp"

namespace bregmax::app {
namespace {

// A caller's mistake is exactly one line on standard error.
ExitCode report_mistake(std::string message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  std::replace(message.begin(), message.end(), '\n', ' ');
  say("bregmax: error: " + message);
  return kMistake;
}

// CLI11 counts values ("--lambda: 1 required V missing"); this says what is wrong.
std::string explain_count(const std::string& message) {
  const std::string option = message.substr(0, message.find(':'));
  const bool missing = message.find("missing") != std::string::npos;
  return option + (missing ? " needs a value" : " was given more than once");
}

void add_commands(CLI::App& program, Action& chosen) {
  add_demo(program, chosen);
  add_fit(program, chosen);
  add_show(program, chosen);
  add_divergence(program, chosen);
  add_evaluate(program, chosen);
  add_rank(program, chosen);
  add_cluster(program, chosen);
  add_classify(program, chosen);
  add_bounds(program, chosen);
  add_approximate(program, chosen);
  add_reproduce(program, chosen);
  add_methods(program, chosen);
  add_datasets(program, chosen);
  add_help_markdown(program, chosen);
}

// CLI11 calls a command that it does not know an unexpected argument; this says what is meant.
void check_command_name(const CLI::App& program, int argc, char** argv) {
  if (argc < 2) throw Error("no command was given; bregmax --help lists them");
  const std::string name = argv[1];
  if (name.starts_with("-")) return;
  std::string known;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return;
    if (!command->get_group().empty()) known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw Error(fmt::format("there is no command '{}'; there are {}", name, known));
}

ExitCode run(int argc, char** argv) {
  CLI::App program(
      "Learn a Bregman divergence from comparisons, pairs, labels or target values, with a proof of\n"
      "optimality, and use it.",
      "bregmax");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_version_flag("--version", std::string("bregmax ") + BREGMAX_VERSION, "print the version");
  program.require_subcommand(1);
  Action chosen;
  add_commands(program, chosen);
  try {
    check_command_name(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::Success& wish) {  // --help, --version
    program.exit(wish);
    flush_output();
    return kDone;
  } catch (const CLI::ArgumentMismatch& mistake) {
    return report_mistake(explain_count(mistake.what()));
  } catch (const CLI::ParseError& mistake) {
    return report_mistake(mistake.what());
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
    return bregmax::app::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report_mistake("there is not enough memory for data of this size");
  } catch (const std::exception& error) {
    return report_mistake(error.what());
  }
}
