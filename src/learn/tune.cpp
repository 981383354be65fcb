#include "bregmax/learn/tune.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>

#include "core/checks.hpp"
#include "core/progress.hpp"
#include "core/text.hpp"
#include "learn/fold_scores.hpp"
#include "learn/results_file.hpp"
#include "learn/task_graph.hpp"

namespace bregmax {
namespace {

using internal::mean_and_error;
using internal::require;
using internal::score_on_fold;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<const char*, kAllMeasures.size()> kMeasureNames = {
    "rand_index", "purity", "auc", "average_precision", "knn", "loss", "agreement", "r2"};

// R2, which comes last, is listed only where folds have a number per row.
std::size_t measure_count(const std::vector<Fold>& folds, Measure tune_for) {
  static_assert(kAllMeasures.back() == Measure::kR2);
  const auto has_targets = [](const Fold& fold) { return fold.held_out_targets.size() > 0; };
  const bool all = tune_for == Measure::kR2 || std::ranges::any_of(folds, has_targets);
  return kAllMeasures.size() - (all ? 0 : 1);
}

// Learns and scores all candidates on all folds; every (family, fold) has its own learner and writes to different rows.
class Tuner {
 public:
  Tuner(const std::vector<Fold>& folds, const CandidateFamilies& families, const TuneOptions& options)
      : folds_(folds), options_(options), measures_(measure_count(folds, options.tune_for)) {
    for (const auto& family : families) {
      first_.push_back(result_.record.candidates.size());
      const FamilyRole role = options.roles.empty() ? FamilyRole() : options.roles.at(first_.size() - 1);
      for (Settings& settings : family->candidates()) {
        result_.record.candidates.push_back(std::move(settings));
        result_.family_of.push_back(std::ssize(first_) - 1);
        result_.role_of.push_back(role);
      }
    }
    const Index candidates = std::ssize(result_.record.candidates);
    result_.fold_scores.assign(folds.size(), Matrix::Constant(candidates, static_cast<Index>(measures_), kNan));
    constant_.setConstant(std::ssize(folds), candidates, kNan);
    for (const auto& family : families) {
      for (const Fold& fold : folds) learners_.push_back(family->learner(fold));
    }
    read_scores();
  }

  // A file without a score is of no use, nor are scores that say that there is nothing to choose.
  ~Tuner() {
    std::error_code ignored;
    if (file_ && (cannot_choose_ || (is_read_.empty() && !kept_any_))) {
      std::filesystem::remove(options_.scores_file, ignored);
    }
  }
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  TuneResult run(const RunControl& control) {
    const internal::Stopwatch watch;
    const int threads = options_.threads > 0 ? options_.threads : omp_get_max_threads();
    result_.status = internal::run_tasks(tasks(), threads, options_.time_limit, "tune", control);
    cannot_choose_ = true;
    summarise();
    cannot_choose_ = false;
    result_.record.seconds = watch.seconds();
    return std::move(result_);
  }

 private:
  struct StepId {
    std::size_t family, fold, step;

    auto operator<=>(const StepId&) const = default;
  };

  FoldLearner& learner(std::size_t family, std::size_t fold) { return *learners_[family * folds_.size() + fold]; }

  // Simple methods come first, so that a run that ends early has compared what it could. Within a method it goes step
  // by step through all families and folds: the first steps of all come before the second of any.
  std::vector<internal::Task> tasks() {
    struct Place {
      int method;
      std::size_t step, learner;
      auto operator<=>(const Place&) const = default;
    };
    std::vector<std::vector<LearnStep>> steps;
    std::vector<std::vector<std::size_t>> number(learners_.size());
    std::vector<Place> order;
    for (std::size_t at = 0; at < learners_.size(); ++at) {
      steps.push_back(learners_[at]->steps());
      number[at].resize(steps[at].size());
      for (const std::size_t step : steps_to_take(at, steps[at])) order.push_back({role(at).method, step, at});
    }
    std::ranges::sort(order);
    std::vector<internal::Task> list;
    for (const auto& [method, step, at] : order) {
      internal::Task task;
      for (const std::size_t before : steps[at][step].after) task.after.push_back(number[at][before]);
      task.effort = role(at).seconds / static_cast<double>(steps[at].size());
      const StepId id{at / folds_.size(), at % folds_.size(), step};
      task.run = [this, id, candidates = steps[at][step].candidates](const RunControl& control) {
        try {
          run_step(id, candidates, control);
        } catch (const CandidateFailure& failure) {
          const std::lock_guard lock(failures_mutex_);
          failures_.emplace(id, failure.what());
        }
      };
      number[at][step] = list.size();
      list.push_back(std::move(task));
    }
    return list;
  }

