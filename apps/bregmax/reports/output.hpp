#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/model/model.hpp"

namespace bregmax::app {

using Json = nlohmann::ordered_json;  // members stay in the order in which a reader wants them

// Prints the one JSON object of --json. Numbers that are not finite become null.
void print_json(const Json& object);

// Text to standard output; throws Error when it cannot be written (a full disk behind a redirection).
void print(std::string_view text);
void flush_output();

// A line on standard error.
void say(std::string_view line);

// A file that an option names; the path may be empty (not given) or builtin:NAME (no file).
struct NamedFile {
  std::string option, path;
};

// Asked before work that would be lost. Throws Error when a file could not be written under one of these names, or when
// that would destroy one that is read, or another that is written: by any name, a link included.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

// As short as the meaning allows: 6 digits.
std::string short_number(double value);
// How a solver ended, and what is proved of its result.
std::string proof_text(std::string_view status, double objective, double lower_bound, double relative_gap);
// 17 digits, enough for a double to survive exactly.
void append_exact_number(std::string& text, double value);

// "1 row", "3 rows".
std::string count_of(Index count, std::string_view singular, std::string_view plural = "");

// "2000 comparisons": what a model was learned from.
std::string items_text(const TrainingRecord& record);

}  // namespace bregmax::app
