#include "options/fit_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bregmax/methods/pbdl.hpp"
#include "options/options.hpp"

namespace bregmax::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMostItems = 1'000'000'000;

void add_supervision_options(OptionAdder& options, FitCommand& fit) {
  const auto make = [&fit](LabelSupervision kind) { return [&fit, kind] { fit.request.supervision = {kind}; }; };
  std::vector<CLI::Option*> sources = add_supervision_files(options, fit.files);
  const std::vector<CLI::Option*> from_labels = {
      options.flag("--from-labels", make(LabelSupervision::kComparisons),
                   "comparisons drawn from the labels: a row is nearer to one of its class than to one of another"),
      options.flag(
          "--all-pairs", make(LabelSupervision::kAllPairs),
          "all ordered pairs of rows: similar when the labels agree; the default where there are labels, up to "
          "1500 rows (beyond: --from-labels)"),
      options.whole("--hard-comparisons", fit.request.hard_neighbours, "K", {1, kMostItems},
                    "comparisons of each row's K nearest rows of its class with its K nearest rows of other classes; "
                    "all of them unless --comparisons says how many"),
  };
  for (CLI::Option* one : from_labels) {
    for (CLI::Option* other : sources) {
      one->excludes(other);
      other->excludes(one);
    }
    sources.push_back(one);
  }
  CLI::Option* target = options.text(
      "--target", fit.layout.target, "NAME|INDEX",
      "a column (not a feature) with a number for each row: learns divergences like the squared differences of these "
      "numbers, for bregmax predict");
  for (CLI::Option* one : sources) {
    one->excludes(target);
    target->excludes(one);
  }
  options
      .whole("--comparisons", fit.request.comparisons, "M", {1, kMostItems},
             "how many comparisons to draw from the labels, or of the hard ones to keep")
      ->default_str(fmt::format("{}", LabelSupervisionOptions{}.comparisons));
}

// An option that takes a number or `auto`.
void add_tunable(OptionAdder& options, FitRequest& request, const std::string& parameter, const std::string& letter,
                 const std::string& help) {
  NumberRange range = at_least_zero();
  range.text += ", or auto";
  const std::string name = "--" + parameter;
  const auto accept = [name, parameter, range, &request](const std::string& given) {
    Wish& wish = request.parameters[parameter];
    if (given == "auto") {
      wish.automatic = true;
    } else {
      wish.values = {parse_number(name, given, range)};
    }
  };
  options.add(name, accept, fmt::format("{} [{}]", help, range.text), letter + "|auto", "auto");
}

std::vector<double> parse_lambdas(const std::string& given) {
  std::vector<double> lambdas;
  for (const std::string& part : internal::split_at_commas(given)) {
    lambdas.push_back(parse_number("--lambdas", part, at_least_zero()));
  }
  return lambdas;
}

void add_lambda(OptionAdder& options, FitRequest& request) {
  add_tunable(options, request, "lambda", "V",
              "weight of the Lipschitz constant relative to the summed loss; auto: chosen by cross-validation; the "
              "default is 0 for targets");
  const auto accept = [&request](const std::string& given) {
    request.parameters["lambda"].automatic = true;
    request.parameters["lambda"].grid = parse_lambdas(given);
  };
  options.add("--lambdas", accept, "the values that --lambda auto tries [rising numbers >= 0 with commas between them]",
              "LIST", "1e-8,1e-7,...,1e4; all pairs: 1e-4,...,1e6");
}

void add_tuning(OptionAdder& options, FitCommand& fit) {
  std::vector<std::pair<std::string, std::optional<Measure>>> measures;
  measures.reserve(std::size(kAllMeasures));
  for (const Measure measure : kAllMeasures) measures.emplace_back(to_string(measure), measure);
  options
      .choice("--tune-for", fit.request.tune_for, measures,
              "the score of held-out rows that chooses what is auto; from a supervision file agreement (the share of "
              "held-out comparisons that hold, or how well held-out pairs are told apart) or loss, of held-out items; "
              "with --target r2 (of what the nearest "
              "neighbours predict) or loss")
      ->default_str("average_precision; files: agreement; targets: loss; --target: r2");
  options
      .whole("--folds", fit.request.folds, "N", {2, 1000},
             "of the cross-validation, stratified by class; fewer where a class is too small for so many")
      ->default_str(fmt::format("{}; supervision files: 5", Plan{}.folds));
  options
      .whole("--repeats", fit.request.repeats, "R", {1, 1000},
             "cross-validations from labels or a target, each with folds of its own")
      ->default_str("3 for up to 200 rows, 2 for up to 400, else 1");
  options.text("--picture", fit.picture, "F", "write a picture (.svg or .png) of the scores along lambda");
}

