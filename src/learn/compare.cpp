#include "bregmax/learn/compare.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "core/checks.hpp"
#include "core/progress.hpp"
#include "core/text.hpp"
#include "data/file.hpp"
#include "learn/candidates.hpp"
#include "learn/compare_runs.hpp"
#include "learn/fold_scores.hpp"
#include "learn/results_file.hpp"
#include "learn/task_graph.hpp"

namespace bregmax {
namespace {

using internal::require;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// A method on a fold.
struct FoldRun {
  internal::MeasureScores scores{};
  bool constant = false, converged = true;
  double seconds_of_choice = 0, seconds_of_fit = 0;
  // Scores of the chosen candidate within the training part, by which auto chooses among methods; NaN: not known.
  std::vector<double> inner = {};
  std::string settings = {};
};

// "decay 0.01; scale standard", without the comma that files of results do not have.
std::string chosen_text(const TuningRecord& record) {
  if (record.empty() || record.chosen < 0) return "";
  return internal::joined(record.candidates[record.chosen], "; ", [](const Setting& setting) {
    return fmt::format("{} {}", setting.name,
                       setting.word.empty() ? fmt::format("{:.6g}", setting.value) : setting.word);
  });
}

// The scores of the chosen candidate on the folds within the training part, also where there was nothing to choose.
std::vector<double> inner_scores(const Plan& inner, const TrainingData& training, const FitOutcome& outcome,
                                 const RunControl& control) {
  TuneResult single;
  const bool chose = !outcome.tuning.record.empty();
  if (!chose) {
    PlannedFamilies planned = families_of(inner, training);
    single = tune(folds_of(inner, training), planned.families, {inner.tune_for, inner.evaluation}, control);
  }
  const TuneResult& tuning = chose ? outcome.tuning : single;
  std::vector<double> scores;
  // Divergences that tell no rows apart do not compete.
  if (tuning.record.chosen < 0 || tuning.all_constant) return scores;
  for (const Matrix& on_fold : tuning.fold_scores) {
    scores.push_back(on_fold(tuning.record.chosen, static_cast<Index>(inner.tune_for)));
  }
  return scores;
}

// The row that auto takes: the simplest of the methods whose score within the training part is not clearly worse than
// the best one. `inner`: the scores of each member on as many folds.
std::size_t choose_member(const std::vector<std::vector<double>>& inner, Measure measure) {
  TuneResult table;
  const auto members = std::ssize(inner);
  const auto column = static_cast<Index>(measure);
  table.fold_scores.assign(inner.front().size(), Matrix::Constant(members, kAllMeasures.size(), kNotKnown));
  table.record.means = Matrix::Constant(members, kAllMeasures.size(), kNotKnown);
  table.constant.assign(inner.size(), false);
  for (Index m = 0; m < members; ++m) {
    std::vector<double> known;
    for (std::size_t fold = 0; fold < inner[m].size(); ++fold) {
      table.fold_scores[fold](m, column) = inner[m][fold];
      if (std::isfinite(inner[m][fold])) known.push_back(inner[m][fold]);
    }
    table.record.means(m, column) = internal::mean_and_error(known).first;
    table.role_of.push_back({.method = static_cast<int>(m)});
  }
  return best_candidate(table, measure);
}

// The title, and so the first line, does not depend on the number of folds within a training part.
ResultsFormat results_format(const ComparePlan& plan, const TrainingData& data, int inner_folds) {
  const Plan& outer = plan.outer;
  const std::string rows = outer.tuning_rows > 0 ? fmt::format("{}", outer.tuning_rows) : "all";
  const auto scale_name = [](Scale scale) { return to_string(scale); };
  const std::vector<Scale>& scales = plan.request.scales;
  ResultsFormat format;
  format.title =
      fmt::format("comparison of methods on data {} - {} folds x {} - {} rows - settings by {} - scale {}",
                  internal::mark_of(outer, data), outer.folds, outer.repeats, rows, to_string(outer.tune_for),
                  scales.empty() ? "standard" : internal::joined(scales, " or ", scale_name));
  format.seed = plan.request.seed;
  format.keys = {"method", "fold"};
  for (const Measure measure : kAllMeasures) format.values.push_back(to_string(measure));
  for (const char* name : {"constant", "converged", "seconds_of_choice", "seconds_of_fit"})
    format.values.emplace_back(name);
  for (int fold = 0; fold < inner_folds; ++fold) format.values.push_back(fmt::format("inner_{}", fold));
  return format;
}

// Makes the runs that are missing, and the table of all of them.
class Comparer {
 public:
  Comparer(const ComparePlan& plan, const TrainingData& data, const RunControl& control)
      : plan_(plan),
        folds_(internal::folds_of_comparison(plan, data, control)),
        runs_(plan.methods.size()),
        failures_(plan.methods.size()) {
    for (auto& of_method : runs_) of_method.resize(folds_.size());
    inner_folds_ = most_inner_folds();
    if (!plan.results_file.empty()) read_runs(data);
  }

