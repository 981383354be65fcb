#include "options/fit_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "bregmax/core/error.hpp"
#include "options/options.hpp"

namespace bregmax::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMostItems = 1'000'000'000;

const NumberRange& at_least_zero() {
  static const NumberRange kRange{0, kInfinity, true, "a finite number >= 0"};
  return kRange;
}

void add_supervision_options(CLI::App& command, FitRequest& request) {
  OptionAdder options(command);
  CLI::Option* sources[] = {
      options.text("--comparisons-file", request.comparisons_file, "F",
                   "CSV of row numbers i,j,k,l and perhaps weight: D(i,j) <= D(k,l)"),
      options.text("--pairs-file", request.pairs_file, "F",
                   "CSV of i,j,s and perhaps weight: s is 1 (similar) or 0 (dissimilar)"),
      options.text("--targets-file", request.targets_file, "F", "CSV of i,j,value and perhaps weight: D(i,j) = value"),
      options.flag("--from-labels", request.from_labels,
                   "comparisons drawn from the labels: a row is nearer to one of its class than to one of another"),
      options.flag(
          "--all-pairs", request.all_pairs,
          "all ordered pairs of rows: similar when the labels agree; the default where there are labels, up to "
          "1500 rows (beyond: --from-labels)"),
      options.whole("--hard-comparisons", request.hard_neighbours, "K", {1, kMostItems},
                    "comparisons of each row's K nearest rows of its class with its K nearest rows of other classes; "
                    "all of them unless --comparisons says how many"),
  };
  sources[5]->default_str("");
  for (CLI::Option* one : sources) {
    for (CLI::Option* other : sources) {
      if (one != other) one->excludes(other);
    }
  }
  options
      .whole("--comparisons", request.comparisons, "M", {1, kMostItems},
             "how many comparisons to draw from the labels, or of the hard ones to keep")
      ->each([&request](const std::string&) { request.comparisons_given = true; });
}

// An option that takes a number or `auto`.
void accept_tunable(FitWishes::Tunable& tunable, const std::string& name, const std::string& given) {
  tunable = {};
  if (given == "auto") {
    tunable.automatic = true;
    return;
  }
  NumberRange range = at_least_zero();
  range.text += ", or auto";
  tunable.value = parse_number(name, given, range);
}

std::vector<double> parse_lambdas(const std::string& given) {
  std::vector<double> lambdas;
  std::istringstream stream(given);
  for (std::string part; std::getline(stream, part, ',');) {
    lambdas.push_back(parse_number("--lambdas", part, at_least_zero()));
    if (lambdas.size() > 1 && !(lambdas.back() > lambdas[lambdas.size() - 2])) {
      throw Error(fmt::format("--lambdas is '{}'; allowed: rising numbers >= 0 with commas between them", given));
    }
  }
  if (lambdas.empty()) throw Error("--lambdas is ''; allowed: rising numbers >= 0 with commas between them");
  return lambdas;
}

void add_lambda(CLI::App& command, FitRequest& request) {
  command
      .add_option_function<std::string>(
          "--lambda", [&request](const std::string& given) { accept_tunable(request.lambda, "--lambda", given); },
          "weight of the Lipschitz constant beside the summed loss; auto: chosen by cross-validation; the default is 0 "
          "for targets [a finite number >= 0, or auto]")
      ->type_name("V|auto")
      ->default_str("auto");
  command
      .add_option_function<std::string>(
          "--lambdas", [&request](const std::string& given) { request.lambdas = parse_lambdas(given); },
          "the values that --lambda auto tries [rising numbers >= 0 with commas between them]")
      ->type_name("LIST")
      ->default_str("1e-8,1e-7,...,1e4; all pairs: 1e-4,...,1e6");
}

