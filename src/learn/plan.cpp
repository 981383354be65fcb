#include "bregmax/learn/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bregmax/learn/folds.hpp"
#include "bregmax/supervision/sample.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "learn/method_planner.hpp"
#include "learn/start.hpp"
#include "methods/item_folds.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

using internal::require;

// So that most items are left to learn from when rows are held out: 73% of the comparisons with ten folds, 51% with
// five.
constexpr Index kFewestFoldsOfItems = 5, kMostFoldsOfItems = 10;
constexpr Index kLeastItemsPerFold = 4;

// Supervision from a number per row: so many pairs per row, within bounds, and at least so many rows in a fold.
constexpr Index kPairsPerRow = 10, kFewestPairs = 2000, kMostPairs = 20'000;
constexpr Index kLeastRowsPerFold = 4;

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// Decides which methods compete and how the choice is made.
class Planner {
 public:
  Planner(const FitRequest& request, const TrainingData& data)
      : request_(request), data_(data), rows_(static_cast<double>(data.rows.rows())) {}

  Plan make() {
    plan_.names = names_;
    plan_.seed = request_.seed;
    plan_.time_limit = request_.time_limit;
    if (data_.has_row_targets()) plan_.target_pairs = item_count(data_.supervision);
    plan_.both_directions = std::holds_alternative<Pairs>(data_.supervision) && !request_.directed_pairs;
    check_rows();
    plan_choosing();
    const std::string reason = reason_not_to_choose();
    const internal::PlanningContext context = make_context(reason.empty());
    if (request_.method != "auto") {
      require(request_.candidates.empty(), "{} name the methods that {} chooses from; they do not go with {}",
              names_("candidates"), names_.with("method", "auto"), names_.with("method", request_.method));
      add_method(request_.method, context);
      if (!reason.empty() && leaves_open(*plan_.main().method)) say_standard(reason);
    } else if (internal::asks_for_pbdl(request_)) {
      require(request_.candidates.empty(), "{} name methods to choose from, and another option is for pbdl alone",
              names_("candidates"));
      add_method("pbdl", context);
    } else if (!reason.empty()) {
      add_method(without_choice(), context);
      say_standard(reason);
    } else {
      add_automatic_methods(context);
    }
    finish();
    return std::move(plan_);
  }

 private:
  // ---- Methods ----

  void add_method(const std::string& name, const internal::PlanningContext& context) {
    plan_.methods.push_back(internal::plan_method(method_named(name), context));
  }

  bool leaves_open(const Method& method) const {
    if (method.learns_from_items) return false;  // always chooses lambda
    return std::ranges::any_of(method.parameters, [this](const MethodParameter& parameter) {
      return parameter.tuned && !request_.parameters.contains(parameter.name);
    });
  }

  void say_standard(const std::string& reason) {
    plan_.notes.push_back(
        fmt::format("{}: {} is learned with its standard parameters", reason, plan_.main().method->name));
  }

  std::string without_choice() const { return request_.candidates.empty() ? "smooth" : request_.candidates.front(); }

  void add_automatic_methods(internal::PlanningContext context) {
    context.competes = true;
    plan_.automatic = true;
    for (const std::string& name : request_.candidates) method_named(name);
    const auto wanted = [this](const std::string& name) {
      return request_.candidates.empty() || std::ranges::count(request_.candidates, name) > 0;
    };
    for (const std::string& name : automatic_methods()) {
      if (!wanted(name)) continue;
      if (request_.candidates.empty() && !data_.row_weights.empty() && !method_named(name).weighs_rows) {
        plan_.notes.push_back(fmt::format("{} does not compete, since it does not weigh rows", name));
        continue;
      }
      add_method(name, context);
      const PlannedMethod& planned = plan_.methods.back();
      const bool short_enough = planned.seconds_of_folds <= request_.thresholds.auto_pbdl_seconds;
      if (name != "pbdl" || !request_.candidates.empty() || short_enough) continue;
      plan_.notes.push_back(fmt::format(
          "pbdl, the proved method, does not compete: its cross-validation is predicted to take {} of processor time; "
          "{} lets it",
          internal::duration(planned.seconds_of_folds), names_.with("candidates", "smooth,pbdl,deep")));
      plan_.methods.pop_back();
    }
    // The others, of which it is not known how complex they are, come last, in the order of the request.
    for (const std::string& name : request_.candidates) {
      const auto known = automatic_methods();
      if (std::ranges::count(known, name) == 0) add_method(name, context);
    }
    say_who_resumes();
    add_yardstick(context);
  }

  void say_who_resumes() {
    if (!request_.solver.asks_to_resume()) return;
    std::vector<std::string> names;
    for (const PlannedMethod& planned : plan_.methods) {
      if (planned.settings.solver.asks_to_resume()) names.push_back(planned.method->name);
    }
    const std::string wishes =
        fmt::format("{}, {} and {}", names_("checkpoint"), names_("resume"), names_("early_stop"));
    require(!names.empty(), "{} go with smooth and deep, which are not among {}", wishes, names_("candidates"));
    plan_.notes.push_back(
        fmt::format("{} are for {}; the checkpoint is of the last fit", wishes, internal::joined(names, " and ")));
  }