  MethodTable run(int threads, const RunControl& control) {
    const internal::Stopwatch watch;
    std::vector<internal::Task> tasks;
    // Fold by fold, so that a run that ends early has compared what it could.
    for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
      for (std::size_t method = 0; method < plan_.methods.size(); ++method) {
        if (plan_.methods[method].method != "auto" && !runs_[method][fold]) tasks.push_back(task_of(method, fold));
      }
    }
    const int workers = threads > 0 ? threads : omp_get_max_threads();
    result_.status = internal::run_tasks(tasks, workers, plan_.request.time_limit, "compare", control);
    make_runs_of_auto();
    summarise();
    result_.seconds = watch.seconds();
    return std::move(result_);
  }

 private:
  // ---- Runs ----

  internal::Task task_of(std::size_t method, std::size_t fold) {
    internal::Task task;
    const double seconds = plan_.methods[method].seconds / static_cast<double>(folds_.size());
    constexpr double kSecondsToScore = 0.05;
    task.effort = kSecondsToScore + (std::isfinite(seconds) ? seconds : 1);
    task.run = [this, method, fold](const RunControl& control) {
      FoldRun made;
      try {
        made = make_run(plan_.methods[method], fold, control);
      } catch (const Error& error) {
        const std::lock_guard lock(failures_mutex_);
        failures_[method].emplace(static_cast<int>(fold), error.what());
        return;
      }
      if (control.stop_requested()) return;
      keep_run(method, fold, made);
      runs_[method][fold] = std::move(made);
    };
    return task;
  }

  FoldRun make_run(const ComparePlan::Entry& entry, std::size_t number, const RunControl& control) const {
    const Fold& fold = folds_[number];
    const TrainingData training = internal::training_of(fold);
    const Plan inner = internal::plan_of_method(plan_, entry.method, internal::seed_of_fold(plan_, number), training);
    FoldRun made;
    const FitOutcome outcome = bregmax::run(inner, training, control);
    made.seconds_of_fit = outcome.report.seconds;
    made.seconds_of_choice = outcome.tuning.record.seconds;
    if (control.stop_requested()) return made;
    if (entry.of_auto && is_chosen_by_auto(number)) made.inner = inner_scores(inner, training, outcome, control);
    made.inner.resize(static_cast<std::size_t>(inner_folds_), kNotKnown);
    const internal::FoldScores found = internal::score_on_fold(outcome.model, fold, inner.evaluation, control);
    made.scores = found.scores;
    made.constant = found.constant;
    made.converged = is_success(outcome.report.status);
    made.settings = chosen_text(outcome.tuning.record);
    return made;
  }

  // ---- auto ----

  // What auto does with the training part of a fold: it chooses among `of_auto`, or learns the only method.
  Plan plan_of_auto(std::size_t fold) const {
    FitRequest request = internal::request_of_method(plan_, "auto", internal::seed_of_fold(plan_, fold));
    for (const ComparePlan::Entry& entry : plan_.methods) {
      if (entry.of_auto) request.candidates.push_back(entry.method);
    }
    return bregmax::plan(request, internal::training_of(folds_[fold]));
  }
  bool is_chosen_by_auto(std::size_t fold) const { return plan_of_auto(fold).automatic; }