  FamilyRole role(std::size_t learner) const { return result_.role_of[first_[learner / folds_.size()]]; }

  void run_step(const StepId& id, const std::vector<std::size_t>& candidates, const RunControl& control) {
    FoldLearner& fold_learner = learner(id.family, id.fold);
    const FoldFit fitted = fold_learner.run(id.step, control);
    if (control.stop_requested()) return;
    if (!candidates.empty()) ++counts_[static_cast<std::size_t>(fitted)];
    Matrix& scores = result_.fold_scores[id.fold];
    for (const std::size_t candidate : candidates) {
      const Index row = first_[id.family] + candidate;
      if (const auto same = fold_learner.same_model(candidate)) {
        const Index same_row = first_[id.family] + *same;
        scores.row(row) = scores.row(same_row);
        constant_(id.fold, row) = constant_(id.fold, same_row);
        continue;
      }
      const auto [found, constant] =
          score_on_fold(fold_learner.model(candidate), folds_[id.fold], options_.evaluation, control);
      if (control.stop_requested()) return;  // the scores may cover a part of the work
      constant_(id.fold, row) = constant ? 1 : 0;
      for (std::size_t m = 0; m < measures_; ++m) scores(row, m) = found[m];
    }
    for (const std::size_t candidate : candidates) keep_scores(first_[id.family] + candidate, id.fold);
  }

  // ---- The file of finished scores ----

  void read_scores() {
    if (options_.scores_file.empty()) return;
    ResultsFormat format{"scores of " + options_.scores_of, {"candidate", "fold"}, {"constant"}, 0, false};
    format.values.insert(format.values.end(), kMeasureNames.begin(), kMeasureNames.begin() + measures_);
    file_ = std::make_unique<ResultsFile>(options_.scores_file, format, ResultsFile::Others::kDrop);
    for (const auto& [key, record] : read_results(options_.scores_file, format)) {
      const auto candidate = internal::number_in<Index>(key[0]), fold = internal::number_in<Index>(key[1]);
      require(candidate && fold && *candidate >= 0 && *candidate < std::ssize(result_.record.candidates) &&
                  *fold >= 0 && *fold < std::ssize(folds_),
              "{}: there is no candidate {} on fold {}", options_.scores_file, key[0], key[1]);
      constant_(*fold, *candidate) = record.values.front();
      for (std::size_t m = 0; m < measures_; ++m) {
        result_.fold_scores[*fold](*candidate, static_cast<Index>(m)) = record.values[m + 1];
      }
      is_read_.insert({*candidate, *fold});
    }
  }

  void keep_scores(Index candidate, std::size_t fold) {
    if (!file_) return;
    ResultsRecord record{{fmt::format("{}", candidate), fmt::format("{}", fold)}, {constant_(fold, candidate)}, ""};
    for (std::size_t m = 0; m < measures_; ++m) {
      record.values.push_back(result_.fold_scores[fold](candidate, static_cast<Index>(m)));
    }
    file_->append(record);
    kept_any_ = true;
  }

  // The steps of a learner whose candidates were not all read from the file, and those that must come before them.
  std::vector<std::size_t> steps_to_take(std::size_t learner, const std::vector<LearnStep>& steps) const {
    const std::size_t family = learner / folds_.size(), fold = learner % folds_.size();
    const auto is_known = [&](std::size_t candidate) {
      return is_read_.contains({first_[family] + static_cast<Index>(candidate), static_cast<Index>(fold)});
    };
    std::vector<bool> takes(steps.size());
    std::vector<std::size_t> taken;
    for (std::size_t step = steps.size(); step-- > 0;) {
      if (!takes[step] && std::ranges::all_of(steps[step].candidates, is_known)) continue;
      taken.push_back(step);
      for (const std::size_t before : steps[step].after) takes[before] = true;
    }
    return taken;
  }

  // ---- What the scores say ----

