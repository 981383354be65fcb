#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace bregmax::app {

// Lines of at most 100 characters, one paragraph per option, with the default at its end.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

// All commands and options as Markdown: the content of docs/options.md.
std::string options_as_markdown(const CLI::App& program);

}  // namespace bregmax::app
