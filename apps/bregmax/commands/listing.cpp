#include <memory>

#include "commands/commands.hpp"
#include "options/options.hpp"

namespace bregmax::app {

void add_listing(CLI::App& program, const CommandText& text, void (*as_text)(), void (*as_json)(), Action& chosen) {
  CLI::App* command = program.add_subcommand(text.name, text.description);
  command->footer(text.examples);
  const auto json = std::make_shared<bool>(false);
  OptionAdder(*command).json(*json);
  command->callback([json, as_text, as_json, &chosen] {
    chosen = [json, as_text, as_json] {
      (*json ? as_json : as_text)();
      return kDone;
    };
  });
}

}  // namespace bregmax::app