  void summarise() {
    TuningRecord& record = result_.record;
    record.tuned_for = to_string(options_.tune_for);
    record.folds = static_cast<int>(folds_.size());
    record.measures.assign(kMeasureNames.begin(), kMeasureNames.begin() + measures_);
    const auto count = [&](FoldFit kind) { return counts_[static_cast<std::size_t>(kind)].load(); };
    record.proved = count(FoldFit::kProved);
    record.unproved = count(FoldFit::kUnproved);
    record.solved = count(FoldFit::kSolved) + record.unproved;
    summarise_scores();
    const Compared compared = compared_candidates(result_, options_.tune_for);
    record.compared = std::ssize(compared.candidates);
    record.compared_folds = compared.folds;
    find_constant();
    if (!failures_.empty() && !any_scores()) throw CandidateFailure(failures_.begin()->second);
    if (result_.status == Status::kOptimal) {
      record.chosen = best_candidate(result_, options_.tune_for);
    } else {
      keep_best_so_far();
    }
    result_.all_constant = record.chosen >= 0 && result_.constant[record.chosen];
  }

  void summarise_scores() {
    TuningRecord& record = result_.record;
    const Index candidates = std::ssize(record.candidates), measures = static_cast<Index>(measures_);
    record.means.resize(candidates, measures);
    record.standard_errors.resize(candidates, measures);
    for (Index c = 0; c < candidates; ++c) {
      for (Index m = 0; m < measures; ++m) {
        std::vector<double> known;
        for (const Matrix& scores : result_.fold_scores) {
          if (std::isfinite(scores(c, m))) known.push_back(scores(c, m));
        }
        std::tie(record.means(c, m), record.standard_errors(c, m)) = mean_and_error(known);
      }
    }
  }

  // Of what may be chosen.
  bool any_scores() const {
    for (const Matrix& scores : result_.fold_scores) {
      for (Index c = 0; c < scores.rows(); ++c) {
        if (!result_.role_of[c].yardstick && scores.row(c).array().isFinite().any()) return true;
      }
    }
    return false;
  }

  // After an early end: as far as it is known.
  void find_constant() {
    for (const auto& on_folds : constant_.colwise()) {
      const Index known = on_folds.array().isFinite().count(), yes = (on_folds.array() == 1).count();
      result_.constant.push_back(2 * yes > known);
    }
  }

  void keep_best_so_far() {
    try {
      result_.record.chosen = best_candidate(result_, options_.tune_for);
    } catch (const Error&) {
      result_.record.chosen = -1;  // no candidate has a score yet
      return;
    }
    const Index chosen = result_.record.chosen;
    const Index family = result_.family_of[chosen];
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      if (std::isnan(result_.fold_scores[f](chosen, static_cast<Index>(options_.tune_for)))) continue;
      if (is_read_.contains({chosen, static_cast<Index>(f)})) continue;  // only its scores are known
      result_.best_so_far = learner(family, f).model(chosen - first_[family]);
      return;
    }
  }

  const std::vector<Fold>& folds_;
  const TuneOptions& options_;
  const std::size_t measures_;
  std::vector<std::size_t> first_;  // candidate of each family
  std::vector<std::unique_ptr<FoldLearner>> learners_;
  Matrix constant_;  // folds x candidates: 1, 0, or NaN where it is not known
  std::unique_ptr<ResultsFile> file_;
  std::atomic<bool> kept_any_ = false;
  bool cannot_choose_ = false;
  std::set<std::pair<Index, Index>> is_read_;  // candidates and folds whose scores come from the file
  std::array<std::atomic<Index>, 3> counts_{};
  std::map<StepId, std::string> failures_;
  std::mutex failures_mutex_;
  TuneResult result_;
};

}  // namespace

std::string to_string(Measure measure) { return kMeasureNames[static_cast<std::size_t>(measure)]; }

Measure measure_named(const std::string& name) { return internal::value_named(kAllMeasures, name, "the measure"); }

Compared compared_candidates(const TuneResult& result, Measure measure) {
  const auto m = static_cast<Index>(measure);
  Compared compared;
  std::vector<int> folds;
  for (Index c = 0; c < result.record.means.rows(); ++c) {
    const auto has_score = [&](const Matrix& scores) { return std::isfinite(scores(c, m)); };
    folds.push_back(static_cast<int>(std::ranges::count_if(result.fold_scores, has_score)));
    const bool yardstick = !result.role_of.empty() && result.role_of[c].yardstick;
    if (!yardstick) compared.folds = std::max(compared.folds, folds.back());
  }
  for (std::size_t c = 0; c < folds.size(); ++c) {
    if (compared.folds > 0 && folds[c] >= compared.folds) compared.candidates.push_back(static_cast<Index>(c));
  }
  return compared;
}

