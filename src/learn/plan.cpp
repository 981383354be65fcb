#include "bregmax/learn/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/theory/bounds.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "methods/pbdl_problem.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

using internal::require;

constexpr Index kComparisonsToDraw = 2000;
constexpr int kFoldsOfItems = 5;  // so that most items are left to learn from when rows are held out

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// Fills in a plan, one group of fields after the other.
class Planner {
 public:
  Planner(const FitRequest& request, const TrainingData& data)
      : request_(request), data_(data), rows_(static_cast<double>(data.rows.rows())) {}

  Plan make() {
    plan_.method = &method_named(request_.method);
    plan_.names = names_;
    plan_settings();
    if (!request_.scales.empty()) plan_.scales = request_.scales;
    if (plan_.method->learns_from_items) {
      plan_pbdl();
    } else {
      plan_other();
    }
    plan_choosing();
    check_choice();
    check_data();
    return std::move(plan_);
  }

 private:
  void plan_settings() {
    MethodSettings& settings = plan_.settings;
    settings.tolerance = request_.tolerance;
    settings.max_iterations = request_.max_iterations;
    settings.time_limit = request_.time_limit;
    settings.seed = request_.seed;
    settings.piece_of = request_.piece_of;
    settings.solver = request_.solver;
    settings.solver.exact_seconds = thresholds_.exact_seconds;
    settings.solver.fold_seconds = thresholds_.fold_seconds;
    if (settings.solver.memory_limit == 0) settings.solver.memory_limit = machine_memory();
    for (const auto& [name, wish] : request_.parameters) plan_parameter(name, wish);
  }

  void plan_parameter(const std::string& name, const Wish& wish) {
    MethodParameter parameter = plan_.method->parameter(name);
    parameter.name = names_(name);
    for (const double value : wish.values) parameter.check(value);
    if (wish.values.size() == 1) {
      plan_.settings.parameters[name] = wish.values.front();
    } else if (wish.values.size() > 1) {
      plan_.tried[name] = wish.values;
    }
    if (!wish.automatic) return;
    require(wish.values.empty(), "{} are the values that {} auto tries; it does not go with a number for {}",
            names_(name + "s"), names_(name), names_(name));
    const std::vector<double>& grid = wish.grid.empty() ? parameter.grid : wish.grid;
    for (const double value : grid) parameter.check(value);
    // The grid of `pieces` depends on the rows.
    require(!grid.empty() || name == "pieces", "{} is 'auto'; allowed: {}, or {} to choose from", parameter.name,
            parameter.allowed(), names_.several_values);
    if (!grid.empty()) plan_.tried[name] = grid;
  }

  Wish wish_for(const std::string& parameter) const {
    const auto found = request_.parameters.find(parameter);
    return found != request_.parameters.end() ? found->second : Wish();
  }
  bool given(const std::string& parameter) const { return wish_for(parameter).given(); }

  // ---- Piecewise Bregman divergence learning ----

  void plan_pbdl() {
    check_solver();
    if (data_.labelled()) {
      plan_label_supervision();
    } else if (request_.comparisons || !request_.supervision.empty()) {
      refuse_comparisons();
    }
    const bool all_pairs = data_.labelled() && plan_.supervision.front().kind == LabelSupervision::kAllPairs;
    const bool targets = std::holds_alternative<Targets>(data_.supervision);
    const Wish lambda = wish_for("lambda");
    if (!lambda.given() && targets) {
      plan_.settings.parameters["lambda"] = 0;
    } else if (!lambda.given() || (lambda.automatic && lambda.grid.empty())) {
      plan_.tried["lambda"] = all_pairs ? all_pairs_lambdas() : plan_.method->parameter("lambda").grid;
    }
    fix_if_single("lambda");
    const std::vector<double> lambdas = plan_.values("lambda");
    require(std::ranges::adjacent_find(lambdas, std::ranges::greater_equal()) == lambdas.end(),
            "{} is {}; allowed: rising numbers >= 0", names_("lambdas"), internal::joined(lambdas, ","));
    // By the loss, models of different smoothing cannot be compared.
    const bool by_loss = !data_.labelled() && request_.tune_for.value_or(default_measure()) == Measure::kLoss;
    if (!given("smoothing") && !by_loss && plan_.tried.contains("lambda")) {
      plan_.tried["smoothing"] = plan_.method->parameter("smoothing").grid;
    } else if (!given("smoothing")) {
      plan_.settings.parameters["smoothing"] = 0;
    }
    plan_pieces();
  }

