#include "options/options.hpp"

#include <cmath>

#include "reports/output.hpp"

namespace bregmax::app {
namespace {

constexpr std::uint64_t kMostThreads = 1024;

template <class Number>
std::optional<Number> read_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return internal::number_in<Number>(text);
}

char parse_delimiter(const std::string& given) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"auto", '\0'}, {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}};
  const auto* const named = std::ranges::find(kNamed, given, &std::pair<std::string_view, char>::first);
  if (named != std::end(kNamed)) return named->second;
  const bool allowed =
      given.size() == 1 && std::string_view(" ,;:|\t!#$%&*/^_~").find(given[0]) != std::string_view::npos;
  if (!allowed) refuse("--delimiter", given, "auto, comma, semicolon, tab, or one character such as |");
  return given[0];
}

}  // namespace

void refuse(const std::string& name, const std::string& text, const std::string& allowed) {
  fail("{} is '{}'; allowed: {}", name, text, allowed);
}

std::string WholeRange::text() const {
  if (high == std::numeric_limits<std::uint64_t>::max()) return fmt::format("a whole number >= {}", low);
  return fmt::format("a whole number from {} to {}", low, high);
}

double parse_number(const std::string& name, const std::string& text, const NumberRange& range) {
  const auto value = read_number<double>(text);
  if (!value || !std::isfinite(*value) || !range.contains(*value)) refuse(name, text, range.text);
  return *value;
}

std::uint64_t parse_whole(const std::string& name, const std::string& text, const WholeRange& range,
                          const std::string& word) {
  const auto value = read_number<std::uint64_t>(text);
  if (!value || *value < range.low || *value > range.high) {
    refuse(name, text, word.empty() ? range.text() : fmt::format("{}, or {}", range.text(), word));
  }
  return *value;
}

CLI::Option* OptionAdder::add(const std::string& name, const std::function<void(const std::string&)>& accept,
                              const std::string& help, const std::string& placeholder, const std::string& standard) {
  return command_.add_option_function<std::string>(name, accept, help)->type_name(placeholder)->default_str(standard);
}

CLI::Option* OptionAdder::text(const std::string& name, std::string& value, const std::string& placeholder,
                               const std::string& help) {
  const auto accept = [name, &value](const std::string& given) {
    if (given.empty()) refuse(name, given, "any text that is not empty");
    value = given;
  };
  return add(name, accept, help, placeholder, value);
}

CLI::Option* OptionAdder::choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
                                 const std::string& help) {
  std::vector<std::pair<std::string, std::string>> words;
  words.reserve(allowed.size());
  for (const std::string& word : allowed) words.emplace_back(word, word);
  return choice(name, value, words, help);
}

CLI::Option* OptionAdder::number(const std::string& name, double& value, const std::string& placeholder,
                                 NumberRange range, const std::string& help, const Words& words) {
  std::string standard = fmt::format("{}", value);
  for (const auto& [word, meaning] : words) {
    range.text += fmt::format(", or {}", word);
    if (meaning == value) standard = word;
  }
  const auto accept = [name, &value, range, words](const std::string& given) {
    const auto word = std::ranges::find(words, given, &Words::value_type::first);
    value = word != words.end() ? word->second : parse_number(name, given, range);
  };
  return add(name, accept, fmt::format("{} [{}]", help, range.text), placeholder, standard);
}

void OptionAdder::label(std::string& value) {
  text("--label", value, "NAME|INDEX|none",
       "label column; auto: a last column that is named class, label, target or species, or is not numeric");
}

CLI::Option* OptionAdder::target(std::string& value, const std::string& standard) {
  CLI::Option* option = text("--target", value, "NAME|INDEX", "a column (not a feature) with a number for each row");
  return standard.empty() ? option : option->default_str(standard);
}

void OptionAdder::columns(TableOptions& value) {
  text("--id", value.id, "NAME|INDEX", "a column (not a feature) with a name for each row, all different");
  const auto ignore = [&value](const std::string& given) { value.ignore = internal::split_at_commas(given); };
  add("--ignore", ignore, "columns without any effect [names or numbers with commas between them]", "LIST", "");
  choice("--header", value.header, {{"auto", HeaderLine::kAuto}, {"yes", HeaderLine::kYes}, {"no", HeaderLine::kNo}},
         "whether the first line has names of columns; auto: if it has no numbers, ends in a name of labels, or counts "
         "0, 1, ... up to the last column");
  const auto delimiter = [&value](const std::string& given) { value.delimiter = parse_delimiter(given); };
  add("--delimiter", delimiter,
      "what separates the fields of a line; auto: whatever of comma, semicolon and tab does [auto, comma, semicolon, "
      "tab, or one character that is no letter or digit]",
      "C", "auto");
  choice("--decimal", value.decimal, {{"point", '.'}, {"comma", ','}}, "the decimal sign");
  choice("--missing", value.missing,
         {{"refuse", MissingValues::kRefuse}, {"mean", MissingValues::kMean}, {"drop", MissingValues::kDrop}},
         "rows with missing values (an empty field, NA, N/A, NaN, null, None or ?); mean: the mean of the feature in "
         "the rows learned from instead; drop: leave the row out")
      ->default_str("refuse, or as the model was learned");
}

void OptionAdder::learning(TableOptions& value) {
  columns(value);
  const auto features = [&value](const std::string& given) { value.features = internal::split_at_commas(given); };
  add("--features", features, "only these columns are features [names or numbers with commas between them]", "LIST",
      "all columns without another role");
  choice("--categories", value.categories, {{"refuse", TextCategories::kRefuse}, {"one-hot", TextCategories::kOneHot}},
         "columns of texts; one-hot: a feature for each text, which is 1 where the column has it and else 0");
}

void OptionAdder::layout(TableOptions& value, std::string* query_label) {
  label(value.label);
  if (query_label != nullptr) {
    text("--query-label", *query_label, "NAME|INDEX|none",
         "label column of the queries, if it is not the one that --label names");
  }
  text("--piece-column", value.piece_column, "NAME|INDEX", "a column that is not a feature, as it was for fit");
  columns(value);
}

void OptionAdder::rest(ModelRequest& request, const char* out_help, std::string* query_label) {
  if (out_help != nullptr) text("--out", request.out, "F", out_help);
  layout(request.layout, query_label);
  threads(request.threads);
  json(request.json);
}

void OptionAdder::threads(int& value) {
  const auto accept = [&value](const std::string& given) {
    value = given == "all" ? 0 : static_cast<int>(parse_whole("--threads", given, {1, kMostThreads}, "all"));
  };
  add("--threads", accept, fmt::format("threads to use [{}, or all]", WholeRange{1, kMostThreads}.text()), "N", "all");
}

void OptionAdder::start(KMeansStart& value, const std::string& help) {
  using enum KMeansStart;
  choice("--start", value, {{to_string(kEuclidean), kEuclidean}, {to_string(kDivergence), kDivergence}}, help);
}

}  // namespace bregmax::app