  // The Euclidean distance is always among what is scored, so that the user sees what learning is worth.
  void add_yardstick(const internal::PlanningContext& context) {
    const auto is_euclidean = [](const PlannedMethod& planned) { return planned.method->name == "euclidean"; };
    if (std::ranges::any_of(plan_.methods, is_euclidean)) return;
    FitRequest plain;  // the user's wishes are for the other method, except those for all
    plain.scales = request_.scales;
    plain.seed = request_.seed;
    plain.directed_pairs = request_.directed_pairs;
    plain.thresholds = request_.thresholds;
    plain.names = names_;
    internal::PlanningContext of_yardstick{plain, data_};
    of_yardstick.fits_per_candidate = context.fits_per_candidate;
    of_yardstick.rows_per_fit = context.rows_per_fit;
    of_yardstick.items_per_fit = context.items_per_fit;
    of_yardstick.held_out_rows = context.held_out_rows;
    PlannedMethod euclidean = internal::plan_method(method_named("euclidean"), of_yardstick);
    euclidean.yardstick = true;
    plan_.methods.push_back(std::move(euclidean));
  }

  // ---- Choosing ----

  void plan_choosing() {
    plan_.labelled = data_.labelled();
    plan_.folds = folds();
    require(plan_.folds >= 2, "{} is {}; allowed: 2 or more", names_("folds"), plan_.folds);
    plan_.tune_for = request_.tune_for.value_or(default_measure());
    check_measure();
    const int repeats = rows_ <= request_.thresholds.three_repeats_rows ? 3
                        : rows_ <= request_.thresholds.two_repeats_rows ? 2
                                                                        : 1;
    plan_.repeats = request_.repeats.value_or(repeats);
    plan_.evaluation.start = KMeansStart::kDivergence;
  }

  void check_measure() const {
    const Measure measure = plan_.tune_for;
    const std::string option = names_("tune_for"), given = to_string(measure);
    if (data_.labelled()) {
      require(measure != Measure::kR2, "{} is '{}', which is about numbers; there are labels", option, given);
    } else if (data_.has_row_targets()) {
      require(measure == Measure::kR2 || measure == Measure::kLoss,
              "{} is '{}'; allowed with a number per row: r2 or loss", option, given);
    } else {
      const bool targets = std::holds_alternative<Targets>(data_.supervision);
      require(measure == Measure::kLoss || (measure == Measure::kAgreement && !targets),
              "{} is '{}'; allowed with given supervision: {}loss, of its held-out items", option, given,
              targets ? "" : "agreement or ");
    }
  }

  // Of given items, folds are made by other rules than of rows.
  bool holds_out_rows() const { return data_.labelled() || data_.has_row_targets(); }

  int folds() const {
    if (request_.folds) return *request_.folds;
    if (holds_out_rows()) return plan_.folds;
    const Index items = item_count(data_.supervision);
    if (items < kLeastItemsPerFold * kFewestFoldsOfItems) {
      return static_cast<int>(std::clamp<Index>(items, plan_.folds, kFewestFoldsOfItems));
    }
    return static_cast<int>(std::min(items / kLeastItemsPerFold, kMostFoldsOfItems));
  }

  // Agreement of pairs needs both kinds in each fold.
  Measure default_measure() const {
    if (data_.labelled()) return Measure::kAveragePrecision;
    if (data_.has_row_targets()) return Measure::kR2;
    if (std::holds_alternative<Comparisons>(data_.supervision)) return Measure::kAgreement;
    const auto* pairs = std::get_if<Pairs>(&data_.supervision);
    if (pairs == nullptr) return Measure::kLoss;
    const Index similar = std::ranges::count(*pairs, true, &Pair::similar);
    return std::min(similar, std::ssize(*pairs) - similar) >= folds() ? Measure::kAgreement : Measure::kLoss;
  }

  // Why a cross-validation could not tell candidates apart; empty: it could.
  std::string reason_not_to_choose() const {
    if (const auto* classes = std::get_if<ClassOfRow>(&data_.supervision)) {
      try {
        usable_folds(*classes, plan_.folds);
      } catch (const Error& error) {
        return error.what();
      }
      return "";
    }
    if (data_.has_row_targets()) {
      if (data_.rows.rows() >= kLeastRowsPerFold * plan_.folds) return "";
      return fmt::format("too few rows to choose by cross-validation ({}; {} would do)", data_.rows.rows(),
                         kLeastRowsPerFold * plan_.folds);
    }
    const Index items = item_count(data_.supervision);
    if (items < kLeastItemsPerFold * plan_.folds) {
      return fmt::format("too few items to choose by cross-validation ({}; {} would do)", items,
                         kLeastItemsPerFold * plan_.folds);
    }
    const bool pairs = std::holds_alternative<Pairs>(data_.supervision);
    if (pairs && default_measure() != Measure::kAgreement) {
      return fmt::format("too few similar or dissimilar pairs to choose by cross-validation ({} of each would do)",
                         plan_.folds);
    }
    return "";
  }

