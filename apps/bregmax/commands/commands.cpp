#include "commands/commands.hpp"

#include "options/options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

void add_listing(CLI::App& program, const CommandText& text, void (*as_text)(), void (*as_json)(), Action& chosen) {
  CLI::App* command = program.add_subcommand(text.name, text.description);
  command->footer(text.examples);
  const auto json = std::make_shared<bool>(false);
  OptionAdder(*command).json(*json);
  command->callback([=, &chosen] {
    chosen = [=] {
      (*json ? as_json : as_text)();
      return kDone;
    };
  });
}

ExitCode report_interrupt(const std::string& consequence) {
  say("bregmax: stopped by an interrupt" + consequence);
  return kNotReached;
}

}  // namespace bregmax::app
