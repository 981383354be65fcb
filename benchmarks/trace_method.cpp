// trace_method METHOD DATA MODEL: learns on unscaled rows from labels with one thread, writes the model and prints, for
// each report of progress, the processor seconds so far and the objective.

#include <fmt/format.h>

#include <ctime>
#include <span>

#include "bregmax/baselines/registry.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/table.hpp"

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void trace(const std::string& method, const std::string& data, const std::string& model) {
  const bregmax::ThreadLimit single(1);
  const bregmax::Table table = bregmax::read_table(data);
  if (!table.labels) throw bregmax::Error(fmt::format("{} has no labels", data));
  const double begin = processor_seconds();
  bregmax::RunControl control;
  control.on_progress = [&](const bregmax::Progress& progress) {
    fmt::print("{:.9f} {:.17g}\n", processor_seconds() - begin, progress.objective);
  };
  const bregmax::BaselineFit fit = fit_baseline(bregmax::baseline_method(method), table.features, table.labels->of_row,
                                                bregmax::Scaling::none(table.features.cols()), {}, control);
  fmt::print("{:.9f} {:.17g}\n", processor_seconds() - begin, fit.report.objective);
  save_model(fit.model, model);
}

}  // namespace

int main(int count, char** values) {
  const std::span arguments(values, static_cast<std::size_t>(count));
  if (arguments.size() != 4) {
    fmt::print(stderr, "usage: trace_method METHOD DATA MODEL\n");
    return 2;
  }
  try {
    trace(arguments[1], arguments[2], arguments[3]);
  } catch (const bregmax::Error& error) {
    fmt::print(stderr, "trace_method: {}\n", error.what());
    return 2;
  }
  return 0;
}
