#include "paper/table_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bregmax/data/builtin.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"

namespace bregmax {
namespace {

constexpr double kEffortRows = 1000;

std::vector<std::string> key_of(const std::string& dataset, const std::string& row, KMeansStart start, int run) {
  return {dataset, row, to_string(start), fmt::format("{}", run)};
}

ResultsRecord record_of(const std::vector<std::string>& key, const RunScores& scores) {
  ResultsRecord record{key, {scores.per_measure.begin(), scores.per_measure.end()}, scores.note};
  record.values.insert(record.values.end(), scores.one_model.begin(), scores.one_model.end());
  return record;
}

// The rows of one group that a run of a dataset still needs, as one job.
Job group_job(const NamedTable& dataset, const RunRequest& request, const std::vector<ProtocolRow>& rows) {
  const double thousands = static_cast<double>(dataset.table.features.rows()) / kEffortRows;
  std::vector<std::string> names;
  double effort = 0;  // most of the work is shared by the rows
  for (const ProtocolRow& row : rows) {
    names.push_back(row.name);
    effort = std::max(effort, row.effort);
  }
  return {fmt::format("{}, {}, run {}", dataset.name, internal::joined(names, ", "), request.run),
          effort * thousands * thousands, [&dataset, request, rows](const RunControl& control) {
            const std::vector<RunScores> scores = run_protocol(dataset.table, rows, request, control);
            std::vector<ResultsRecord> records;
            for (std::size_t i = 0; i < scores.size(); ++i) {
              records.push_back(record_of(key_of(dataset.name, rows[i].name, request.start, request.run), scores[i]));
            }
            return records;
          }};
}

void add_group_jobs(const TablePlan& plan, const NamedTable& dataset, int run, const ResultsFile& results,
                    std::vector<Job>& jobs) {
  std::vector<std::string> groups;
  for (const ProtocolRow& row : plan.rows) {
    if (std::ranges::count(groups, row.group) == 0) groups.push_back(row.group);
  }
  for (const std::string& group : groups) {
    RunRequest request{dataset.name, run, plan.seed, KMeansStart::kEuclidean};
    std::vector<ProtocolRow> missing;
    for (const ProtocolRow& row : plan.rows) {
      const KMeansStart start = plan.start.value_or(row.start);
      if (row.group != group || results.contains(key_of(dataset.name, row.name, start, run))) continue;
      missing.push_back(row);
      request.start = start;  // the same for all rows of a group
    }
    if (!missing.empty()) jobs.push_back(group_job(dataset, request, missing));
  }
}

}  // namespace

std::optional<NamedTable> find_dataset(const std::string& name, const std::string& data_dir) {
  const auto& names = paper_table("table2").datasets;
  internal::require(std::ranges::count(names, name) > 0, "there is no dataset '{}' in the tables; allowed: {}", name,
                    internal::joined(names, ", "));
  if (std::ranges::count(builtin_datasets(), name, &BuiltinDataset::name) > 0)
    return NamedTable{name, load_builtin(name)};
  if (data_dir.empty()) return std::nullopt;
  const std::string path = (std::filesystem::path(data_dir) / (name + ".csv")).string();
  if (!std::filesystem::exists(path)) return std::nullopt;
  // By position, because the repository's file names the class "whether he/she donated blood in March 2007".
  constexpr const char* kFifthColumn = "4";
  return NamedTable{name, read_table(path, {kFifthColumn, {}})};
}

std::string how_to_get(const std::string& name, const std::string& data_dir) {
  return fmt::format(
      "{0} is skipped, because it is not built in{1}: get \"Blood Transfusion Service Center\" from the UCI Machine "
      "Learning "
      "Repository (archive.ics.uci.edu/dataset/176), save it as {0}.csv (header line, four features, class last), and "
      "name its folder with --data-dir",
      name, data_dir.empty() ? "" : fmt::format(" and there is no {}/{}.csv", data_dir, name));
}

ResultsFormat table_format(std::uint64_t seed) {
  ResultsFormat format;
  format.title = "runs of the tables";
  format.seed = seed;
  format.keys = {"dataset", "method", "start", "run"};
  for (const Measure measure : kTableMeasures) format.values.push_back(to_string(measure));
  for (const Measure measure : kTableMeasures) format.values.push_back("one_model_" + to_string(measure));
  format.values.emplace_back("seconds");
  return format;
}

std::vector<Job> missing_jobs(const TablePlan& plan, const ResultsFile& results) {
  internal::require(plan.first >= 0 && plan.runs >= 0, "the first run is {} and there are {}; allowed: 0 or more",
                    plan.first, plan.runs);
  std::vector<Job> jobs;
  for (int run = plan.first; run < plan.first + plan.runs; ++run) {
    for (const NamedTable& dataset : plan.datasets) add_group_jobs(plan, dataset, run, results, jobs);
  }
  return jobs;
}

std::vector<TableRun> table_runs(const Records& records) {
  std::vector<TableRun> runs;
  for (const auto& [key, record] : records) {
    TableRun run{key[0], key[1], start_named(key[2]), std::stoi(key[3]), {}, record.values.back()};
    constexpr auto kCells = static_cast<std::ptrdiff_t>(kTableMeasures.size());
    std::copy_n(record.values.begin(), kCells, run.scores.per_measure.begin());
    std::copy_n(record.values.begin() + kCells, kCells, run.scores.one_model.begin());
    run.scores.note = record.note;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace bregmax
