#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bregmax/tasks/kmeans.hpp"
#include "core/text.hpp"
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

inline NumberRange at_least_zero() { return {.low = 0, .text = "a finite number >= 0"}; }

struct WholeRange {
  std::uint64_t low = 0;
  std::uint64_t high = std::numeric_limits<std::uint64_t>::max();

  std::string text() const;
};

// A word that stands for a number, like `none` for infinity.
using Words = std::vector<std::pair<std::string, double>>;

// Shared by all commands that apply a model to rows.
struct ModelRequest {
  std::string model, out;
  TableOptions layout;
  int threads = 0;  // 0: all
  bool json = false;
};
inline constexpr const char* kCsvOutput = "write the CSV here instead of to standard output";

// The whole text must be a number in the range, or an Error names the option; `word` is what else the option takes.
double parse_number(const std::string& name, const std::string& text, const NumberRange& range);
std::uint64_t parse_whole(const std::string& name, const std::string& text, const WholeRange& range,
                          const std::string& word = "");
// Throws the Error of an option whose text is not allowed.
[[noreturn]] void refuse(const std::string& name, const std::string& text, const std::string& allowed);

// Adds options to a command. Each is described once: name, placeholder of its value, what is allowed, the default (the
// value of the variable; an optional has none) and what it is for. Help, messages and docs/options.md come from that.
class OptionAdder {
 public:
  explicit OptionAdder(CLI::App& command) : command_(command) {}
  CLI::App& command() { return command_; }

  // An option whose text `accept` checks and stores.
  CLI::Option* add(const std::string& name, const std::function<void(const std::string&)>& accept,
                   const std::string& help, const std::string& placeholder, const std::string& standard);
  CLI::Option* flag(const std::string& name, bool& value, const std::string& help) {
    return command_.add_flag(name, value, help);
  }
  CLI::Option* flag(const std::string& name, std::function<void()> if_given, const std::string& help) {
    return command_.add_flag_callback(name, std::move(if_given), help);
  }
  CLI::Option* text(const std::string& name, std::string& value, const std::string& placeholder,
                    const std::string& help);
  CLI::Option* number(const std::string& name, double& value, const std::string& placeholder, NumberRange range,
                      const std::string& help, const Words& words = {});
  // One of several words.
  CLI::Option* choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
                      const std::string& help);
  // One of several words, which stand for values of the variable.
  template <class Value>
  CLI::Option* choice(const std::string& name, Value& value, const std::vector<std::pair<std::string, Value>>& allowed,
                      const std::string& help) {
    std::vector<std::string> words;
    std::string standard;
    for (const auto& [word, meaning] : allowed) {
      words.push_back(word);
      if (meaning == value) standard = word;
    }
    const auto accept = [name, &value, allowed, words](const std::string& given) {
      const auto found = std::ranges::find(allowed, given, &std::pair<std::string, Value>::first);
      if (found == allowed.end()) refuse(name, given, internal::joined(words, ", "));
      value = found->second;
    };
    return add(name, accept, help, internal::joined(words, "|"), standard);
  }
  // A whole number; the variable may be an optional.
  template <class Whole>
  CLI::Option* whole(const std::string& name, Whole& value, const std::string& placeholder, const WholeRange& range,
                     const std::string& help) {
    std::string standard;
    if constexpr (std::is_integral_v<Whole>) standard = fmt::format("{}", value);
    const auto accept = [name, &value, range](const std::string& given) {
      value = static_cast<typename decltype(std::optional(value))::value_type>(parse_whole(name, given, range));
    };
    return add(name, accept, fmt::format("{} [{}]", help, range.text()), placeholder, standard);
  }

  // Options of several commands.
  void model(std::string& value) { text("MODEL", value, "", "a model file")->required(); }
  void label(std::string& value);
  CLI::Option* target(std::string& value, const std::string& standard = "");
  void columns(TableOptions& value);   // of every file of rows
  void learning(TableOptions& value);  // of rows to learn from, whose recipe the model keeps
  void layout(TableOptions& value, std::string* query_label = nullptr);  // of files that a model is applied to
  // The options of ModelRequest except the model; --out only if it has a help text.
  void rest(ModelRequest& request, const char* out_help = nullptr, std::string* query_label = nullptr);
  void threads(int& value);
  void start(KMeansStart& value, const std::string& help);
  void seed(std::uint64_t& value, const std::string& help) { whole("--seed", value, "S", {}, help); }
  void json(bool& value) { flag("--json", value, "print one JSON object on standard output"); }

 private:
  CLI::App& command_;
};

}  // namespace bregmax::app
