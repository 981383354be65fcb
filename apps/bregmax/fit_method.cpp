#include "fit_method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bregmax/baselines/registry.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "method_report.hpp"
#include "options.hpp"
#include "output.hpp"
#include "run.hpp"

namespace bregmax::app {
namespace {

// What belongs to all methods; everything else of `fit` is about max-affine divergences.
void refuse_other_options(const FitRequest& request) {
  static const std::vector<std::string> kShared = {
      "--label", "--pairs-file",      "--targets-file", "--from-labels", "--all-pairs",
      "--scale", "--tolerance",       "--time-limit",   "--threads",     "--seed",
      "--out",   "--max-iterations",  "--keep-partial", "--json",        "--method",
      "--help",  "--method-parameter"};
  for (const CLI::Option* option : request.command->get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() || option->count() == 0 || std::ranges::find(kShared, name) != kShared.end()) continue;
    throw Error(fmt::format("{} does not go with --method {}; it is an option of pbdl", name, request.method));
  }
}

std::map<std::string, double> parse_parameters(const BaselineMethod& method, const std::vector<std::string>& given) {
  std::map<std::string, double> parameters;
  for (const std::string& assignment : given) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) {
      throw Error(fmt::format("--method-parameter is '{}'; allowed: NAME=VALUE", assignment));
    }
    const std::string name = assignment.substr(0, equals);
    const auto known = std::ranges::find(method.parameters, name, &BaselineParameter::name);
    if (known == method.parameters.end()) {
      std::vector<std::string> names;
      for (const BaselineParameter& parameter : method.parameters) names.push_back(parameter.name);
      throw Error(fmt::format("--method-parameter: {} has no parameter '{}'; allowed: {}", method.name, name,
                              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    const double value = known->parse(assignment.substr(equals + 1));
    if (!parameters.emplace(name, value).second) {
      throw Error(fmt::format("--method-parameter: {} was given more than once", name));
    }
  }
  return parameters;
}

const std::vector<int>& classes_for(const Table& table, const BaselineMethod& method) {
  if (table.labels) return table.labels->of_row;
  throw Error(fmt::format("{}: {} learns from {}, and there is no label column; name it with --label", table.source,
                          method.name, method.from_labels ? "labels" : "pairs"));
}

BaselineSupervision make_supervision(const FitRequest& request, const BaselineMethod& method, const Table& table) {
  if (request.scale == "auto") {
    throw Error(fmt::format("--scale is auto; allowed with --method {}: none or standard", method.name));
  }
  const Index rows = table.features.rows();
  if (!request.pairs_file.empty()) return read_pairs(request.pairs_file, rows);
  if (!request.targets_file.empty()) return read_targets(request.targets_file, rows);
  if (!method.from_labels && !method.from_pairs) {
    throw Error(fmt::format("{} learns from target values; give --targets-file", method.name));
  }
  if (method.name == "euclidean" && !table.labels) return ClassOfRow(static_cast<std::size_t>(rows));
  if (request.all_pairs) return all_pairs(classes_for(table, method));
  return classes_for(table, method);
}

BaselineSettings settings_of(const FitRequest& request, const BaselineMethod& method) {
  BaselineSettings settings;
  settings.parameters = parse_parameters(method, request.method_parameters);
  settings.tolerance = request.tolerance;
  if (request.max_iterations) settings.max_iterations = static_cast<int>(*request.max_iterations);
  settings.time_limit = request.time_limit;
  settings.seed = request.seed;
  return settings;
}

}  // namespace

void add_method_options(CLI::App& command, FitRequest& request) {
  request.command = &command;
  std::vector<std::string> names = {"pbdl"};
  for (const BaselineMethod& method : baseline_methods()) names.push_back(method.name);
  OptionAdder(command).choice("--method", request.method, names,
                              "pbdl: a max-affine divergence, to a proved gap; the others are classical methods, see "
                              "bregmax methods");
  command
      .add_option("--method-parameter", request.method_parameters,
                  "a parameter of a classical method, for example gamma=10; may be given several times; bregmax "
                  "methods lists them")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

ExitCode run_fit_method(const FitRequest& request) {
  const Interrupt interrupt;
  refuse_other_options(request);
  if (request.keep_partial && request.out.empty()) throw Error("--keep-partial needs --out");
  const BaselineMethod& method = baseline_method(request.method);
  const BaselineSettings settings = settings_of(request, method);
  if (!request.out.empty()) check_can_write(request.out);
  const ThreadLimit limit(static_cast<int>(request.threads));
  const Table table = read_table(request.data, {request.layout.label, {}});
  const BaselineSupervision supervision = make_supervision(request, method, table);
  const Scaling scaling =
      request.scale == "none" ? Scaling::none(table.features.cols()) : Scaling::standard(table.features);

  ProgressLine progress(settings.tolerance.value_or(method.limits.tolerance));
  BaselineFit result = fit_baseline(method, table.features, supervision, scaling, settings, progress.control());
  progress.clear();
  result.model.feature_names = table.feature_names;
  if (table.labels) result.model.class_names = table.labels->class_names;

  const bool converged = result.report.status == BaselineStatus::kConverged;
  const bool save = !request.out.empty() && (converged || request.keep_partial);
  if (save) save_model(result.model, request.out);
  const MethodOutcome outcome{request, method, settings, table, result, save};
  if (request.json) {
    print_json(method_as_json(outcome));
  } else {
    print(method_as_text(outcome));
  }
  if (!converged) say(explain_early_end(outcome));
  return converged ? kDone : kNotReached;
}

}  // namespace bregmax::app
