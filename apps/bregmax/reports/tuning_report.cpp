#include "reports/tuning_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace bregmax::app {
namespace {

std::string value_text(const Setting& setting) {
  return setting.word.empty() ? short_number(setting.value) : setting.word;
}

std::size_t measure_index(const TuningRecord& record) {
  return static_cast<std::size_t>(std::find(record.measures.begin(), record.measures.end(), record.tuned_for) -
                                  record.measures.begin());
}

std::string score_text(double mean, double error) {
  if (!std::isfinite(mean)) return "-";
  return std::isfinite(error) ? fmt::format("{:.4f} ({:.4f})", mean, error) : fmt::format("{:.4f}", mean);
}

// The settings that all candidates share, and the others of each.
std::pair<Settings, std::vector<Settings>> split_settings(const std::vector<Settings>& candidates) {
  Settings common;
  std::vector<Settings> own(candidates.size());
  const Settings& first = candidates.front();
  for (std::size_t s = 0; s < first.size(); ++s) {
    const bool shared = candidates.size() > 1 && std::ranges::all_of(candidates, [&](const Settings& settings) {
                          return value_text(settings[s]) == value_text(first[s]);
                        });
    if (shared) common.push_back(first[s]);
    for (std::size_t c = 0; c < candidates.size() && !shared; ++c) own[c].push_back(candidates[c][s]);
  }
  return {common, own};
}

}  // namespace

std::string settings_text(const Settings& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", setting.name, value_text(setting));
  }
  return text;
}

std::string tuning_summary(const TuningRecord& record) {
  const auto measure = static_cast<Index>(measure_index(record));
  std::string fits = fmt::format("{} solved", record.solved);
  if (record.proved > 0) fits += fmt::format(", {} proved to be solved by another's optimum", record.proved);
  if (record.unproved > 0) fits += fmt::format("; {} of them ended above their tolerance", record.unproved);
  const auto candidates = static_cast<Index>(record.candidates.size());
  const std::string compared =
      record.compared == candidates && record.compared_folds == record.folds
          ? fmt::format("{} folds, the best of {} candidates", record.folds, candidates)
          : fmt::format("{} of {} folds, the best of the {} candidates scored there ({} in all)", record.compared_folds,
                        record.folds, record.compared, candidates);
  return fmt::format("{:<11} {}\n{:<11} {} {} on {} (fits: {}; {:.1f} s)\n", "chosen",
                     settings_text(record.candidates[static_cast<std::size_t>(record.chosen)]), "tuned for",
                     record.tuned_for,
                     score_text(record.means(record.chosen, measure), record.standard_errors(record.chosen, measure)),
                     compared, fits, record.seconds);
}

std::string tuning_table(const TuningRecord& record) {
  const auto [common, own] = split_settings(record.candidates);
  std::size_t widest = 10;
  for (const Settings& settings : own) widest = std::max(widest, settings_text(settings).size());
  std::string out = common.empty() ? "" : fmt::format("all candidates: {}\n", settings_text(common));
  out += fmt::format("{:<{}}", "candidate", widest + 2);
  for (const std::string& measure : record.measures) out += fmt::format("  {:>17}", measure);
  out += "\n";
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    const bool is_chosen = static_cast<Index>(c) == record.chosen;
    out += fmt::format("{} {:<{}}", is_chosen ? "*" : " ", settings_text(own[c]), widest);
    for (Index m = 0; m < record.means.cols(); ++m) {
      const auto row = static_cast<Index>(c);
      out += fmt::format("  {:>17}", score_text(record.means(row, m), record.standard_errors(row, m)));
    }
    out += "\n";
  }
  return out;
}

}  // namespace bregmax::app