  // A list of one value leaves nothing to choose.
  void fix_if_single(const std::string& name) {
    const auto tried = plan_.tried.find(name);
    if (tried == plan_.tried.end() || tried->second.size() > 1) return;
    plan_.settings.parameters[name] = tried->second.front();
    plan_.tried.erase(tried);
  }

  void plan_label_supervision() {
    std::vector<LabelSupervision> kinds = request_.supervision;
    if (kinds.empty()) {
      const bool small = rows_ <= thresholds_.all_pairs_rows && !request_.comparisons;
      kinds = {small ? LabelSupervision::kAllPairs : LabelSupervision::kComparisons};
    }
    for (const LabelSupervision kind : kinds) {
      if (request_.comparisons && kind == LabelSupervision::kAllPairs) refuse_comparisons();
      LabelSupervisionOptions options;
      options.kind = kind;
      options.comparisons =
          request_.comparisons.value_or(kind == LabelSupervision::kHardComparisons ? 0 : kComparisonsToDraw);
      options.neighbours = request_.hard_neighbours.value_or(options.neighbours);
      options.seed = request_.seed;
      plan_.supervision.push_back(options);
    }
  }

  [[noreturn]] void refuse_comparisons() const {
    internal::fail(
        "{} is the number of comparisons to draw from labels, or of hard ones to keep; it does not go with another "
        "supervision",
        names_("comparisons"));
  }

  void plan_pieces() {
    const bool nothing_said = !given("pieces") && !request_.theory_pieces;
    if (request_.piece_of || (nothing_said && rows_ <= thresholds_.own_pieces_rows)) {
      plan_.settings.parameters["pieces"] = 0;
      plan_.tried.erase("pieces");
    } else if (request_.theory_pieces) {
      plan_.settings.parameters["pieces"] = pieces_of_theory();
    } else if (given("pieces") && !wish_for("pieces").automatic) {
      for (const double pieces : plan_.values("pieces")) {
        require(pieces <= rows_, "{} is {}; allowed: 1 to {}, the number of rows, all, auto or theory",
                names_("pieces"), pieces, rows_);
      }
    } else {
      std::vector<double>& tried = plan_.tried["pieces"];
      if (rows_ > thresholds_.own_pieces_rows) {
        // Shares of a large table would be too many pieces; how many are useful no longer depends on the rows.
        tried = {20, 50, 100, 200};
        std::erase_if(tried, [&](double pieces) { return pieces > rows_; });
        if (tried.empty()) tried = {0};  // every row has its own
      } else {
        tried = {0};
        for (const double share : {2, 4, 8}) {
          if (rows_ / share >= 2) tried.push_back(std::floor(rows_ / share));
        }
      }
      fix_if_single("pieces");
    }
  }

  // 0: every row has its own, also where the theorem would have more pieces than there are rows.
  double pieces_of_theory() const {
    const auto* targets = std::get_if<Targets>(&data_.supervision);
    require(targets != nullptr, "{} is theory; that rule is for targets: give those, or a number of pieces",
            names_("pieces"));
    const Index pieces = regression_pieces(std::ssize(*targets), data_.rows.cols());
    return pieces < data_.rows.rows() ? static_cast<double>(pieces) : 0;
  }