void add_pieces(OptionAdder& options, FitCommand& fit) {
  const auto accept = [&request = fit.request](const std::string& given) {
    request.theory_pieces = given == "theory";
    if (request.theory_pieces) return;
    Wish& wish = request.parameters["pieces"];
    wish.automatic = given == "auto";
    if (wish.automatic) return;
    wish.values = {given == "all"
                       ? 0
                       : static_cast<double>(parse_whole("--pieces", given, {1, kMostItems}, "all, auto or theory"))};
  };
  CLI::Option* pieces = options.add(
      "--pieces", accept,
      "affine pieces, assigned by farthest-point clustering; all: one per row; auto: chosen among "
      "all, a half, a quarter and an eighth of the rows, or, beyond 20000 rows, where it is the default, among "
      "20, 50, 100 and 200; theory: for targets, ceil(m^(d/(4+2d))) for m of them and d features [a whole number from "
      "1 to the number of rows, all, auto or theory]",
      "K|all|auto|theory", "all");
  options
      .text("--piece-column", fit.layout.piece_column, "NAME|INDEX",
            "a column (not a feature) that gives the piece of each row: 0 to K-1, each at least once")
      ->excludes(pieces);
}

void add_solver(OptionAdder& options, FitCommand& fit) {
  SolverSettings& solver = fit.request.solver;
  options.choice("--solver", solver.solver,
                 {{"auto", Solver::kAuto}, {"exact", Solver::kExact}, {"admm", Solver::kAdmm}},
                 "exact: interior point, to a small gap; admm: for large problems, to a moderate one; auto: exact, "
                 "unless its predicted time or memory is too large");
  options.number(
      "--memory-limit", fit.memory_limit, "GB", at_least_zero(),
      "admm, smooth and deep: refuse to run when the predicted memory is above this; 0 is what the machine has");
  options.choice(
      "--precision", solver.precision, {{"double", StoragePrecision::kDouble}, {"float", StoragePrecision::kFloat}},
      "admm: what the n x n array of a run with all pairs and one piece per row is stored as; float halves the "
      "memory");
  options.text("--checkpoint", solver.checkpoint, "F",
               "admm, smooth and deep: keep the state of the run (the last fit, after a choice) in this file");
  options.number("--checkpoint-every", solver.checkpoint_every, "S", at_least_zero(),
                 "seconds between two checkpoints; 0 is every iteration");
  options.text(
      "--resume", solver.resume, "F",
      "admm, smooth and deep: continue from a checkpoint of the same data, supervision and options, to the same "
      "result");
  options.flag(
      "--early-stop", solver.early_stop,
      "admm, smooth and deep: hold out a fifth of the supervision, or of the labelled rows, and end when its loss "
      "no longer falls; not optimal");
}

// The defaults depend on the solver, so the help gives those of admm in words.
void add_limits(OptionAdder& options, FitRequest& request) {
  const NumberRange allowed{1e-12, 1e-1, true, "a number from 1e-12 to 0.1"};
  const auto tolerance = [&request, allowed](const std::string& given) {
    request.tolerance = parse_number("--tolerance", given, allowed);
  };
  options.add("--tolerance", tolerance,
              "gap between objective and proved lower bound at which the result counts as optimal, relative to the "
              "objective, or to a thousandth of the zero model's loss where that is more; the default of admm is 1e-4, "
              "its least 1e-8 [" +
                  allowed.text + "]",
              "E", "1e-08");
  options
      .whole("--max-iterations", request.max_iterations, "N", {1, 1'000'000},
             "limit on the solver's iterations; the default of admm is 100000")
      ->default_str(fmt::format("{}", kPbdlLimits.max_iterations));
}

