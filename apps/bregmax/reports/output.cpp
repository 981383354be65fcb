#include "reports/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bregmax/core/atomic_file.hpp"
#include "core/text.hpp"

namespace bregmax::app {

void print_json(const Json& object) {
  // Class and feature names come from files and may hold any bytes; those that are not UTF-8 are replaced.
  print(object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

namespace {

std::string last_error() { return std::generic_category().message(errno); }

std::vector<std::string>& announcements() {
  static std::vector<std::string> lines;
  return lines;
}

}  // namespace

void announce(std::string line) { announcements().push_back(std::move(line)); }

void work_begins() {
  for (const std::string& line : std::exchange(announcements(), {})) fmt::print(stderr, "{}\n", line);
}

ExitCode say_mistake(std::string_view line) {
  announcements().clear();
  say(line);
  return kMistake;
}

void print(std::string_view text) {
  work_begins();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw Error("cannot write to standard output: " + last_error());
  }
}

void flush_output() {
  if (std::fflush(stdout) != 0) throw Error("cannot write to standard output: " + last_error());
}

ExitCode print_report(bool json, const Json& object, std::string_view text) {
  json ? print_json(object) : print(text);
  return kDone;
}

ExitCode report_interrupt(const std::string& consequence) {
  say("bregmax: stopped by an interrupt" + consequence);
  return kNotReached;
}

void print_rows(const std::string& out, bool json, const std::function<std::string()>& as_csv, Json summary,
                const std::function<Json()>& as_json) {
  if (!out.empty()) write_file_atomically(out, as_csv());
  if (json) {
    summary.update(out.empty() ? as_json() : Json{{"out", out}});
    print_json(summary);
  } else if (out.empty()) {
    print(as_csv());
  }
}

void say(std::string_view line) {
  work_begins();
  fmt::print(stderr, "{}\n", line);
}

namespace {

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code failed;
  if (std::filesystem::equivalent(one, other, failed)) return true;  // two names of one inode
  // Absolute first: weakly_canonical leaves a relative name alone if nothing of it exists.
  const auto canonical = [&failed](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  };
  const std::filesystem::path first = canonical(one);
  return !failed && first == canonical(other) && !failed;
}

void check_can_write(const std::string& path) {
  std::error_code ignored;
  require(!std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored),
          "cannot write {}: it exists and is not a regular file", path);
  // Only trying shows whether permissions, the file system and quotas allow it.
  std::string trial = path + ".XXXXXX";
  const int descriptor = ::mkstemp(trial.data());
  require(descriptor >= 0, "cannot write {}: {}", path, last_error());
  ::close(descriptor);
  ::unlink(trial.c_str());
}

}  // namespace

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const NamedFile& output = outputs[o];
    if (output.path.empty()) continue;
    for (const NamedFile& input : inputs) {
      const bool is_file = !input.path.empty() && input.path != "-" && !input.path.starts_with("builtin:");
      if (!is_file || !is_same_file(output.path, input.path)) continue;
      fail("{} {} is the file that {} {} reads, which it would overwrite; give another name", output.option,
           output.path, input.option, input.path);
    }
    for (std::size_t before = 0; before < o; ++before) {
      if (outputs[before].path.empty() || !is_same_file(output.path, outputs[before].path)) continue;
      fail("{} {} and {} {} are the same file; give two names", outputs[before].option, outputs[before].path,
           output.option, output.path);
    }
    check_can_write(output.path);
  }
}

std::string short_number(double value) { return fmt::format("{:.6g}", value); }

std::string proof_text(std::string_view status, double objective, double lower_bound, double relative_gap) {
  // The gap is relative to the objective, or to a thousandth of the zero model's loss if that is larger.
  const bool to_zero_model = objective - lower_bound > 1.001 * relative_gap * std::abs(objective);
  return fmt::format("{}: objective {}, lower bound {} proved, relative gap {:.1e}{}", status, short_number(objective),
                     short_number(lower_bound), relative_gap,
                     to_zero_model ? " (to a thousandth of the zero model's loss)" : "");
}

std::string count_of(Index count, std::string_view singular, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", singular);
  return plural.empty() ? fmt::format("{} {}s", count, singular) : fmt::format("{} {}", count, plural);
}

std::string items_text(const TrainingRecord& record) {
  const std::string_view kind = record.supervision;  // a plural: pairs
  return count_of(record.items, kind.substr(0, kind.size() - 1));
}

std::string learned_from_text(const Model& model) {
  std::string items = items_text(model.record);
  const std::string& column = model.recipe.target;
  if (model.record.drawn != kTargetDifferences) return items;
  return fmt::format("{} (squared differences of {})", items, column.empty() ? "a number per row" : "column " + column);
}

std::string features_text(const Model& model) {
  constexpr std::size_t kNamed = 12;
  const auto read = features_read(model);
  if (!read) return fmt::format("{}", model.features());
  std::vector<std::string> names;
  for (const FeatureNorm& feature : *read) names.push_back(feature.name);
  const Index named = std::ssize(names), dropped = model.features() - named;
  std::string text = dropped > 0 ? fmt::format("{} of {}", named, model.features()) : fmt::format("all {}", named);
  const std::size_t left_out = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - left_out);
  if (!names.empty()) text += ": " + internal::joined(names, ", ");
  if (left_out > 0) text += fmt::format(", and {} more", left_out);
  if (dropped > 0) text += fmt::format("; {} {} not count", dropped, dropped == 1 ? "does" : "do");
  return text;
}

}  // namespace bregmax::app