  void check_solver() const {
    constexpr double kLeast = internal::kLeastAdmmTolerance;
    const SolverSettings& solver = request_.solver;
    const std::string exact = names_.with("solver", "exact"), admm = names_.with("solver", "admm");
    const double tolerance = request_.tolerance.value_or(kLeast);
    require(solver.solver != Solver::kAdmm || tolerance >= kLeast, "{} is {}; allowed with {}: {:g} to 0.1",
            names_("tolerance"), tolerance, admm, kLeast);
    const auto refuse_with_exact = [&](bool given, const std::string& option) {
      require(!given || solver.solver != Solver::kExact, "{} is for the solver admm; it does not go with {}", option,
              exact);
    };
    refuse_with_exact(solver.memory_limit > 0, names_("memory_limit"));
    refuse_with_exact(solver.precision == StoragePrecision::kFloat, names_.with("precision", "float"));
    const bool for_admm = !solver.checkpoint.empty() || !solver.resume.empty() || solver.early_stop;
    require(!for_admm || solver.solver == Solver::kAdmm, "{}, {} and {} go with {}", names_("checkpoint"),
            names_("resume"), names_("early_stop"), admm);
  }

  // ---- Other methods ----

  void plan_other() {
    const bool of_pbdl =
        request_.comparisons || request_.hard_neighbours || request_.theory_pieces || request_.piece_of;
    require(!of_pbdl, "numbers of comparisons, neighbours and pieces are for pbdl; they do not go with {}",
            request_.method);
    for (const MethodParameter& parameter : plan_.method->parameters) {
      if (parameter.tuned && worth_tuning() && !given(parameter.name)) plan_.tried[parameter.name] = parameter.grid;
    }
    for (const LabelSupervision kind : request_.supervision) {
      require(kind == LabelSupervision::kAllPairs && data_.labelled(),
              "{} learns from the labels themselves, or from all pairs of them", request_.method);
      plan_.supervision.push_back({kind, 0, 0, request_.seed});
    }
    const bool pairs = !plan_.supervision.empty();
    require(!data_.labelled() || (pairs ? plan_.method->from_pairs : plan_.method->from_labels),
            "{} cannot learn from {}", request_.method, pairs ? "pairs" : "labels");
  }

  // ---- Choosing ----

  void plan_choosing() {
    const bool by_loss = !data_.labelled();
    plan_.labelled = data_.labelled();
    plan_.folds = folds();
    plan_.tune_for = request_.tune_for.value_or(default_measure());
    const bool targets = std::holds_alternative<Targets>(data_.supervision);
    require(!by_loss || plan_.tune_for == Measure::kLoss || (plan_.tune_for == Measure::kAgreement && !targets),
            "{} is '{}'; allowed with given supervision: {}loss, of its held-out items", names_("tune_for"),
            to_string(plan_.tune_for), targets ? "" : "agreement or ");
    const int repeats = rows_ <= thresholds_.three_repeats_rows ? 3 : rows_ <= thresholds_.two_repeats_rows ? 2 : 1;
    plan_.repeats = request_.repeats.value_or(repeats);
    plan_.evaluation.start = KMeansStart::kDivergence;
    plan_.fold_tolerance = plan_.method->fold_tolerance;
    if (plan_.method->learns_from_items && data_.labelled() && rows_ > thresholds_.tuning_rows) {
      plan_.tuning_rows = static_cast<Index>(thresholds_.tuning_rows);
      plan_.tuning_comparisons = static_cast<Index>(thresholds_.tuning_comparisons);
    }
  }

  int folds() const {
    if (request_.folds) return *request_.folds;
    if (data_.labelled()) return plan_.folds;
    return static_cast<int>(std::clamp<Index>(item_count(data_.supervision), plan_.folds, kFoldsOfItems));
  }

  // From a handful of items the scores cannot tell candidates apart.
  bool worth_tuning() const {
    constexpr Index kLeastItemsPerFold = 4;
    if (data_.labelled()) return true;
    const bool pairs = std::holds_alternative<Pairs>(data_.supervision);
    return item_count(data_.supervision) >= kLeastItemsPerFold * folds() &&
           (!pairs || default_measure() == Measure::kAgreement);
  }