  void make_runs_of_auto() {
    const auto found = std::ranges::find(plan_.methods, "auto", &ComparePlan::Entry::method);
    if (found == plan_.methods.end()) return;
    const std::size_t row = found - plan_.methods.begin();
    std::vector<std::size_t> members;
    for (std::size_t method = 0; method < plan_.methods.size(); ++method) {
      if (plan_.methods[method].of_auto) members.push_back(method);
    }
    for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
      // A member that cannot be learned does not compete; one that is not done yet may win.
      std::vector<std::size_t> here;
      bool complete = true;
      for (const std::size_t member : members) {
        if (runs_[member][fold]) here.push_back(member);
        complete = complete && (runs_[member][fold] || failures_[member].contains(static_cast<int>(fold)));
      }
      if (!complete || here.empty()) continue;
      try {
        make_run_of_auto(row, fold, here);
      } catch (const Error& error) {
        failures_[row].emplace(static_cast<int>(fold), error.what());
      }
    }
  }

  void make_run_of_auto(std::size_t row, std::size_t fold, const std::vector<std::size_t>& members) {
    const Plan automatic = plan_of_auto(fold);
    std::vector<std::vector<double>> inner;
    double seconds = 0;
    for (const std::size_t member : members) {
      const FoldRun& run = *runs_[member][fold];
      inner.push_back(run.inner);
      seconds += run.seconds_of_choice;
    }
    std::size_t chosen = 0;
    if (automatic.automatic) {
      chosen = choose_member(inner, automatic.tune_for);
    } else {
      const std::string& only = automatic.main().method->name;
      while (chosen < members.size() && plan_.methods[members[chosen]].method != only) ++chosen;
      if (chosen == members.size()) return;
    }
    FoldRun run = *runs_[members[chosen]][fold];
    run.seconds_of_choice = seconds;
    run.settings = plan_.methods[members[chosen]].method + (run.settings.empty() ? "" : "; " + run.settings);
    runs_[row][fold] = std::move(run);
  }

  // ---- The file of finished runs ----

