#include <fmt/format.h>

#include <memory>

#include "bregmax/data/builtin.hpp"
#include "commands/commands.hpp"
#include "options/options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kDatasetsExamples = R"(
Examples:
  bregmax datasets
  bregmax fit builtin:iris)";

void print_datasets_as_json() {
  Json list = Json::array();
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    list.push_back({{"name", dataset.name},
                    {"rows", dataset.rows},
                    {"features", dataset.features},
                    {"classes", dataset.classes},
                    {"description", dataset.description},
                    {"licence", dataset.licence},
                    {"source", dataset.source}});
  }
  print_json({{"datasets", list}});
}

void print_datasets() {
  print(fmt::format("{:<15} {:>5} {:>9} {:>8}   {}\n", "name", "rows", "features", "classes", "what it is"));
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    print(fmt::format("{:<15} {:>5} {:>9} {:>8}   {}\n{:42}licence: {}\n{:42}source: {}\n", dataset.name, dataset.rows,
                      dataset.features, dataset.classes, dataset.description, "", dataset.licence, "", dataset.source));
  }
  print("\nUse them as builtin:NAME wherever a command takes data.\n");
}

}  // namespace

void add_datasets(CLI::App& program, Action& chosen) {
  add_listing(program, {"datasets", "the built-in datasets", kDatasetsExamples}, print_datasets, print_datasets_as_json,
              chosen);
}

}  // namespace bregmax::app
