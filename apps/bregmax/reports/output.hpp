#pragma once

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/tasks/evaluate.hpp"
#include "core/checks.hpp"

namespace bregmax::app {

using internal::fail, internal::require;

using Json = nlohmann::ordered_json;  // members stay in the order in which they were added

// What the program returns. A mistake of the caller is an Error, which main.cpp turns into kMistake.
enum ExitCode : int { kDone = 0, kNotReached = 1, kMistake = 2 };

// Prints the one JSON object of --json. Numbers that are not finite become null.
void print_json(const Json& object);

// Text to standard output; throws Error when it cannot be written (a full disk behind a redirection).
void print(std::string_view text);
void flush_output();

// The report of a command that is done: the object with --json, else the text.
ExitCode print_report(bool json, const Json& object, std::string_view text);

// Says that Ctrl-C ended the work, and what follows from that.
ExitCode report_interrupt(const std::string& consequence);

// The result of a command that is a list of rows: as CSV in the file `out` or, if that is empty, on standard output.
// With --json the summary is printed, with the rows as JSON or with the name of the file that they are in.
void print_rows(const std::string& out, bool json, const std::function<std::string()>& as_csv, Json summary,
                const std::function<Json()>& as_json);

// A line on standard error.
void say(std::string_view line);

// A line on standard error once the work begins: before the first progress, any other line and any output. A mistake
// that is found before is one line alone.
void announce(std::string line);
void work_begins();
[[nodiscard]] ExitCode say_mistake(std::string_view line);

// A file that an option names; the path may be empty (not given) or builtin:NAME (no file).
struct NamedFile {
  std::string option, path;
};

// Called before the work that would be lost. Throws Error when an output cannot be written, or when it is the same file
// as an input or another output, even under another name (a link).
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

// 6 digits.
std::string short_number(double value);
// How a solver ended, with the bounds that prove how good its result is.
std::string proof_text(std::string_view status, double objective, double lower_bound, double relative_gap);

// The five scores of the paper: name in text, key in JSON, member of EvaluationScores.
struct NamedScore {
  const char* name;
  const char* key;
  double EvaluationScores::*score;
};
inline constexpr std::array<NamedScore, 5> kScores = {{
    {"Rand index", "rand_index", &EvaluationScores::rand_index},
    {"purity", "purity", &EvaluationScores::purity},
    {"AUC", "auc", &EvaluationScores::auc},
    {"average precision", "average_precision", &EvaluationScores::average_precision},
    {"k-NN accuracy", "knn_accuracy", &EvaluationScores::knn_accuracy},
}};

// "1 row", "3 rows".
std::string count_of(Index count, std::string_view singular, std::string_view plural = "");

// What a model was learned from: "2000 comparisons".
std::string items_text(const TrainingRecord& record);
// The same, and which numbers the targets are made of: "2000 targets (squared differences of column price)".
std::string learned_from_text(const Model& model);

// "6 of 40: height, width, ...; 34 do not count": those that the divergence reads, from the largest norm on.
std::string features_text(const Model& model);

}  // namespace bregmax::app
