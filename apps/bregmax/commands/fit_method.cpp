#include "commands/fit_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/learn/fit_plan.hpp"
#include "bregmax/learn/method_plan.hpp"
#include "bregmax/supervision/files.hpp"
#include "options/options.hpp"
#include "progress.hpp"
#include "reports/method_report.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

// What belongs to all methods; everything else of `fit` is about max-affine divergences.
void refuse_other_options(const FitRequest& request) {
  static const std::vector<std::string> kShared = {
      "--label",    "--pairs-file", "--targets-file",   "--all-pairs",
      "--scale",    "--tolerance",  "--time-limit",     "--threads",
      "--seed",     "--out",        "--max-iterations", "--keep-partial",
      "--json",     "--method",     "--help",           "--method-parameter",
      "--tune-for", "--folds",      "--repeats"};
  if (request.from_labels) {
    throw Error(
        fmt::format("--from-labels draws comparisons, for pbdl; without it {} learns from the labels", request.method));
  }
  for (const CLI::Option* option : request.command->get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() || option->count() == 0 || std::ranges::find(kShared, name) != kShared.end()) continue;
    throw Error(fmt::format("{} does not go with --method {}; it is an option of pbdl", name, request.method));
  }
}

// "auto", or values with commas between them.
MethodWishes::Parameter parse_wish(const MethodParameter& parameter, const std::string& text) {
  MethodWishes::Parameter wish;
  wish.automatic = text == "auto";
  if (wish.automatic) return wish;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    wish.values.push_back(parameter.parse(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return wish;
}

std::map<std::string, MethodWishes::Parameter> parse_parameters(const Method& method,
                                                                const std::vector<std::string>& given) {
  std::map<std::string, MethodWishes::Parameter> wishes;
  for (const std::string& assignment : given) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) {
      throw Error(fmt::format("--method-parameter is '{}'; allowed: NAME=VALUE", assignment));
    }
    const std::string name = assignment.substr(0, equals);
    const auto wish = parse_wish(method.parameter(name), assignment.substr(equals + 1));
    if (!wishes.emplace(name, wish).second) {
      throw Error(fmt::format("--method-parameter: {} was given more than once", name));
    }
  }
  return wishes;
}

const std::vector<int>& classes_for(const Table& table, const Method& method) {
  if (table.labels) return table.labels->of_row;
  throw Error(fmt::format("{}: {} learns from {}, and there is no label column; name it with --label", table.source,
                          method.name, method.from_labels ? "labels" : "pairs"));
}

// Supervision that does not come from the labels; none: they say it.
std::optional<MethodSupervision> other_supervision(const FitRequest& request, const Method& method,
                                                   const Table& table) {
  const Index rows = table.features.rows();
  if (!request.pairs_file.empty()) return read_pairs(request.pairs_file, rows);
  if (!request.targets_file.empty()) return read_targets(request.targets_file, rows);
  if (!method.from_labels && !method.from_pairs) {
    throw Error(fmt::format("{} learns from target values; give --targets-file", method.name));
  }
  if (method.name == "euclidean" && !table.labels) return ClassOfRow(static_cast<std::size_t>(rows));
  return std::nullopt;
}

MethodFitOptions plan_of(const FitRequest& request, const Method& method, Index rows, bool from_labels) {
  MethodWishes wishes;
  wishes.parameters = parse_parameters(method, request.method_parameters);
  wishes.settings.tolerance = request.tolerance;
  if (request.max_iterations) wishes.settings.max_iterations = static_cast<int>(*request.max_iterations);
  wishes.settings.time_limit = request.time_limit;
  wishes.settings.seed = request.seed;
  wishes.all_pairs = request.all_pairs;
  if (!request.scale.empty()) wishes.scales = scales_named(request.scale);
  if (!request.tune_for.empty()) wishes.tune_for = measure_named(request.tune_for);
  wishes.folds = static_cast<int>(request.folds);
  if (request.repeats > 0) wishes.repeats = static_cast<int>(request.repeats);
  wishes.names = {"--scale", "several with commas between them"};
  return plan_method(wishes, method, rows, from_labels);
}

}  // namespace

void add_method_options(CLI::App& command, FitRequest& request) {
  request.command = &command;
  std::vector<std::string> names = {"pbdl"};
  for (const Method& method : all_methods()) names.push_back(method.name);
  OptionAdder(command).choice("--method", request.method, names,
                              "pbdl: a max-affine divergence, to a proved gap; the others are classical methods, see "
                              "bregmax methods");
  command
      .add_option("--method-parameter", request.method_parameters,
                  "a parameter of a classical method, for example gamma=10; gamma=auto or gamma=1,10,100: chosen by "
                  "cross-validation from labels; may be given several times; bregmax methods lists them")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

ExitCode run_fit_method(const FitRequest& request) {
  const Interrupt interrupt;
  refuse_other_options(request);
  if (request.keep_partial && request.out.empty()) throw Error("--keep-partial needs --out");
  const Method& method = method_named(request.method);
  check_outputs({{"--out", request.out}}, input_files(request));
  const ThreadLimit limit(static_cast<int>(request.threads));
  const Table table = read_table(request.data, {request.layout.label, {}});
  const std::optional<MethodSupervision> supervision = other_supervision(request, method, table);
  const MethodFitOptions plan = plan_of(request, method, table.features.rows(), !supervision);
  if (supervision || !has_choice(method, plan)) {
    refuse_tuning_options(request, fmt::format("nothing of {} is to be chosen; --method-parameter NAME=auto does that "
                                               "for those that bregmax methods says",
                                               method.name));
  }

  ProgressLine progress(plan.settings.tolerance.value_or(method.limits.tolerance));
  MethodFitResult result =
      supervision
          ? fit_method_from_items(method, table.features, *supervision, plan, progress.control())
          : fit_method_from_labels(method, table.features, classes_for(table, method), plan, progress.control());
  progress.clear();
  Model& model = result.fit.model;
  model.feature_names = table.feature_names;
  if (table.labels) model.class_names = table.labels->class_names;

  const bool converged = result.fit.report.status == Status::kConverged;
  const bool save = !request.out.empty() && model.divergence != nullptr && (converged || request.keep_partial);
  if (save) save_model(model, request.out);
  const MethodOutcome outcome{request, method, plan, table, result, save};
  if (request.json) {
    print_json(method_as_json(outcome));
  } else {
    print(method_as_text(outcome));
  }
  if (!converged) say(explain_early_end(outcome));
  return converged ? kDone : kNotReached;
}

}  // namespace bregmax::app
