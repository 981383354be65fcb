#include "fit_options.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "options.hpp"

namespace bregmax::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMostItems = 1'000'000'000;

const NumberRange& at_least_zero() {
  static const NumberRange kRange{0, kInfinity, true, "a finite number >= 0"};
  return kRange;
}

// A value that the interface knows and this version cannot do is not a typing error, and should not be answered as one.
void refuse_later_value(const std::string& option, const std::string& value, const std::string& instead) {
  throw Error(fmt::format("{} {} is not part of this version; {}", option, value, instead));
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
                   "comparisons drawn from the labels: rows of one class are nearer; the default where there are "
                   "labels"),
      options.flag("--all-pairs", request.all_pairs, "all ordered pairs of rows: similar when the labels agree"),
  };
  for (CLI::Option* one : sources) {
    for (CLI::Option* other : sources) {
      if (one != other) one->excludes(other);
    }
  }
  options
      .whole("--comparisons", request.comparisons, "M", {1, kMostItems}, "how many comparisons to draw from the labels")
      ->each([&request](const std::string&) { request.comparisons_given = true; });
}

void add_lambda(CLI::App& command, FitRequest& request) {
  const auto accept = [&request](const std::string& given) {
    if (given == "auto") refuse_later_value("--lambda", given, "give a number >= 0, for example 1");
    request.lambda = parse_number("--lambda", given, at_least_zero());
  };
  command
      .add_option_function<std::string>("--lambda", accept,
                                        "weight of the Lipschitz constant beside the summed loss; the default is 0 for "
                                        "targets [a finite number >= 0]")
      ->type_name("V")
      ->default_str("1");
}

void add_pieces(CLI::App& command, FitRequest& request) {
  const auto accept = [&request](const std::string& given) {
    request.pieces = given == "all" ? 0 : parse_whole("--pieces", given, {1, kMostItems}, "all");
  };
  CLI::Option* pieces = command
                            .add_option_function<std::string>(
                                "--pieces", accept,
                                "affine pieces, assigned by farthest-point clustering; all: one a row [a whole number "
                                "from 1 to the number of rows, or all]")
                            ->type_name("K")
                            ->default_str("all");
  OptionAdder(command)
      .text("--piece-column", request.layout.piece_column, "NAME|INDEX",
            "a column (not a feature) that gives the piece of each row: 0 to K-1, each at least once")
      ->excludes(pieces);
}

void add_solver(CLI::App& command, FitRequest& request) {
  const auto accept = [&request](const std::string& given) {
    if (given == "admm") refuse_later_value("--solver", given, "use auto or exact");
    if (given != "auto" && given != "exact") {
      throw Error(fmt::format("--solver is '{}'; allowed: auto, exact", given));
    }
    request.solver = given;
  };
  command
      .add_option_function<std::string>("--solver", accept,
                                        "exact: interior point, to a proved gap; auto: the same in this version")
      ->type_name("auto|exact")
      ->default_str("auto");
}

void add_smoothing(CLI::App& command, FitRequest& request) {
  const auto accept = [&request](const std::string& given) {
    if (given == "auto") refuse_later_value("--smoothing", given, "give a number >= 0, for example 0.5");
    request.smoothing = parse_number("--smoothing", given, at_least_zero());
  };
  command
      .add_option_function<std::string>(
          "--smoothing", accept,
          "temperature T of the returned divergence, which has no ties when T > 0; 0: the learned max-affine one "
          "itself [a finite number >= 0]")
      ->type_name("T")
      ->default_str("0");
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
  options.choice("--scale", request.scale, {"none", "standard"},
                 "standard: features get mean 0 and standard deviation 1; the model keeps it for new data");
  add_smoothing(command, request);
  options.number("--tolerance", request.tolerance, "E", {1e-12, 1e-1, true, "a number from 1e-12 to 0.1"},
                 "relative gap between objective and proved lower bound at which the result counts as optimal");
  options.whole("--max-iterations", request.max_iterations, "N", {1, 1'000'000}, "limit on the solver's iterations");
  options.number("--time-limit", request.time_limit, "S", at_least_zero(),
                 "limit on the solver's time in seconds; 0 is none", {{"none", 0.0}});
  options.threads(request.threads);
  options.seed(request.seed, "of the comparisons drawn from labels and of the first farthest point");
  options.text("--out", request.out, "MODEL", "save the model here, when it is optimal");
  options.flag("--keep-partial", request.keep_partial, "save it also when a limit or Ctrl-C ended the run early");
  options.json(request.json);
}

void check_request(const FitRequest& request) {
  const bool other_source = !request.comparisons_file.empty() || !request.pairs_file.empty() ||
                            !request.targets_file.empty() || request.all_pairs;
  if (request.comparisons_given && other_source) {
    throw Error("--comparisons is the number to draw with --from-labels; it does not go with another supervision");
  }
  if (!request.method_parameters.empty()) {
    throw Error("--method-parameter is for the classical methods; name one with --method");
  }
  if (request.keep_partial && request.out.empty()) throw Error("--keep-partial needs --out");
}

FitOptions fit_options(const FitRequest& request, const Table& table, const Supervision& supervision) {
  if (request.pieces > static_cast<std::uint64_t>(table.features.rows())) {
    throw Error(fmt::format("--pieces is {}; allowed: 1 to {}, the number of rows, or all", request.pieces,
                            table.features.rows()));
  }
  FitOptions options;
  options.lambda = request.lambda.value_or(std::holds_alternative<Targets>(supervision) ? 0.0 : 1.0);
  options.lipschitz_bound = request.lipschitz_bound;
  options.pieces = static_cast<int>(request.pieces);
  options.piece_of = table.pieces;
  options.scale = request.scale == "none" ? Scale::kNone : Scale::kStandard;
  options.smoothing = request.smoothing;
  options.tolerance = request.tolerance;
  options.max_iterations = static_cast<int>(request.max_iterations);
  options.time_limit = request.time_limit;
  options.seed = request.seed;
  return options;
}

}  // namespace bregmax::app
