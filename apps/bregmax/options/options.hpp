#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "options/input.hpp"

namespace bregmax::app {

// What a number may be. `text` says it in words, in the help, in docs/options.md and in the message of a refusal.
struct NumberRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_included = true;
  std::string text = "a finite number";

  bool contains(double value) const { return (low_included ? value >= low : value > low) && value <= high; }
};

struct WholeRange {
  std::uint64_t low = 0;
  std::uint64_t high = std::numeric_limits<std::uint64_t>::max();

  std::string text() const;
};

// A word that stands for a number, like `none` for infinity.
using Words = std::vector<std::pair<std::string, double>>;

// What all commands have that apply a model to rows.
struct ModelRequest {
  std::string model, out;
  Layout layout;
  std::uint64_t threads = 0;
  bool json = false;
};
inline constexpr const char* kCsvOutput = "write the CSV here instead of to standard output";

// Adds options to a command. Each is described once: name, placeholder of its value, what is allowed, the default (the
// value of the variable) and what it is for. Help, messages and docs/options.md all come from that.
class OptionAdder {
 public:
  explicit OptionAdder(CLI::App& command) : command_(command) {}

  // An option whose text `accept` checks and stores.
  CLI::Option* add(const std::string& name, const std::function<void(const std::string&)>& accept,
                   const std::string& help, const std::string& placeholder, const std::string& standard);
  CLI::Option* flag(const std::string& name, bool& value, const std::string& help);
  CLI::Option* text(const std::string& name, std::string& value, const std::string& placeholder,
                    const std::string& help);
  CLI::Option* choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
                      const std::string& help);
  CLI::Option* number(const std::string& name, double& value, const std::string& placeholder, const NumberRange& range,
                      const std::string& help, const Words& words = {});
  CLI::Option* whole(const std::string& name, std::uint64_t& value, const std::string& placeholder,
                     const WholeRange& range, const std::string& help);

  // Options of several commands.
  void model(std::string& value);
  void label(std::string& value);
  void layout(Layout& value, std::string* query_label = nullptr);  // of files that a model is applied to
  // All of ModelRequest but the model: --out only if it has a help text.
  void rest(ModelRequest& request, const char* out_help = nullptr, std::string* query_label = nullptr);
  void threads(std::uint64_t& value);
  void seed(std::uint64_t& value, const std::string& help);
  void json(bool& value);

 private:
  CLI::App& command_;
};

// The whole text must be a number in the range, or an Error names the option; `word` is what else the option takes.
double parse_number(const std::string& name, const std::string& text, const NumberRange& range);
std::uint64_t parse_whole(const std::string& name, const std::string& text, const WholeRange& range,
                          const std::string& word = "");
// Throws Error when the number is above what the data allows.
void check_at_most(const std::string& name, std::uint64_t value, Index most, const std::string& what_most_is);

}  // namespace bregmax::app
