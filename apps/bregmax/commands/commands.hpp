#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace bregmax::app {

// What the program returns. A mistake of the caller is an Error, which main.cpp turns into kMistake.
enum ExitCode : int { kDone = 0, kNotReached = 1, kMistake = 2 };

// What the chosen command does. It runs after all options were parsed.
using Action = std::function<ExitCode()>;

struct CommandText {
  const char *name, *description, *examples;
};

// A command that calls run(request) with what its options put into the request.
template <class Request>
struct NewCommand {
  CLI::App* command;
  std::shared_ptr<Request> request;
};
template <class Request>
NewCommand<Request> add_command(CLI::App& program, const CommandText& text, ExitCode (*run)(const Request&),
                                Action& chosen) {
  CLI::App* command = program.add_subcommand(text.name, text.description);
  command->footer(text.examples);
  const auto request = std::make_shared<Request>();
  command->callback([request, run, &chosen] { chosen = [request, run] { return run(*request); }; });
  return {command, request};
}

// A command that prints something the program knows, as text or with --json, and takes nothing else.
void add_listing(CLI::App& program, const CommandText& text, void (*as_text)(), void (*as_json)(), Action& chosen);

// Says that Ctrl-C ended the work, and what follows from that.
ExitCode report_interrupt(const std::string& consequence);

// Each adds one command to the program. help-markdown is hidden: it prints docs/options.md, which a test compares.
using AddCommand = void(CLI::App& program, Action& chosen);
AddCommand add_demo, add_fit, add_show, add_divergence, add_evaluate, add_rank, add_cluster, add_classify, add_bounds,
    add_approximate, add_reproduce, add_methods, add_datasets, add_help_markdown;

}  // namespace bregmax::app