// Refuses options that only pbdl has. kShared lists the options of all methods.
void refuse_options_of_pbdl(const FitCommand& fit) {
  static const std::vector<std::string> kShared = {
      "--comparisons-file", "--label",      "--pairs-file",   "--targets-file",
      "--all-pairs",        "--scale",      "--tolerance",    "--time-limit",
      "--threads",          "--seed",       "--out",          "--max-iterations",
      "--keep-partial",     "--json",       "--method",       "--help",
      "--method-parameter", "--tune-for",   "--folds",        "--repeats",
      "--candidates",       "--picture",    "--checkpoint",   "--checkpoint-every",
      "--resume",           "--early-stop", "--memory-limit", "--start",
      "--directed",         "--first-row",  "--id",           "--ignore",
      "--target",           "--features",   "--header",       "--delimiter",
      "--decimal",          "--missing",    "--categories"};
  const std::string& method = fit.request.method;
  require(fit.command->count("--from-labels") == 0,
          "--from-labels draws comparisons, for pbdl; without it {} learns from the labels", method);
  for (const CLI::Option* option : fit.command->get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() || option->count() == 0 || std::ranges::find(kShared, name) != kShared.end()) continue;
    fail("{} does not go with --method {}; it is an option of pbdl", name, method);
  }
}

// "auto", or values with commas between them.
Wish parse_wish(const MethodParameter& parameter, const std::string& text) {
  if (text == "auto") return Wish::choose();
  std::vector<double> values;
  for (const std::string& part : internal::split_at_commas(text)) values.push_back(parameter.parse(part));
  return Wish(std::move(values));
}

std::map<std::string, Wish> parse_parameters(const Method& method, const std::vector<std::string>& given) {
  std::map<std::string, Wish> wishes;
  for (const std::string& assignment : given) {
    const auto equals = assignment.find('=');
    require(equals != std::string::npos, "--method-parameter is '{}'; allowed: NAME=VALUE", assignment);
    const std::string name = assignment.substr(0, equals);
    require(wishes.emplace(name, parse_wish(method.parameter(name), assignment.substr(equals + 1))).second,
            "--method-parameter: {} was given more than once", name);
  }
  return wishes;
}

// --method and --method-parameter.
void add_method_options(OptionAdder& options, FitCommand& fit) {
  std::vector<std::string> names = {"auto"};
  for (const Method& method : all_methods()) names.push_back(method.name);
  options.choice("--method", fit.request.method, names,
                 "auto: what scores best on held-out data of euclidean, smooth, pbdl (where its cross-validation is "
                 "short) and deep, or pbdl if an option of pbdl is given; pbdl: a max-affine divergence, to a proved "
                 "gap; smooth and deep: learned by gradients, without a proof; the others are classical methods, see "
                 "bregmax methods");
  const auto candidates = [&fit](const std::string& given) {
    fit.request.candidates = internal::split_at_commas(given);
  };
  options.add("--candidates", candidates,
              "the methods that --method auto chooses from [names with commas between them]", "LIST",
              internal::joined(automatic_methods(), ","));
  options.command()
      .add_option("--method-parameter", fit.method_parameters,
                  "a parameter of a method other than pbdl, for example gamma=10; gamma=auto or gamma=1,10,100: chosen "
                  "by cross-validation from labels; may be given several times; bregmax methods lists them")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  options.text(
      "--start", fit.start, "MODEL",
      "go on from this model of smooth or deep, in smaller steps; its method, scaling and parameters are kept, "
      "and only the data given now are looked at");
}

}  // namespace

