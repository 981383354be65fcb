#include "options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax::app {
namespace {

constexpr std::uint64_t kMostThreads = 1024;

[[noreturn]] void refuse(const std::string& name, const std::string& text, const std::string& allowed) {
  throw Error(fmt::format("{} is '{}'; allowed: {}", name, text, allowed));
}

template <class Number>
bool read_number(const std::string& text, Number& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc{} && stop == end;
}

// "--restarts" of "-r,--restarts".
std::string long_name(const std::string& name) { return name.substr(name.find_last_of(',') + 1); }

std::string with_allowed(const std::string& help, const std::string& allowed) {
  return fmt::format("{} [{}]", help, allowed);
}

std::string number_text(double value, const Words& words) {
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word;
  }
  return fmt::format("{}", value);
}

std::string allowed_text(const NumberRange& range, const Words& words) {
  std::string allowed = range.text;
  for (const auto& [word, meaning] : words) allowed += fmt::format(", or {}", word);
  return allowed;
}

}  // namespace

std::string WholeRange::text() const {
  if (high == std::numeric_limits<std::uint64_t>::max()) return fmt::format("a whole number >= {}", low);
  return fmt::format("a whole number from {} to {}", low, high);
}

double parse_number(const std::string& name, const std::string& text, const NumberRange& range) {
  double value = 0;
  if (!read_number(text, value) || !std::isfinite(value) || !range.contains(value)) refuse(name, text, range.text);
  return value;
}

std::uint64_t parse_whole(const std::string& name, const std::string& text, const WholeRange& range,
                          const std::string& word) {
  std::uint64_t value = 0;
  if (!read_number(text, value) || value < range.low || value > range.high) {
    refuse(name, text, word.empty() ? range.text() : fmt::format("{}, or {}", range.text(), word));
  }
  return value;
}

void check_at_most(const std::string& name, std::uint64_t value, Index most, const std::string& what_most_is) {
  if (value <= static_cast<std::uint64_t>(most)) return;
  throw Error(fmt::format("{} is {}; allowed: 1 to {}, {}", name, value, most, what_most_is));
}

CLI::Option* OptionAdder::add(const std::string& name, const std::function<void(const std::string&)>& accept,
                              const std::string& help, const std::string& placeholder, const std::string& standard) {
  return command_.add_option_function<std::string>(name, accept, help)->type_name(placeholder)->default_str(standard);
}

CLI::Option* OptionAdder::flag(const std::string& name, bool& value, const std::string& help) {
  return command_.add_flag(name, value, help);
}

CLI::Option* OptionAdder::text(const std::string& name, std::string& value, const std::string& placeholder,
                               const std::string& help) {
  const auto accept = [name, &value](const std::string& given) {
    if (given.empty()) refuse(long_name(name), given, "any text that is not empty");
    value = given;
  };
  return add(name, accept, help, placeholder, value);
}

CLI::Option* OptionAdder::choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
                                 const std::string& help) {
  const auto accept = [name, &value, allowed](const std::string& given) {
    if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
      refuse(name, given, fmt::format("{}", fmt::join(allowed, ", ")));
    }
    value = given;
  };
  return add(name, accept, help, fmt::format("{}", fmt::join(allowed, "|")), value);
}

CLI::Option* OptionAdder::number(const std::string& name, double& value, const std::string& placeholder,
                                 const NumberRange& range, const std::string& help, const Words& words) {
  const auto accept = [name, &value, range, words](const std::string& given) {
    for (const auto& [word, meaning] : words) {
      if (given == word) {
        value = meaning;
        return;
      }
    }
    NumberRange explained = range;
    explained.text = allowed_text(range, words);
    value = parse_number(name, given, explained);
  };
  return add(name, accept, with_allowed(help, allowed_text(range, words)), placeholder, number_text(value, words));
}

CLI::Option* OptionAdder::whole(const std::string& name, std::uint64_t& value, const std::string& placeholder,
                                const WholeRange& range, const std::string& help) {
  const auto accept = [name, &value, range](const std::string& given) {
    value = parse_whole(long_name(name), given, range);
  };
  return add(name, accept, with_allowed(help, range.text()), placeholder, fmt::format("{}", value));
}

void OptionAdder::model(std::string& value) { text("MODEL", value, "", "a model file")->required(); }

void OptionAdder::label(std::string& value) {
  text("--label", value, "NAME|INDEX|none",
       "label column; auto: a last column that is named class, label, target or species, or is not numeric");
}

void OptionAdder::layout(Layout& value, std::string* query_label) {
  label(value.label);
  if (query_label != nullptr) {
    text("--query-label", *query_label, "NAME|INDEX|none",
         "label column of the queries, if it is not the one that --label names");
  }
  text("--piece-column", value.piece_column, "NAME|INDEX", "a column that is not a feature, as it was for fit");
}

void OptionAdder::rest(ModelRequest& request, const char* out_help, std::string* query_label) {
  if (out_help != nullptr) text("--out", request.out, "F", out_help);
  layout(request.layout, query_label);
  threads(request.threads);
  json(request.json);
}

void OptionAdder::threads(std::uint64_t& value) {
  const auto accept = [&value](const std::string& given) {
    value = given == "all" ? 0 : parse_whole("--threads", given, {1, kMostThreads}, "all");
  };
  add("--threads", accept, with_allowed("threads to use", WholeRange{1, kMostThreads}.text() + ", or all"), "N", "all");
}

void OptionAdder::seed(std::uint64_t& value, const std::string& help) { whole("--seed", value, "S", {}, help); }

void OptionAdder::json(bool& value) { flag("--json", value, "print one JSON object on standard output"); }

}  // namespace bregmax::app
