#include "learn/method_planner.hpp"

#include <algorithm>
#include <cmath>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/theory/bounds.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "methods/methods.hpp"
#include "methods/pbdl_problem.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kComparisonsToDraw = 2000;

// Fills in what is planned of a method, one group of fields after the other.
class MethodPlanner {
 public:
  MethodPlanner(const Method& method, const PlanningContext& context)
      : context_(context), method_(method), rows_(static_cast<double>(context.data.rows.rows())) {}

  PlannedMethod make() {
    planned_.method = &method_;
    planned_.fold_tolerance = method_.fold_tolerance;
    plan_settings();
    require(data_.row_weights.empty() || method_.weighs_rows, "{} does not weigh rows; smooth and deep do",
            method_.name);
    if (!request_.scales.empty()) planned_.scales = request_.scales;
    if (method_.learns_from_items) {
      plan_pbdl();
    } else {
      plan_other();
    }
    predict_cost();
    predict_scoring();
    return std::move(planned_);
  }

 private:
  void plan_settings() {
    MethodSettings& settings = planned_.settings;
    settings.tolerance = request_.tolerance;
    settings.max_iterations = request_.max_iterations;
    settings.time_limit = request_.time_limit;
    settings.seed = request_.seed;
    settings.piece_of = request_.piece_of;
    settings.start = request_.start;
    settings.solver = request_.solver;
    settings.solver.exact_seconds = thresholds_.exact_seconds;
    settings.solver.fold_seconds = thresholds_.fold_seconds;
    if (settings.solver.memory_limit == 0) settings.solver.memory_limit = context_.memory;
    require(settings.solver.checkpoint_every >= 0, "{} is {}; allowed: 0 or more seconds", names_("checkpoint_every"),
            settings.solver.checkpoint_every);
    // The exact solver, which pbdl then takes, does neither.
    if (context_.competes && (!method_.resumable || method_.learns_from_items)) {
      settings.solver.checkpoint.clear();
      settings.solver.resume.clear();
      settings.solver.early_stop = false;
    }
    for (const auto& [name, wish] : request_.parameters) plan_parameter(name, wish);
  }

  void plan_parameter(const std::string& name, const Wish& wish) {
    MethodParameter parameter = method_.parameter(name);
    parameter.name = names_(name);
    for (const double value : wish.values) parameter.check(value);
    if (wish.values.size() == 1) {
      planned_.settings.parameters[name] = wish.values.front();
    } else if (wish.values.size() > 1) {
      planned_.tried[name] = wish.values;
    }
    if (!wish.automatic) return;
    require(wish.values.empty(), "{} are the values that {} auto tries; it does not go with a number for {}",
            names_(name + "s"), names_(name), names_(name));
    const std::vector<double>& grid = wish.grid.empty() ? parameter.grid : wish.grid;
    for (const double value : grid) parameter.check(value);
    // The grid of `pieces` depends on the rows.
    require(!grid.empty() || name == "pieces", "{} is 'auto'; allowed: {}, or {} to choose from", parameter.name,
            parameter.allowed(), names_.several_values);
    if (!grid.empty()) planned_.tried[name] = grid;
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
    const bool all_pairs = data_.labelled() && planned_.supervision.front().kind == LabelSupervision::kAllPairs;
    const bool given_targets = std::holds_alternative<Targets>(data_.supervision) && !data_.has_row_targets();
    const Wish lambda = wish_for("lambda");
    if (!lambda.given() && given_targets) {
      planned_.settings.parameters["lambda"] = 0;
    } else if (!lambda.given() || (lambda.automatic && lambda.grid.empty())) {
      planned_.tried["lambda"] = all_pairs ? all_pairs_lambdas() : method_.parameter("lambda").grid;
    }
    fix_if_single("lambda");
    const std::vector<double> lambdas = planned_.values("lambda");
    require(std::ranges::adjacent_find(lambdas, std::ranges::greater_equal()) == lambdas.end(),
            "{} is {}; allowed: rising numbers >= 0", names_("lambdas"), joined(lambdas, ","));
    // By the loss, models of different smoothing cannot be compared.
    const bool by_loss = !data_.labelled() && context_.tune_for == Measure::kLoss;
    if (!given("smoothing") && !by_loss && planned_.tried.contains("lambda")) {
      planned_.tried["smoothing"] = method_.parameter("smoothing").grid;
    } else if (!given("smoothing")) {
      planned_.settings.parameters["smoothing"] = 0;
    }
    plan_pieces();
  }

