#pragma once

#include <functional>
#include <memory>

#include "bregmax/core/threads.hpp"
#include "options/options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// What the chosen command does. It runs after all options were parsed.
using Action = std::function<ExitCode()>;

struct CommandText {
  const char *name, *description, *examples;
};

// Adds a command. Its options fill in the request; run(request) is then called with at most request.threads threads.
template <class Request>
struct NewCommand {
  OptionAdder options;
  std::shared_ptr<Request> request;
};
template <class Request>
NewCommand<Request> add_command(CLI::App& program, const CommandText& text, ExitCode (*run)(const Request&),
                                Action& chosen) {
  CLI::App* command = program.add_subcommand(text.name, text.description);
  command->footer(text.examples);
  const auto request = std::make_shared<Request>();
  command->callback([request, run, &chosen] {
    chosen = [request, run] {
      std::optional<ThreadLimit> limit;
      if constexpr (requires { request->threads; }) limit.emplace(request->threads);
      return run(*request);
    };
  });
  return {OptionAdder(*command), request};
}

// A command that only prints something has --json and no other option.
struct ListingRequest {
  bool json = false;
};

// Lays out what --help prints.
std::shared_ptr<CLI::Formatter> help_formatter();

// Each adds one command to the program. help-markdown is hidden: it prints docs/options.md, which a test compares.
using AddCommand = void(CLI::App& program, Action& chosen);
AddCommand add_demo, add_compare, add_fit, add_show, add_divergence, add_evaluate, add_rank, add_cluster, add_classify,
    add_predict, add_bounds, add_approximate, add_reproduce, add_methods, add_datasets, add_help_markdown;

}  // namespace bregmax::app