void add_tuning(CLI::App& command, FitRequest& request) {
  OptionAdder options(command);
  std::vector<std::string> measures;
  measures.reserve(std::size(kAllMeasures));
  for (const Measure measure : kAllMeasures) measures.push_back(to_string(measure));
  options
      .choice("--tune-for", request.tune_for, measures,
              "the score of held-out rows that chooses what is auto; loss: of comparisons drawn from them, or of "
              "held-out items of a supervision file, for which it is the only one")
      ->default_str("average_precision");
  options.whole("--folds", request.folds, "N", {2, 1000},
                "of the cross-validation, stratified by class; fewer where a class is too small for so many");
  options
      .whole("--repeats", request.repeats, "R", {1, 1000}, "cross-validations from labels, each with folds of its own")
      ->default_str("3 for up to 200 rows, 2 for up to 400, else 1");
  options.text("--picture", request.picture, "F", "write a picture (.svg or .png) of the scores along lambda");
}

void add_pieces(CLI::App& command, FitRequest& request) {
  const auto accept = [&request](const std::string& given) {
    request.pieces = {};
    request.theory_pieces = given == "theory";
    request.own_pieces = given == "all";
    if (given == "auto") {
      request.pieces.automatic = true;
    } else if (given != "all" && given != "theory") {
      request.pieces.value =
          static_cast<double>(parse_whole("--pieces", given, {1, kMostItems}, "all, auto or theory"));
    }
  };
  CLI::Option* pieces =
      command
          .add_option_function<std::string>(
              "--pieces", accept,
              "affine pieces, assigned by farthest-point clustering; all: one a row; auto: chosen among "
              "all, a half, a quarter and an eighth of the rows, or, beyond 20000 rows, where it is the default, among "
              "20, 50, 100 and 200; theory: for targets, "
              "ceil(m^(d/(4+2d))) for m of them and d features [a whole number from 1 to the number of rows, all, "
              "auto or theory]")
          ->type_name("K|all|auto|theory")
          ->default_str("all");
  OptionAdder(command)
      .text("--piece-column", request.layout.piece_column, "NAME|INDEX",
            "a column (not a feature) that gives the piece of each row: 0 to K-1, each at least once")
      ->excludes(pieces);
}

void add_solver(CLI::App& command, FitRequest& request) {
  OptionAdder options(command);
  options.choice("--solver", request.solver, {"auto", "exact", "admm"},
                 "exact: interior point, to a small gap; admm: for large problems, to a moderate one; auto: exact, "
                 "unless its predicted time or memory is too large");
  LargeScaleRequest& large = request.large;
  options.number("--memory-limit", large.memory_limit, "GB", at_least_zero(),
                 "admm: refuse to run when the predicted memory is above this; 0 is what the machine has");
  options.choice("--precision", large.precision, {"double", "float"},
                 "admm: what the n x n array of a run with all pairs and a piece a row is stored as; float halves the "
                 "memory");
  options.text("--checkpoint", large.checkpoint, "F", "admm: keep the state of the run in this file");
  options.number("--checkpoint-every", large.checkpoint_every, "S", at_least_zero(),
                 "seconds between two checkpoints; 0 is every iteration");
  options.text("--resume", large.resume, "F",
               "admm: continue from a checkpoint of the same data, supervision and options, to the same result");
  options.flag("--early-stop", large.early_stop,
               "admm: hold out a fifth of the supervision and end when its loss no longer falls; not optimal");
}

// Each solver has defaults of its own.
void add_limits(CLI::App& command, FitRequest& request) {
  static const NumberRange kTolerance{1e-12, 1e-1, true, "a number from 1e-12 to 0.1"};
  const auto tolerance = [&request](const std::string& given) {
    request.tolerance = parse_number("--tolerance", given, kTolerance);
  };
  command
      .add_option_function<std::string>(
          "--tolerance", tolerance,
          "gap between objective and proved lower bound at which the result counts as optimal, relative to the "
          "objective, or to a thousandth of the zero model's loss where that is more; the default of admm is 1e-4, its "
          "least 1e-8 [a number from 1e-12 to 0.1]")
      ->type_name("E")
      ->default_str("1e-08");
  const auto iterations = [&request](const std::string& given) {
    request.max_iterations = parse_whole("--max-iterations", given, {1, 1'000'000});
  };
  command
      .add_option_function<std::string>(
          "--max-iterations", iterations,
          "limit on the solver's iterations; the default of admm is 100000 [a whole number from 1 to 1000000]")
      ->type_name("N")
      ->default_str(fmt::format("{}", FitOptions{}.max_iterations));
}

