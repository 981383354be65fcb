#include <algorithm>
#include <cmath>
#include <set>

#include "bregmax/core/random.hpp"
#include "bregmax/learn/compare.hpp"
#include "bregmax/supervision/sample.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "learn/compare_runs.hpp"
#include "learn/method_planner.hpp"

namespace bregmax {
namespace {

using internal::fail;
using internal::require;

// Of items, folds hold out rows. With ten, most items are left to learn from; but the work on a fold is that of a whole
// fit, so half of them have to do.
constexpr int kFolds = 5;
constexpr std::uint64_t kFoldsOfComparison = 11, kFitsOfComparison = 12;  // random streams
constexpr std::array kOfLabels = {Measure::kRandIndex, Measure::kPurity, Measure::kAuc, Measure::kAveragePrecision,
                                  Measure::kKnn};

bool can_learn(const Method& method, const MethodSupervision& supervision) {
  return std::ranges::count(method.supervision(), supervision_name(supervision)) > 0;
}

// Decides what the request of a comparison leaves open.
class ComparePlanner {
 public:
  ComparePlanner(const CompareRequest& request, const TrainingData& data) : request_(request), data_(data) {}

  ComparePlan make() {
    plan_.request = request_;
    check_request();
    plan_folds();
    plan_methods();
    return std::move(plan_);
  }

 private:
  void check_request() const {
    require(!data_.has_row_targets(), "methods are compared by labels or items, not by a number per row");
    require(request_.repeats >= 1, "{} is {}; allowed: 1 or more", names_("repeats"), request_.repeats);
    require(data_.labelled() || request_.repeats == 1, "{} is for labels; given supervision is divided once",
            names_("repeats"));
    require(request_.rows >= 0, "{} is {}; allowed: 0 (all) or more", names_("rows"), request_.rows);
    require(request_.time_limit >= 0, "{} is {}; allowed: 0 (none) or more seconds", names_("time_limit"),
            request_.time_limit);
    for (std::size_t m = 0; m < request_.methods.size(); ++m) {
      const std::string& name = request_.methods[m];
      require(name != "all" || request_.methods.size() == 1, "{} has 'all' beside other names; allowed: all, or names",
              names_("methods"));
      require(std::count(request_.methods.begin(), request_.methods.begin() + m, name) == 0,
              "{} has '{}' more than once", names_("methods"), name);
      if (name == "all" || name == "auto") continue;
      const auto method = std::ranges::find(all_methods(), name, &Method::name);
      require(method != all_methods().end(), "{} has '{}'; allowed: all, auto, {}", names_("methods"), name,
              internal::joined(in_order(), ", "));
      const std::string given = supervision_name(data_.supervision);
      require(can_learn(*method, data_.supervision), "{} has {}, which cannot learn from {}; it learns from {}",
              names_("methods"), name, given, internal::joined(method->supervision(), ", "));
    }
  }

  // ---- Folds ----

  void plan_folds() {
    FitRequest plain = internal::request_of_method(plan_, "euclidean", request_.seed);
    plain.scales = {};
    plain.folds = request_.folds;
    plain.repeats = request_.repeats;
    Plan& outer = plan_.outer = plan(plain, data_);
    outer.tuning_rows = 0;  // its models learn from all rows that are to be used
    plan_.measures = {outer.tune_for};
    if (data_.labelled()) {
      plan_.measures.assign(kOfLabels.begin(), kOfLabels.end());
      const Index rows = data_.rows.rows();
      require(!request_.folds || *request_.folds <= rows, "{} is {}; allowed: 2 to {}, the number of rows",
              names_("folds"), request_.folds.value_or(0), rows);
      if (!request_.folds) outer.folds = kFolds;
      if (request_.rows > 0 && rows > request_.rows) {
        outer.tuning_rows = request_.rows;
        plan_.notes.push_back(fmt::format("{} of the {} rows are used, drawn at random; {} uses all", request_.rows,
                                          rows, names_.with("rows", "0")));
      }
      check_classes();
      if (outer.tuning_rows > 0) take_sample();
    } else {
      check_items();
    }
    plan_.folds = outer.folds * outer.repeats;
    if (!data_.labelled() && !request_.folds) plan_.folds = std::min(kFolds, outer.folds);
  }

  void check_classes() {
    Plan& outer = plan_.outer;
    try {
      const int usable = usable_folds(std::get<ClassOfRow>(data_.supervision), outer.folds);
      if (usable == outer.folds) return;
      plan_.notes.push_back(
          fmt::format("{} folds instead of {}: the smallest class has too few rows for more", usable, outer.folds));
      outer.folds = usable;
    } catch (const Error& error) {
      fail("{}: {}", names_.labels, error.what());
    }
  }

  void check_items() {
    const int folds = plan_.outer.folds;
    const Index items = item_count(data_.supervision);
    const std::string kind = supervision_name(data_.supervision);
    require(items >= folds, "there are {} {}; {} folds need as many", items, kind, folds);
    if (std::holds_alternative<Targets>(data_.supervision)) return;
    // The loss asks for margins, so that distances of different units cannot be compared by it.
    plan_.measures = {Measure::kAgreement};
    const auto* pairs = std::get_if<Pairs>(&data_.supervision);
    if (pairs == nullptr) return;
    const Index similar = std::ranges::count(*pairs, true, &Pair::similar);
    require(std::min(similar, items - similar) >= folds,
            "there are {} similar and {} dissimilar pairs; {} folds need at least as many of each kind", similar,
            items - similar, folds);
  }