  internal::PlanningContext make_context(bool can_choose) const {
    internal::PlanningContext context{request_, data_, machine_memory(), plan_.tune_for, can_choose};
    const double folds = plan_.folds, share = (folds - 1) / folds;
    const double tuning_rows = std::min(rows_, request_.thresholds.tuning_rows);
    context.fits_per_candidate = folds * (holds_out_rows() ? plan_.repeats : 1);
    context.rows_per_fit = holds_out_rows() ? share * tuning_rows : std::max(tuning_rows, named_rows());
    context.held_out_rows = holds_out_rows() ? tuning_rows / folds : 0;
    // A fold loses each item that names a row of a held-out fold, and an item names two or three.
    context.items_per_fit = share * share * internal::items_to_learn(request_, data_);
    return context;
  }

  double named_rows() const {
    const std::vector<bool> named = internal::named_rows(items_of(data_.supervision), data_.rows.rows());
    return static_cast<double>(std::ranges::count(named, true));
  }

  void finish() {
    if (rows_ > request_.thresholds.tuning_rows) {
      plan_.tuning_rows = static_cast<Index>(request_.thresholds.tuning_rows);
      plan_.tuning_comparisons = static_cast<Index>(request_.thresholds.tuning_comparisons);
    }
    check_choice();
    check_labels();
    if (plan_.has_choice() && !plan_.automatic) {
      add_yardstick(make_context(true));
    }
  }

  // ---- Checks ----

  void check_choice() const {
    const PlannedMethod& main = plan_.main();
    require(request_.solver.solver != Solver::kAdmm || !main.tried.contains("lambda"),
            "{} needs {} V; {} is for a lambda that cross-validation chooses", names_.with("solver", "admm"),
            names_("lambda"), names_.with("solver", "auto"));
    if (!plan_.has_choice() || holds_out_rows()) return;
    const Index items = item_count(data_.supervision);
    require(items >= plan_.folds,
            "{} is {}, but the supervision has only {} item{}: too few to choose by cross-validation; give {} V",
            names_("folds"), plan_.folds, items, items == 1 ? "" : "s",
            names_(main.tried.empty() ? "scales" : main.tried.begin()->first));
  }

  void check_rows() const {
    internal::check_bounded_rows(data_.rows);
    const auto* classes = std::get_if<ClassOfRow>(&data_.supervision);
    if (classes != nullptr) internal::check_labels(*classes, data_.rows.rows(), false);
    internal::check_given_items(data_.supervision, data_.rows.rows());
    internal::check_row_weights(data_.row_weights, data_.supervision, data_.rows.rows());
  }

  // Whether there is something to learn from the labels, comparisons to draw, and folds to choose by.
  void check_labels() const {
    const auto* given = std::get_if<ClassOfRow>(&data_.supervision);
    const PlannedMethod& main = plan_.main();
    if (given == nullptr || !(main.method->needs_supervision || plan_.automatic)) return;
    const std::set<int> classes(given->begin(), given->end());
    const bool drawn = !main.supervision.empty();
    const bool all_pairs = !drawn || main.supervision.front().kind == LabelSupervision::kAllPairs;
    require(!all_pairs || classes.size() < given->size() || classes.size() <= 2,
            "{}: each of the {} rows has a different label, so that no two are similar; another column may name the "
            "classes, and numbers to learn are targets",
            names_.labels, given->size());
    try {
      if (!drawn) internal::check_labels(*given, data_.rows.rows(), true);
      if (!all_pairs) sample_comparisons(*given, 1, 0);
      if (drawn && all_pairs && given->size() < 2) label_pairs(*given);
      if (plan_.has_choice()) usable_folds(*given, plan_.folds);
    } catch (const Error& error) {
      const bool fixable = main.method->learns_from_items && plan_.has_choice() && classes.size() > 1;
      internal::fail("{}: {}{}", names_.labels, error.what(),
                     fixable ? fmt::format("; {} needs no cross-validation", names_.with("lambda", "V")) : "");
    }
  }

  const FitRequest& request_;
  const TrainingData& data_;
  const Names& names_ = request_.names;
  double rows_;
  Plan plan_;
};

}  // namespace

TrainingData internal::with_items(const TrainingData& data, Index pairs, std::uint64_t seed, const std::string& name) {
  TrainingData drawn = data;
  if (!data.has_row_targets()) return drawn;
  const Index rows = data.rows.rows();
  require(data.row_targets.size() == rows, "{}: there are {} numbers for {} rows; allowed: one per row", name,
          data.row_targets.size(), rows);
  try {
    drawn.supervision = squared_differences(data.row_targets, pairs, seed);
  } catch (const Error& error) {
    fail("{}: {}", name, error.what());
  }
  return drawn;
}

Plan plan(const FitRequest& request, const TrainingData& given) {
  const Index pairs = std::clamp(kPairsPerRow * given.rows.rows(), kFewestPairs, kMostPairs);
  const TrainingData data = internal::with_items(given, pairs, request.seed, request.names.row_targets);
  if (request.start) return Planner(internal::filled_from_start(request, data), data).make();
  return Planner(request, data).make();
}

}  // namespace bregmax