  // Agreement of pairs needs both kinds in each fold.
  Measure default_measure() const {
    if (data_.labelled()) return Measure::kAveragePrecision;
    if (std::holds_alternative<Comparisons>(data_.supervision)) return Measure::kAgreement;
    const auto* pairs = std::get_if<Pairs>(&data_.supervision);
    if (pairs == nullptr) return Measure::kLoss;
    const Index similar = std::ranges::count(*pairs, true, &Pair::similar);
    return std::min(similar, std::ssize(*pairs) - similar) >= folds() ? Measure::kAgreement : Measure::kLoss;
  }

  void check_choice() const {
    require(request_.solver.solver != Solver::kAdmm || !plan_.tried.contains("lambda"),
            "{} needs {} V; {} is for a lambda that cross-validation chooses", names_.with("solver", "admm"),
            names_("lambda"), names_.with("solver", "auto"));
    if (!plan_.has_choice() || data_.labelled()) return;
    const Index items = item_count(data_.supervision);
    require(items >= plan_.folds,
            "{} is {}, but the supervision has only {} item{}: too few to choose by cross-validation; give {} V",
            names_("folds"), plan_.folds, items, items == 1 ? "" : "s",
            names_(plan_.tried.empty() ? "scales" : plan_.tried.begin()->first));
  }

  // Whether labels suffice for drawing and for folds is for run(): the program looks first, to name the file's column.
  void check_data() const {
    internal::check_bounded_rows(data_.rows);
    const bool two_classes = plan_.supervision.empty() && plan_.method->needs_supervision;
    const auto* classes = std::get_if<ClassOfRow>(&data_.supervision);
    if (classes != nullptr) internal::check_labels(*classes, data_.rows.rows(), two_classes);
  }

  const FitRequest& request_;
  const TrainingData& data_;
  const Names& names_ = request_.names;
  const PlanThresholds& thresholds_ = request_.thresholds;
  double rows_;
  Plan plan_;
};

}  // namespace

Plan plan(const FitRequest& request, const TrainingData& data) { return Planner(request, data).make(); }

bool Plan::has_choice() const {
  std::size_t candidates = scales.size() * std::max<std::size_t>(1, supervision.size());
  for (const auto& [name, values] : tried) candidates *= values.size();
  return candidates > 1;
}

std::vector<double> Plan::values(const std::string& parameter) const {
  return FamilyOptions{*method, settings, tried}.values(parameter);
}

std::vector<Plan::Field> Plan::fields() const {
  std::vector<Field> list = {{"method", {method->name}}};
  const auto add = [&list](const char* name, const auto& value) { list.push_back({name, {fmt::format("{}", value)}}); };
  for (const LabelSupervisionOptions& one : supervision) {
    if (&one == &supervision.front()) list.push_back({"supervision", {}});
    const bool hard = one.kind == LabelSupervision::kHardComparisons;
    list.back().values.push_back(one.kind == LabelSupervision::kAllPairs
                                     ? to_string(one.kind)
                                     : fmt::format("{} {}{}", one.comparisons, to_string(one.kind),
                                                   hard ? fmt::format(" of {} neighbours", one.neighbours) : ""));
  }
  list.push_back({"scale", {}});
  for (const Scale scale : scales) list.back().values.push_back(to_string(scale));
  for (const MethodParameter& parameter : method->parameters) {
    list.push_back({parameter.name, {}});
    for (const double value : values(parameter.name)) list.back().values.push_back(parameter.text(value));
  }
  if (method->learns_from_items) add("solver", to_string(settings.solver.solver));
  if (settings.tolerance) add("tolerance", *settings.tolerance);
  if (settings.max_iterations) add("max_iterations", *settings.max_iterations);
  if (settings.time_limit > 0) add("time_limit", settings.time_limit);
  add("seed", settings.seed);
  if (!has_choice()) return list;
  add("tune_for", to_string(tune_for));
  add("folds", folds);
  if (labelled) add("repeats", repeats);
  if (tuning_rows > 0) add("tuning_rows", tuning_rows);
  return list;
}

std::string Plan::to_text() const {
  std::string text;
  for (const Field& field : fields())
    text += fmt::format("{:<14} {}\n", field.name, internal::joined(field.values, ", "));
  return text;
}

}  // namespace bregmax