double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

AdmmOptions admm_options(const FitRequest& request) {
  constexpr double kGiga = 1e9, kLeastTolerance = 1e-8;
  AdmmOptions options;
  const LargeScaleRequest& large = request.large;
  if (request.tolerance) options.tolerance = std::max(kLeastTolerance, *request.tolerance);
  if (request.max_iterations) options.max_iterations = static_cast<int>(*request.max_iterations);
  options.memory_limit = large.memory_limit > 0 ? kGiga * large.memory_limit : machine_memory();
  if (large.precision == "float") options.precision = StoragePrecision::kFloat;
  options.checkpoint = large.checkpoint;
  options.checkpoint_every = large.checkpoint_every;
  options.resume = large.resume;
  return options;
}

void add_smoothing(CLI::App& command, FitRequest& request) {
  command
      .add_option_function<std::string>(
          "--smoothing",
          [&request](const std::string& given) { accept_tunable(request.smoothing, "--smoothing", given); },
          "temperature T of the returned divergence, which has no ties when T > 0; 0: the learned max-affine one "
          "itself; auto: chosen on the same folds as lambda, at no further fit; the default is auto when lambda is "
          "chosen from labels and 0 otherwise [a finite number >= 0, or auto]")
      ->type_name("T|auto")
      ->default_str("auto");
}

void add_scale(CLI::App& command, FitRequest& request) {
  OptionAdder(command)
      .choice("--scale", request.scale, {"none", "standard", "auto"},
              "standard: features get mean 0 and standard deviation 1, which the model keeps for new data; auto: the "
              "better of the two")
      ->default_str("standard");
}

std::optional<LabelSupervision> asked_supervision(const FitRequest& request) {
  if (request.all_pairs) return LabelSupervision::kAllPairs;
  if (request.hard_neighbours > 0) return LabelSupervision::kHardComparisons;
  if (request.from_labels) return LabelSupervision::kComparisons;
  return std::nullopt;
}

FitWishes wishes_of(const FitRequest& request, const Table& table) {
  FitWishes wishes;
  wishes.lambda = request.lambda;
  wishes.smoothing = request.smoothing;
  wishes.lambdas = request.lambdas;
  wishes.pieces = request.pieces;
  wishes.own_pieces = request.own_pieces;
  wishes.theory_pieces = request.theory_pieces;
  if (!request.scale.empty()) wishes.scales = scales_named(request.scale);
  wishes.supervision = asked_supervision(request);
  if (request.comparisons_given) wishes.comparisons = static_cast<Index>(request.comparisons);
  if (request.hard_neighbours > 0) wishes.hard_neighbours = static_cast<Index>(request.hard_neighbours);
  if (!request.tune_for.empty()) wishes.tune_for = measure_named(request.tune_for);
  if (request.repeats > 0) wishes.repeats = static_cast<int>(request.repeats);
  wishes.folds = static_cast<int>(request.folds);
  wishes.fit.lipschitz_bound = request.lipschitz_bound;
  wishes.fit.piece_of = table.pieces;
  wishes.fit.tolerance = request.tolerance.value_or(wishes.fit.tolerance);
  if (request.max_iterations) wishes.fit.max_iterations = static_cast<int>(*request.max_iterations);
  wishes.fit.solver = request.solver == "admm"    ? Solver::kAdmm
                      : request.solver == "exact" ? Solver::kExact
                                                  : Solver::kAuto;
  wishes.fit.admm = admm_options(request);
  wishes.fit.early_stop = request.large.early_stop;
  wishes.fit.time_limit = request.time_limit;
  wishes.fit.seed = request.seed;
  wishes.names = {"--lambda", "--lambdas", "--pieces", "--tune-for", "--comparisons"};
  return wishes;
}

}  // namespace