  // A list of one value leaves nothing to choose.
  void fix_if_single(const std::string& name) {
    const auto tried = planned_.tried.find(name);
    if (tried == planned_.tried.end() || tried->second.size() > 1) return;
    planned_.settings.parameters[name] = tried->second.front();
    planned_.tried.erase(tried);
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
      planned_.supervision.push_back(options);
    }
  }

  [[noreturn]] void refuse_comparisons() const {
    fail(
        "{} is the number of comparisons to draw from labels, or of hard ones to keep; it does not go with another "
        "supervision",
        names_("comparisons"));
  }

  void plan_pieces() {
    const bool nothing_said = !given("pieces") && !request_.theory_pieces;
    if (request_.piece_of || (nothing_said && rows_ <= thresholds_.own_pieces_rows)) {
      planned_.settings.parameters["pieces"] = 0;
      planned_.tried.erase("pieces");
    } else if (request_.theory_pieces) {
      planned_.settings.parameters["pieces"] = pieces_of_theory();
    } else if (given("pieces") && !wish_for("pieces").automatic) {
      for (const double pieces : planned_.values("pieces")) {
        require(pieces <= rows_, "{} is {}; allowed: 1 to {}, the number of rows, all, auto or theory",
                names_("pieces"), pieces, rows_);
      }
    } else {
      std::vector<double>& tried = planned_.tried["pieces"];
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
    constexpr double kLeast = kLeastAdmmTolerance;
    const SolverSettings& solver = planned_.settings.solver;
    const std::string exact = names_.with("solver", "exact"), admm = names_.with("solver", "admm");
    const double tolerance = request_.tolerance.value_or(kLeast);
    require(solver.solver != Solver::kAdmm || tolerance >= kLeast, "{} is {}; allowed with {}: {:g} to 0.1",
            names_("tolerance"), tolerance, admm, kLeast);
    const auto refuse_with_exact = [&](bool given, const std::string& option) {
      require(!given || solver.solver != Solver::kExact, "{} is for the solver admm; it does not go with {}", option,
              exact);
    };
    refuse_with_exact(request_.solver.memory_limit > 0, names_("memory_limit"));
    refuse_with_exact(solver.precision == StoragePrecision::kFloat, names_.with("precision", "float"));
    require(!solver.asks_to_resume() || solver.solver == Solver::kAdmm, "{}, {} and {} go with {}",
            names_("checkpoint"), names_("resume"), names_("early_stop"), admm);
  }

  // ---- Other methods ----

  void plan_other() {
    check_demands();
    const bool of_pbdl =
        request_.comparisons || request_.hard_neighbours || request_.theory_pieces || request_.piece_of;
    require(!of_pbdl, "numbers of comparisons, neighbours and pieces are for pbdl; they do not go with {}",
            method_.name);
    const Solver solver = request_.solver.solver;
    require(solver == Solver::kAuto, "{} is for pbdl; it does not go with {}", names_.with("solver", to_string(solver)),
            method_.name);
    for (const MethodParameter& parameter : method_.parameters) {
      const bool tuned = parameter.tuned || (parameter.tuned_from_items && !data_.labelled());
      if (tuned && context_.can_choose && !given(parameter.name)) {
        planned_.tried[parameter.name] = parameter.grid;
      }
    }
    for (const LabelSupervision kind : request_.supervision) {
      require(kind == LabelSupervision::kAllPairs && data_.labelled(),
              "{} learns from the labels themselves, or from all pairs of them", method_.name);
      require(data_.row_weights.empty(), "{} is for labelled rows; it does not go with all pairs of them",
              names_("row_weights"));
      planned_.supervision.push_back({kind, 0, 0, request_.seed});
    }
    const bool pairs = !planned_.supervision.empty();
    require(!data_.labelled() || (pairs ? method_.from_pairs : method_.from_labels), "{} cannot learn from {}",
            method_.name, pairs ? "pairs" : "labels");
  }

  void check_demands() const {
    require(!planned_.settings.solver.asks_to_resume() || method_.resumable,
            "{}, {} and {} do not go with {}; smooth, deep, and pbdl with {} know them", names_("checkpoint"),
            names_("resume"), names_("early_stop"), method_.name, names_.with("solver", "admm"));
    require(context_.competes || request_.solver.memory_limit == 0 || method_.predicted_memory,
            "{} does not go with {}, whose memory is not predicted", names_("memory_limit"), method_.name);
  }

  // ---- Cost ----

  void predict_cost() {
    if (!method_.predicted_seconds) return;
    const double items = items_to_learn(request_, data_);
    const bool comparisons = data_.labelled() ? !planned_.supervision.empty() &&
                                                    planned_.supervision.front().kind != LabelSupervision::kAllPairs
                                              : std::holds_alternative<Comparisons>(data_.supervision);
    const auto features = static_cast<double>(data_.rows.cols());
    const double drawn =
        data_.labelled() && comparisons ? static_cast<double>(planned_.supervision.front().comparisons) : items;
    MethodChoices choices = resolve(method_, planned_.settings);
    const FitSize size{rows_, features, drawn, comparisons};
    planned_.seconds_of_fit = method_.predicted_seconds(size, choices);
    const double on_fold = method_.predicted_seconds(
        {context_.rows_per_fit, features, data_.labelled() ? drawn : context_.items_per_fit, comparisons}, choices);
    double fits = static_cast<double>(planned_.candidates());
    // Smoothing costs no fit, and about half of the lambdas are proved by the solution of another.
    if (method_.learns_from_items) fits /= 2 * static_cast<double>(planned_.values("smoothing").size());
    planned_.seconds_of_folds = context_.fits_per_candidate * fits * on_fold;
    // Larger values of any parameter need more.
    for (const auto& [name, values] : planned_.tried) choices.parameters[name] = std::ranges::max(values);
    internal::check_demands(method_, size, choices);
  }

  void predict_scoring() {
    const double models = context_.fits_per_candidate * static_cast<double>(planned_.candidates());
    planned_.seconds_of_scores = models * seconds_to_score(context_.held_out_rows);
  }

  const PlanningContext& context_;
  const FitRequest& request_ = context_.request;
  const TrainingData& data_ = context_.data;
  const Names& names_ = request_.names;
  const PlanThresholds& thresholds_ = request_.thresholds;
  const Method& method_;
  double rows_;
  PlannedMethod planned_;
};

}  // namespace

PlannedMethod plan_method(const Method& method, const PlanningContext& context) {
  return MethodPlanner(method, context).make();
}

double items_to_learn(const FitRequest& request, const TrainingData& data) {
  if (data.labelled()) return 0;
  const bool both = std::holds_alternative<Pairs>(data.supervision) && !request.directed_pairs;
  return (both ? 2.0 : 1.0) * static_cast<double>(item_count(data.supervision));
}

bool asks_for_pbdl(const FitRequest& request) {
  const SolverSettings& solver = request.solver;
  const bool of_solver =
      solver.solver != Solver::kAuto || solver.memory_limit > 0 || solver.precision != StoragePrecision::kDouble;
  return of_solver || !request.parameters.empty() || request.theory_pieces || request.piece_of ||
         !request.supervision.empty() || request.comparisons || request.hard_neighbours;
}

double seconds_to_score(double held_out_rows) {
  // Measured on 600 to 5000 rows of 10 and 60 features, with 3 and 26 classes: 4e-8 to 1.2e-7, the most on few rows.
  constexpr double kSecondsPerPair = 5e-8;
  return kSecondsPerPair * held_out_rows * held_out_rows;
}

}  // namespace bregmax::internal
