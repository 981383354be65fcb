#include <fmt/format.h>

#include "bregmax/data/builtin.hpp"
#include "commands/commands.hpp"
#include "learn/as_json.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kDatasetsExamples = R"(
Examples:
  bregmax datasets
  bregmax fit builtin:iris)";

ExitCode run_datasets(const ListingRequest& request) {
  std::string text =
      fmt::format("{:<15} {:>5} {:>9} {:>8}   {}\n", "name", "rows", "features", "classes", "what it is");
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    text +=
        fmt::format("{:<15} {:>5} {:>9} {:>8}   {}\n{:42}licence: {}\n{:42}source: {}\n", dataset.name, dataset.rows,
                    dataset.features, dataset.classes, dataset.description, "", dataset.licence, "", dataset.source);
  }
  text += "\nUse them as builtin:NAME wherever a command takes data.\n";
  return print_report(request.json, {{"datasets", internal::datasets_as_json()}}, text);
}

}  // namespace

void add_datasets(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"datasets", "the built-in datasets", kDatasetsExamples}, run_datasets, chosen);
  options.json(request->json);
}

}  // namespace bregmax::app