void add_fit_options(OptionAdder& options, FitCommand& fit) {
  fit.command = &options.command();
  options.text("DATA", fit.data, "", "CSV, .npy or builtin:NAME")->required();
  options.label(fit.layout.label);
  options.learning(fit.layout);
  add_supervision_options(options, fit);
  add_lambda(options, fit.request);
  add_pieces(options, fit);
  options.number("--lipschitz", fit.lipschitz_bound, "V", {0, kInfinity, false, "a finite number > 0"},
                 "hard bound on the Lipschitz constant max_k ||a_k||_1, on the features after scaling",
                 {{"none", kInfinity}});
  add_solver(options, fit);
  options
      .choice("--scale", fit.request.scales,
              {{"none", scales_named("none")}, {"standard", scales_named("standard")}, {"auto", scales_named("auto")}},
              "standard: features get mean 0 and standard deviation 1, which the model keeps for new data; auto: the "
              "better of the two")
      ->default_str("standard");
  add_tunable(options, fit.request, "smoothing", "T",
              "temperature T of the returned divergence, which has no ties when T > 0; 0: the learned max-affine one "
              "itself; auto: chosen on the same folds as lambda, at no further fit; the default is auto when lambda is "
              "chosen from labels and 0 otherwise");
  add_tuning(options, fit);
  add_limits(options, fit.request);
  options.number("--time-limit", fit.request.time_limit, "S", at_least_zero(),
                 "limit on the time of tuning and solving together in seconds; 0 is none", {{"none", 0.0}});
  options.threads(fit.threads);
  options.seed(fit.request.seed, "of the folds, of what is drawn from labels, and of the random starts of all fits");
  options.text("--out", fit.out, "MODEL", "save the model here, when it is optimal (or was stopped early as asked)");
  options.flag(
      "--keep-partial", fit.keep_partial,
      "save it also when a limit or Ctrl-C ended the run early; while tuning: the best model so far, learned on "
      "a part of the rows");
  options.json(fit.json);
  add_method_options(options, fit);
}

std::vector<NamedFile> input_files(const FitCommand& fit) {
  std::vector<NamedFile> files = input_files(fit.files);
  files.push_back({"DATA", fit.data});
  return files;
}

FitRequest complete_request(const FitCommand& fit) {
  constexpr double kGiga = 1e9;
  require(!fit.keep_partial || !fit.out.empty(), "--keep-partial needs --out");
  FitRequest request = fit.request;
  request.names = {"--", {{"piece_of", "piece-column"}, {"scales", "scale"}}, "several with commas between them"};
  if (fit.command->count("--lipschitz") > 0) request.parameters["lipschitz"] = fit.lipschitz_bound;
  if (request.hard_neighbours) request.supervision = {LabelSupervision::kHardComparisons};
  request.solver.memory_limit = kGiga * fit.memory_limit;
  request.directed_pairs = fit.files.directed;
  require(fit.start.empty() || (fit.layout.features.empty() && fit.layout.categories == TextCategories::kRefuse),
          "--features and --categories do not go with --start, whose model keeps how features are made");
  if (!fit.start.empty()) request.start = std::make_shared<Model>(load_model(fit.start));
  const bool automatic = request.method == "auto";
  if (automatic || method_named(request.method).learns_from_items) {
    require(fit.method_parameters.empty(), "--method-parameter is for methods other than pbdl; name one with --method");
  } else {
    refuse_options_of_pbdl(fit);
    request.parameters = parse_parameters(method_named(request.method), fit.method_parameters);
    for (const auto& [name, wish] : request.parameters) request.names.renamed[name] = "method-parameter " + name;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes it
  if (const char* text = std::getenv(kThresholdsVariable)) request.thresholds = parse_thresholds(text);
  return request;
}

void refuse_idle_tuning_options(const FitCommand& fit, const Plan& plan) {
  if (plan.has_choice()) return;
  for (const char* option : {"--tune-for", "--folds", "--repeats"}) {
    if (fit.command->get_option(option)->count() == 0) continue;
    require(plan.notes.empty(), "{} is about choosing by cross-validation: {}", option,
            internal::joined(plan.notes, "; "));
    const std::string why = plan.main().method->learns_from_items
                                ? "nothing is to be chosen; --lambda auto does that"
                                : fmt::format(
                                      "nothing of {} is to be chosen; --method-parameter NAME=auto does that for "
                                      "those that bregmax methods says",
                                      plan.main().method->name);
    fail("{} is about choosing by cross-validation, and {}", option, why);
  }
}

}  // namespace bregmax::app
