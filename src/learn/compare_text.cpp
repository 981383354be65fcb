#include <algorithm>
#include <cmath>

#include "bregmax/learn/compare.hpp"
#include "core/text.hpp"

namespace bregmax {
namespace {

const char* heading(Measure measure) {
  constexpr std::array<const char*, kAllMeasures.size()> kHeadings = {
      "Rand index", "purity", "AUC", "avg. precision", "k-NN accuracy", "loss", "agreement", "R2"};
  return kHeadings[static_cast<std::size_t>(measure)];
}

std::string seconds_cell(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0.01) return "< 0.01 s";
  return seconds < 1 ? fmt::format("{:.2f} s", seconds) : internal::duration(seconds);
}

// "0.976 (0.005) *"; a loss has no natural size, so it gets digits instead of decimals.
std::string score_cell(const MethodTable& table, Index method, Index column) {
  const double mean = table.means(method, column), error = table.standard_errors(method, column);
  if (!std::isfinite(mean)) return "-  ";
  const bool loss = table.measures[column] == Measure::kLoss;
  const auto number = [loss](double value) {
    return loss ? fmt::format("{:.4g}", value) : fmt::format("{:.3f}", value);
  };
  const bool compared = table.best[column] >= 0 && table.as_good[column][method];
  const char* mark = table.best[column] == method ? " *" : compared ? " ~" : "  ";
  return number(mean) + (std::isfinite(error) ? fmt::format(" ({})", number(error)) : "") + mark;
}

std::string about(double seconds) {
  return seconds < 1 ? "less than a second" : "about " + internal::duration(seconds);
}

std::string count_text(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// What a reader has to know of single methods.
std::string remarks(const MethodTable& table) {
  std::string text;
  for (const ComparedMethod& method : table.methods) {
    const auto folds = table.fold_scores.size();
    if (!method.failures.empty()) {
      text += fmt::format("{} failed on {} of {}: {}\n", method.method, method.failures.size(),
                          count_text(folds, "fold"), method.failures.front().reason);
    }
    const auto known = static_cast<std::size_t>(method.folds) + method.failures.size();
    if (known < folds) {
      text += fmt::format("{} is scored on {} of {} so far\n", method.method, method.folds, count_text(folds, "fold"));
    }
    if (method.constant > 0) {
      text += fmt::format("{} learned a divergence that tells no rows apart on {}\n", method.method,
                          count_text(static_cast<std::size_t>(method.constant), "fold"));
    }
    if (method.not_converged > 0) {
      text += fmt::format("{} ended before it reached its tolerance on {}\n", method.method,
                          count_text(static_cast<std::size_t>(method.not_converged), "fold"));
    }
  }
  return text;
}

}  // namespace

double ComparePlan::predicted_seconds(int threads) const {
  double all = 0, longest_run = 0;
  for (const Entry& entry : methods) {
    all += entry.seconds;
    longest_run = std::max(longest_run, entry.seconds / std::max(1, folds));
  }
  return std::max(all / std::max(1, threads), longest_run);
}

std::string ComparePlan::summary(int threads) const {
  const double seconds = predicted_seconds(threads);
  std::string lines =
      fmt::format("plan: {} on {}{}; settings are chosen within each training part, by {}\n",
                  count_text(methods.size(), "method"), count_text(static_cast<std::size_t>(folds), "fold"),
                  std::isfinite(seconds) ? ", " + about(seconds) : "", to_string(outer.tune_for));
  for (const Entry& entry : methods) {
    if (entry.method == "auto") {
      lines += fmt::format("  {:<11} what fit takes by default: one of {}\n", entry.method,
                           internal::joined(members_of_auto(), ", "));
      continue;
    }
    lines += fmt::format("  {:<11} {:>3} candidate{} {}\n", entry.method, entry.candidates,
                         entry.candidates == 1 ? " " : "s",
                         std::isfinite(entry.seconds) ? "  " + seconds_cell(entry.seconds) : "");
  }
  return lines;
}

std::vector<std::string> ComparePlan::members_of_auto() const {
  std::vector<std::string> members;
  for (const Entry& entry : methods) {
    if (entry.of_auto) members.push_back(entry.method);
  }
  return members;
}

std::string MethodTable::to_text() const {
  if (done == 0) return "No method is scored on any fold yet.\n";
  std::size_t first = 11;
  std::vector<std::size_t> widths;
  for (const ComparedMethod& method : methods) first = std::max(first, method.method.size());
  for (std::size_t m = 0; m < measures.size(); ++m) {
    std::size_t width = std::string(heading(measures[m])).size() + 2;  // two for the mark
    for (std::size_t row = 0; row < methods.size(); ++row) {
      width = std::max(width, score_cell(*this, static_cast<Index>(row), static_cast<Index>(m)).size());
    }
    widths.push_back(width);
  }
  std::string text = fmt::format("{:<{}}", "", first);
  for (std::size_t m = 0; m < measures.size(); ++m)
    text += fmt::format("  {:>{}}  ", heading(measures[m]), widths[m] - 2);
  text += fmt::format("  {:>8}  {:>8}\n", "fit", "choosing");
  for (std::size_t row = 0; row < methods.size(); ++row) {
    text += fmt::format("{:<{}}", methods[row].method, first);
    for (std::size_t m = 0; m < measures.size(); ++m) {
      text += fmt::format("  {:>{}}", score_cell(*this, static_cast<Index>(row), static_cast<Index>(m)), widths[m]);
    }
    text += fmt::format("  {:>8}  {:>8}\n", seconds_cell(methods[row].seconds_of_fit),
                        seconds_cell(methods[row].seconds_of_choice));
  }
  const bool loss = measures.front() == Measure::kLoss;
  text += fmt::format(
      "\nMeans over {} (standard errors in brackets); {} is best. Settings were chosen within the training part\n"
      "of each fold, so that no choice has seen the rows that are scored here.\n"
      "* best mean   ~ as good: within one standard error of the difference on the same folds\n",
      count_text(fold_scores.size(), "fold"), loss ? "0" : "1");
  return text + remarks(*this);
}

}  // namespace bregmax