  // Times are predicted for the rows that are used.
  void take_sample() {
    plan_.folds = plan_.outer.folds * plan_.outer.repeats;
    sample_ = std::move(internal::folds_of_comparison(plan_, data_).front());
    planned_for_.emplace(internal::training_of(*sample_));
  }

  // ---- Methods ----

  void plan_methods() {
    const bool by_default = request_.methods.empty();
    const bool all = !by_default && request_.methods.front() == "all";
    const auto named = [&](const std::string& name) { return std::ranges::count(request_.methods, name) > 0; };
    std::vector<std::string> members;
    if (by_default || all || named("auto")) members = members_of_auto();
    std::vector<std::string> long_ones;
    for (const std::string& name : in_order()) {
      if (!can_learn(method_named(name), data_.supervision)) continue;
      const bool member = std::ranges::count(members, name) > 0;
      if (!(by_default || all || member || named(name) || name == "euclidean")) continue;
      ComparePlan::Entry entry = entry_of(name);
      entry.of_auto = member;
      if (by_default && !member && !(entry.seconds <= request_.long_seconds)) {
        long_ones.push_back(fmt::format("{} ({})", name, internal::duration(entry.seconds)));
      } else {
        plan_.methods.push_back(std::move(entry));
      }
    }
    if (!members.empty()) add_auto();
    if (long_ones.empty()) return;
    plan_.notes.push_back(fmt::format("left out, because they are predicted to take long: {}; {} compares them, too",
                                      internal::joined(long_ones, ", "), names_.with("methods", "all")));
  }

  const TrainingData& planning_data() const { return planned_for_ ? *planned_for_ : data_; }

  // What `auto` chooses from, and so what has to be in the table for it.
  std::vector<std::string> members_of_auto() const {
    FitRequest request = internal::request_of_method(plan_, "auto", request_.seed);
    const Plan automatic = plan(request, planning_data());
    std::vector<std::string> members;
    members.reserve(automatic.methods.size());
    for (const PlannedMethod& planned : automatic.methods) members.push_back(planned.method->name);
    return members;
  }

  // The automatic methods from the simplest on, then the others as they are registered.
  static std::vector<std::string> in_order() {
    std::vector<std::string> names = automatic_methods();
    for (const Method& method : all_methods()) {
      if (std::ranges::count(names, method.name) == 0) names.push_back(method.name);
    }
    return names;
  }

  ComparePlan::Entry entry_of(const std::string& name) const {
    const Plan inner = internal::plan_of_method(plan_, name, request_.seed, planning_data());
    const PlannedMethod& planned = inner.main();
    const double held_out = data_.labelled() ? static_cast<double>(planning_data().rows.rows()) / plan_.outer.folds : 0;
    double seconds = planned.seconds_of_fit + internal::seconds_to_score(held_out);
    if (inner.has_choice()) seconds += planned.seconds_of_folds + planned.seconds_of_scores;
    return {name, planned.candidates(), plan_.folds * seconds};
  }

  // Behind the last method that it chooses from. It costs nothing: it takes the scores of the one that it chooses.
  void add_auto() {
    const auto last = std::find_if(plan_.methods.rbegin(), plan_.methods.rend(),
                                   [](const ComparePlan::Entry& entry) { return entry.of_auto; });
    plan_.methods.insert(last.base(), ComparePlan::Entry{"auto", 1, 0});
  }

  const CompareRequest& request_;
  const TrainingData& data_;
  const Names& names_ = request_.names;
  std::optional<Fold> sample_;               // of a large table
  std::optional<TrainingData> planned_for_;  // its training part
  ComparePlan plan_;
};

}  // namespace

FitRequest internal::request_of_method(const ComparePlan& plan, const std::string& method, std::uint64_t seed) {
  FitRequest request;
  request.method = method;
  request.scales = plan.request.scales;
  request.tune_for = plan.request.tune_for;
  request.directed_pairs = plan.request.directed_pairs;
  request.seed = seed;
  request.thresholds = plan.request.thresholds;
  request.names = plan.request.names;
  return request;
}

Plan internal::plan_of_method(const ComparePlan& plan, const std::string& method, std::uint64_t seed,
                              const TrainingData& training) {
  Plan inner = bregmax::plan(request_of_method(plan, method, seed), training);
  inner.methods.resize(1);  // the Euclidean distance has a row of its own
  return inner;
}

std::vector<Fold> internal::folds_of_comparison(const ComparePlan& plan, const TrainingData& data,
                                                const RunControl& control) {
  Plan outer = plan.outer;
  outer.seed = Random(plan.request.seed).fork(kFoldsOfComparison).next_bits();
  outer.both_directions = false;  // the fits on the training parts add the other direction
  std::vector<Fold> folds = folds_of(outer, data, control);
  for (Fold& fold : folds) {
    if (plan.outer.both_directions) fold.loss_items = in_both_directions(std::move(fold.loss_items));
  }
  if (std::ssize(folds) > plan.folds) folds.resize(static_cast<std::size_t>(plan.folds));
  return folds;
}

std::uint64_t internal::seed_of_fold(const ComparePlan& plan, std::size_t fold) {
  return Random(plan.request.seed).fork(kFitsOfComparison).fork(fold).next_bits();
}

TrainingData internal::training_of(const Fold& fold) {
  if (fold.train_items) return {fold.train_rows, as_method_supervision(*fold.train_items)};
  return {fold.train_rows, fold.train_classes};
}

ComparePlan plan_comparison(const CompareRequest& request, const TrainingData& data) {
  return ComparePlanner(request, data).make();
}

}  // namespace bregmax