bool is_clearly_better(const TuneResult& result, Index first, Index second, Measure measure) {
  const auto m = static_cast<Index>(measure);
  std::vector<double> differences;
  for (const Matrix& scores : result.fold_scores) {
    const double difference = (scores(first, m) - scores(second, m)) * (larger_is_better(measure) ? 1 : -1);
    if (std::isfinite(difference)) differences.push_back(difference);
  }
  const auto [mean, error] = mean_and_error(differences);
  return mean > (std::isfinite(error) ? error : 0);
}

namespace {

// The candidate with the best mean; of equal ones the first. -1: there are none.
Index best_of(const TuneResult& result, const std::vector<Index>& candidates, Measure measure) {
  constexpr double kRounding = 1e-12;
  const auto m = static_cast<Index>(measure);
  Index best = -1;
  double best_score = 0;
  for (const Index c : candidates) {
    const double score = result.record.means(c, m) * (larger_is_better(measure) ? 1 : -1);
    if (best >= 0 && !(score > best_score + kRounding * std::abs(best_score))) continue;
    best = c;
    best_score = score;
  }
  return best;
}

}  // namespace

Index best_candidate(const TuneResult& result, Measure measure) {
  std::vector<Index> eligible = compared_candidates(result, measure).candidates;
  std::erase_if(eligible, [&](Index c) { return result.role_of[c].yardstick; });
  const auto is_constant_one = [&](Index c) { return result.constant[c]; };
  if (!std::ranges::all_of(eligible, is_constant_one)) std::erase_if(eligible, is_constant_one);
  const Index best = best_of(result, eligible, measure);
  require(best >= 0, "cross-validation cannot choose by {}: no fold has {} among those held out", to_string(measure),
          measure == Measure::kR2 ? "two rows of different targets" : "two rows of one class and a row of another");
  for (int method = 0; method < result.role_of[best].method; ++method) {
    std::vector<Index> simpler = eligible;
    std::erase_if(simpler, [&](Index c) { return result.role_of[c].method != method; });
    const Index best_simpler = best_of(result, simpler, measure);
    if (best_simpler >= 0 && !is_clearly_better(result, best, best_simpler, measure)) return best_simpler;
  }
  return best;
}

std::vector<MethodScore> method_scores(const TuningRecord& record) {
  const auto found = std::ranges::find(record.measures, record.tuned_for);
  if (found == record.measures.end()) return {};
  const Index measure = found - record.measures.begin();
  const double sign = larger_is_better(measure_named(record.tuned_for)) ? 1 : -1;
  std::vector<MethodScore> scores;
  for (Index c = 0; c < std::ssize(record.candidates); ++c) {
    const Setting* method = find_setting(record.candidates[c], "method");
    const double mean = record.means(c, measure);
    if (method == nullptr || !std::isfinite(mean)) continue;
    auto of_method = std::ranges::find(scores, method->word, &MethodScore::method);
    if (of_method == scores.end()) {
      of_method = scores.insert(scores.end(), {method->word, -1});
    } else if (of_method->chosen || (c != record.chosen && !(sign * mean > sign * of_method->mean))) {
      continue;
    }
    *of_method = {method->word, c, mean, record.standard_errors(c, measure), c == record.chosen};
  }
  return scores;
}

TuneResult tune(const std::vector<Fold>& folds, const CandidateFamilies& families, const TuneOptions& options,
                const RunControl& control) {
  require(!folds.empty(), "there are no folds; at least one is needed");
  require(!families.empty(), "there are no candidates; at least one is needed");
  require(options.threads >= 0, "threads is {}; allowed: 0 (all) or more", options.threads);
  require(options.roles.empty() || options.roles.size() == families.size(),
          "there are {} roles for {} families; allowed: one per family, or none", options.roles.size(),
          families.size());
  require(options.time_limit >= 0, "time_limit is {}; allowed: 0 (none) or more seconds", options.time_limit);
  return Tuner(folds, families, options).run(control);
}

}  // namespace bregmax
