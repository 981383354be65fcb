// trace_method METHOD DATA SUPERVISION MODEL [NAME=VALUE ...]: learns on unscaled rows with one thread, from the labels
// (SUPERVISION is `labels`) or from a file of pairs; writes the model and prints, for each report of progress, the
// processor seconds so far and the objective.

#include <fmt/format.h>

#include <ctime>
#include <span>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/methods/registry.hpp"
#include "bregmax/supervision/files.hpp"

namespace {

using bregmax::Error;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bregmax::MethodSupervision supervision_of(const bregmax::Table& table, const std::string& name) {
  if (name != "labels") return bregmax::read_pairs(name, {table.features.rows()});
  if (!table.labels) throw Error(fmt::format("{} has no labels", table.source));
  return table.labels->of_row;
}

bregmax::MethodSettings settings_of(const bregmax::Method& method, std::span<char*> assignments) {
  bregmax::MethodSettings settings;
  for (const char* argument : assignments) {
    const std::string assignment = argument;
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) throw Error(fmt::format("'{}' is not NAME=VALUE", assignment));
    const std::string name = assignment.substr(0, equals);
    settings.parameters[name] = method.parameter(name).parse(assignment.substr(equals + 1));
  }
  return settings;
}

void trace(std::span<char*> arguments) {
  const bregmax::ThreadLimit single(1);
  const bregmax::Method& method = bregmax::method_named(arguments[0]);
  const bregmax::Table table = bregmax::read_table(arguments[1]);
  const bregmax::MethodSupervision supervision = supervision_of(table, arguments[2]);
  const bregmax::MethodSettings settings = settings_of(method, arguments.subspan(4));
  const double begin = processor_seconds();
  bregmax::RunControl control;
  control.on_progress = [&](const bregmax::Progress& progress) {
    fmt::print("{:.9f} {:.17g}\n", processor_seconds() - begin, progress.objective);
  };
  const bregmax::MethodFit fit =
      fit_with(method, table.features, supervision, bregmax::Scaling::none(table.features.cols()), settings, control);
  fmt::print("{:.9f} {:.17g}\n", processor_seconds() - begin, fit.report.objective);
  save_model(fit.model, arguments[3]);
}

}  // namespace

int main(int count, char** values) {
  bregmax::restart_with_better_blas_kernels(values);
  const std::span arguments(values, static_cast<std::size_t>(count));
  if (arguments.size() < 5) {
    fmt::print(stderr, "usage: trace_method METHOD DATA SUPERVISION MODEL [NAME=VALUE ...]\n");
    return 2;
  }
  try {
    trace(arguments.subspan(1));
  } catch (const Error& error) {
    fmt::print(stderr, "trace_method: {}\n", error.what());
    return 2;
  }
  return 0;
}