  int most_inner_folds() const {
    int most = 0;
    for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
      const Plan inner = internal::plan_of_method(plan_, "euclidean", internal::seed_of_fold(plan_, fold),
                                                  internal::training_of(folds_[fold]));
      most = std::max(most, inner.folds * inner.repeats);
    }
    return most;
  }

  void read_runs(const TrainingData& data) {
    const ResultsFormat format = results_format(plan_, data, inner_folds_);
    file_ = std::make_unique<ResultsFile>(plan_.results_file, format);
    for (const auto& [key, record] : read_results(plan_.results_file, format)) {
      const auto found = std::ranges::find(plan_.methods, key[0], &ComparePlan::Entry::method);
      const auto fold = internal::number_in<std::size_t>(key[1]);
      // An earlier run may have compared more methods, and scored more folds of the same division.
      if (found == plan_.methods.end() || !fold || *fold >= folds_.size()) continue;
      FoldRun run;
      auto value = record.values.begin();
      for (double& score : run.scores) score = *value++;
      run.constant = *value++ != 0;
      run.converged = *value++ != 0;
      run.seconds_of_choice = *value++;
      run.seconds_of_fit = *value++;
      for (; value != record.values.end(); ++value) run.inner.push_back(*value);
      run.settings = record.note;
      // Without the scores that auto needs: made while auto was not asked for.
      const bool lacks_inner = std::ranges::none_of(run.inner, [](double score) { return std::isfinite(score); });
      if (found->of_auto && lacks_inner && is_chosen_by_auto(*fold)) continue;
      runs_[found - plan_.methods.begin()][*fold] = std::move(run);
      ++result_.from_file;
    }
  }

  void keep_run(std::size_t method, std::size_t fold, const FoldRun& run) {
    if (!file_) return;
    ResultsRecord record{
        {plan_.methods[method].method, fmt::format("{}", fold)}, {run.scores.begin(), run.scores.end()}, run.settings};
    record.values.insert(record.values.end(), {run.constant ? 1.0 : 0.0, run.converged ? 1.0 : 0.0,
                                               run.seconds_of_choice, run.seconds_of_fit});
    record.values.insert(record.values.end(), run.inner.begin(), run.inner.end());
    file_->append(record);
  }

  // ---- The table ----

  void summarise() {
    result_.measures = plan_.measures;
    const Index methods = std::ssize(plan_.methods), measures = std::ssize(plan_.measures);
    result_.fold_scores.assign(folds_.size(), Matrix::Constant(methods, measures, kNotKnown));
    result_.means = result_.standard_errors = Matrix::Constant(methods, measures, kNotKnown);
    result_.runs = static_cast<int>(plan_.methods.size() * folds_.size());
    for (std::size_t method = 0; method < plan_.methods.size(); ++method) summarise_method(method);
    for (Index measure = 0; measure < measures; ++measure) find_best(measure);
  }

  void summarise_method(std::size_t method) {
    ComparedMethod& row = result_.methods.emplace_back();
    row.method = plan_.methods[method].method;
    double fit = 0, choice = 0;
    for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
      const std::optional<FoldRun>& run = runs_[method][fold];
      row.settings.push_back(run ? run->settings : "");
      if (!run) continue;
      ++row.folds;
      row.constant += run->constant ? 1 : 0;
      row.not_converged += run->converged ? 0 : 1;
      fit += run->seconds_of_fit;
      choice += run->seconds_of_choice;
      for (std::size_t m = 0; m < plan_.measures.size(); ++m) {
        result_.fold_scores[fold](method, m) = run->scores[static_cast<std::size_t>(plan_.measures[m])];
      }
    }
    if (row.folds > 0) {
      row.seconds_of_fit = fit / row.folds;
      row.seconds_of_choice = choice / row.folds;
    }
    for (const auto& [fold, reason] : failures_[method]) row.failures.push_back({fold, reason});
    result_.done += row.folds + static_cast<int>(row.failures.size());
    for (std::size_t m = 0; m < plan_.measures.size(); ++m) {
      std::vector<double> known;
      for (const Matrix& scores : result_.fold_scores) {
        if (std::isfinite(scores(method, m))) known.push_back(scores(method, m));
      }
      std::tie(result_.means(method, m), result_.standard_errors(method, m)) = internal::mean_and_error(known);
    }
  }

  // By paired differences on the folds, among the methods that are scored on the most folds.
  void find_best(Index column) {
    const Measure measure = plan_.measures[column];
    TuneResult table;  // what is_clearly_better() reads
    for (const Matrix& scores : result_.fold_scores) {
      table.fold_scores.emplace_back(Matrix::Constant(scores.rows(), kAllMeasures.size(), kNotKnown))
          .col(static_cast<Index>(measure)) = scores.col(column);
    }
    table.record.means = Matrix::Constant(result_.means.rows(), kAllMeasures.size(), kNotKnown);
    table.record.means.col(static_cast<Index>(measure)) = result_.means.col(column);
    const std::vector<Index> compared = compared_candidates(table, measure).candidates;
    Index best = -1;
    for (const Index method : compared) {
      const double sign = larger_is_better(measure) ? 1 : -1;
      if (best < 0 || sign * result_.means(method, column) > sign * result_.means(best, column)) best = method;
    }
    result_.best.push_back(best);
    std::vector<bool>& as_good = result_.as_good.emplace_back(plan_.methods.size(), false);
    for (const Index method : compared) as_good[method] = !is_clearly_better(table, best, method, measure);
  }

  const ComparePlan& plan_;
  std::vector<Fold> folds_;
  int inner_folds_ = 0;                                    // most of any training part
  std::vector<std::vector<std::optional<FoldRun>>> runs_;  // of each method and fold
  std::vector<std::map<int, std::string>> failures_;       // of each method: reasons, by fold
  std::mutex failures_mutex_;
  std::unique_ptr<ResultsFile> file_;
  MethodTable result_;
};

}  // namespace

void check_results_file(const ComparePlan& plan, const TrainingData& data) {
  std::error_code missing;
  if (plan.results_file.empty() || std::filesystem::file_size(plan.results_file, missing) == 0 || missing) return;
  const std::string text = internal::read_whole_file(plan.results_file);
  const std::string expected = first_line_of(results_format(plan, data, 0));
  require(expected.starts_with(text) || text.starts_with(expected + "\n"),
          "{}: this file holds something else than runs of this comparison (other data, folds, seed or other choices); "
          "give another name to begin a new one",
          plan.results_file);
}

MethodTable compare(const ComparePlan& plan, const TrainingData& data, int threads, const RunControl& control) {
  require(threads >= 0, "threads is {}; allowed: 0 (all) or more", threads);
  require(!plan.methods.empty() && !plan.measures.empty(), "there is nothing to compare");
  check_results_file(plan, data);
  return Comparer(plan, data, control).run(threads, control);
}

}  // namespace bregmax