void add_fit_options(CLI::App& command, FitRequest& request) {
  OptionAdder options(command);
  options.text("DATA", request.data, "", "CSV, .npy or builtin:NAME")->required();
  options.label(request.layout.label);
  add_supervision_options(command, request);
  add_lambda(command, request);
  add_pieces(command, request);
  options.number("--lipschitz", request.lipschitz_bound, "V", {0, kInfinity, false, "a finite number > 0"},
                 "hard bound on the Lipschitz constant max_k ||a_k||_1, on the features after scaling",
                 {{"none", kInfinity}});
  add_solver(command, request);
  add_scale(command, request);
  add_smoothing(command, request);
  add_tuning(command, request);
  add_limits(command, request);
  options.number("--time-limit", request.time_limit, "S", at_least_zero(),
                 "limit on the time of tuning and solving together in seconds; 0 is none", {{"none", 0.0}});
  options.threads(request.threads);
  options.seed(request.seed, "of the comparisons drawn from labels, of the folds and of the first farthest point");
  options.text("--out", request.out, "MODEL",
               "save the model here, when it is optimal (or was stopped early as asked)");
  options.flag(
      "--keep-partial", request.keep_partial,
      "save it also when a limit or Ctrl-C ended the run early; while tuning: the best model so far, learned on "
      "a part of the rows");
  options.json(request.json);
}

std::vector<NamedFile> input_files(const FitRequest& request) {
  return {{"DATA", request.data},
          {"--comparisons-file", request.comparisons_file},
          {"--pairs-file", request.pairs_file},
          {"--targets-file", request.targets_file}};
}

void check_request(const FitRequest& request) {
  if (!request.method_parameters.empty()) {
    throw Error("--method-parameter is for the classical methods; name one with --method");
  }
  if (request.keep_partial && request.out.empty()) throw Error("--keep-partial needs --out");
  const LargeScaleRequest& large = request.large;
  constexpr double kLeastAdmmTolerance = 1e-8;
  if (request.solver == "admm" && request.tolerance && *request.tolerance < kLeastAdmmTolerance) {
    throw Error(fmt::format("--tolerance is {}; allowed with --solver admm: 1e-8 to 0.1", *request.tolerance));
  }
  if (request.solver == "exact" && large.memory_limit > 0) {
    throw Error("--memory-limit is for the solver admm; it does not go with --solver exact");
  }
  if (request.solver == "exact" && large.precision == "float") {
    throw Error("--precision float is for the solver admm; it does not go with --solver exact");
  }
  const bool for_admm = !large.checkpoint.empty() || !large.resume.empty() || large.early_stop;
  if (for_admm && request.solver != "admm") {
    throw Error("--checkpoint, --resume and --early-stop go with --solver admm");
  }
}

void refuse_tuning_options(const FitRequest& request, const std::string& why) {
  for (const char* option : {"--tune-for", "--folds", "--repeats"}) {
    if (request.command->get_option(option)->count() == 0) continue;
    throw Error(fmt::format("{} is about choosing by cross-validation, and {}", option, why));
  }
}

AutoFitOptions fit_plan(const FitRequest& request, const Table& table, const std::optional<Supervision>& supervision) {
  const AutoFitOptions plan =
      plan_fit(wishes_of(request, table), table.features, supervision ? &*supervision : nullptr);
  if (request.solver == "admm" && plan.lambdas.size() > 1) {
    throw Error("--solver admm needs --lambda V: cross-validation is by the exact solver");
  }
  if (!has_choice(plan)) refuse_tuning_options(request, "nothing is to be chosen; --lambda auto does that");
  return plan;
}

}  // namespace bregmax::app
