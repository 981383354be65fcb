#include <fmt/format.h>

#include "commands/commands.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kLineEnd = 100;

// "left   text", with the text wrapped and indented.
std::string paragraph(const std::string& left, const std::string& text) {
  std::string out = fmt::format("  {}", left);
  if (out.size() + 2 > kTextColumn) out.append("\n").append(kTextColumn, ' ');
  if (out.size() < kTextColumn) out.append(kTextColumn - out.size(), ' ');
  std::size_t column = kTextColumn;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t length = end - begin;
    if (column > kTextColumn && column + 1 + length > kLineEnd) {
      out.append("\n").append(kTextColumn, ' ');
      column = kTextColumn;
    } else if (column > kTextColumn) {
      out += ' ';
      ++column;
    }
    out += text.substr(begin, length);
    column += length;
    begin = end + 1;
  }
  return out + "\n";
}

std::string option_name(const CLI::Option& option, bool is_positional) {
  std::string name = CLI::detail::find_and_replace(option.get_name(is_positional, !is_positional), ",", ", ");
  if (!is_positional && !option.get_type_name().empty()) name += fmt::format(" {}", option.get_type_name());
  return name;
}

// Lines of at most 100 characters, one paragraph per option, with the default at its end.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string name) const override {
    std::string usage = "Usage: " + name;
    if (command->get_parent() == nullptr) return usage + " COMMAND ...\n";
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_positional()) continue;
      usage += option->get_required() ? fmt::format(" {}", option->get_name(true))
                                      : fmt::format(" [{}]", option->get_name(true));
    }
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_required() && !option->get_positional()) usage += " " + option_name(*option, false);
    }
    return usage + " [OPTIONS]\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += fmt::format(" (default {})", option->get_default_str());
    if (option->get_required() && !is_positional) text += " (required)";
    return paragraph(option_name(*option, is_positional), text);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return paragraph(command->get_name(), command->get_description());
  }
};

bool is_listed(const CLI::Option& option) { return option.get_name() != "--help" && !option.get_group().empty(); }

std::string markdown_row(const CLI::Option& option) {
  const auto escaped = [](const std::string& text) { return CLI::detail::find_and_replace(text, "|", "\\|"); };
  const std::string standard = option.get_required()              ? "required"
                               : option.get_default_str().empty() ? ""
                                                                  : fmt::format("`{}`", option.get_default_str());
  return fmt::format("| `{}` | {} | {} |\n", escaped(option_name(option, option.get_positional())), standard,
                     escaped(option.get_description()));
}

std::string markdown_section(const CLI::App& command) {
  std::string out =
      fmt::format("\n## bregmax {}\n\n{}\n\n| option | default | meaning [allowed values] |\n|---|---|---|\n",
                  command.get_name(), command.get_description());
  for (const CLI::Option* option : command.get_options()) {
    if (is_listed(*option)) out += markdown_row(*option);
  }
  return out;
}

// All commands and options as Markdown: the content of docs/options.md.
std::string options_as_markdown(const CLI::App& program) {
  std::string out =
      "# Options\n\n"
      "Printed by the program itself (`bregmax help-markdown`); a test compares the two.\n\n"
      "Wherever a command takes data, `builtin:NAME` names a built-in dataset (`bregmax datasets`), `-` is standard\n"
      "input, and a file that ends in `.gz` is unpacked. Exit codes:\n"
      "0 done; 1 ran but did not reach what was asked (not converged, stopped); 2 a mistake of the caller, explained\n"
      "in one line on standard error.\n";
  for (const CLI::App* command : program.get_subcommands({})) {
    if (!command->get_group().empty()) out += markdown_section(*command);
  }
  return out;
}

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<HelpFormatter>(); }

void add_help_markdown(CLI::App& program, Action& chosen) {
  CLI::App* command = program.add_subcommand("help-markdown", "docs/options.md")->group("");
  command->callback([&program, &chosen] {
    chosen = [&program] {
      print(options_as_markdown(program));
      return kDone;
    };
  });
}

}  // namespace bregmax::app
