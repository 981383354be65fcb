// The same requests through the library and the program: the same plan, the same model and the same diagnosis. Python
// is compared with the program in python/tests/test_parity.py. Each threshold of the plan is passed in both directions.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/learn/run.hpp"
#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

constexpr Index kRows = 36;

struct Case {
  std::string name;
  std::string supervision;             // "labels", "comparisons", "pairs" or "targets"
  std::vector<std::string> arguments;  // of the program
  void (*ask)(FitRequest& request);    // the same
  std::string thresholds = {};
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

void pbdl(FitRequest& request) { request.method = "pbdl"; }

const Case kCases[] = {
    {"defaults", "labels", {}, [](FitRequest&) {}},
    {"left_out",
     "labels",
     {"--repeats", "1", "--seed", "2"},
     [](FitRequest& r) {
       r.repeats = 1;
       r.seed = 2;
     },
     "auto_pbdl_seconds=0"},
    {"candidates",
     "labels",
     {"--candidates", "smooth,itml"},
     [](FitRequest& r) {
       r.candidates = {"smooth", "itml"};
     }},
    {"drawn", "labels", {"--method", "pbdl"}, pbdl, "all_pairs_rows=35"},
    {"one_repeat", "labels", {"--method", "pbdl"}, pbdl, "three_repeats_rows=10,two_repeats_rows=20"},
    {"sampled", "labels", {"--method", "pbdl"}, pbdl, "tuning_rows=24,tuning_comparisons=50,all_pairs_rows=10"},
    {"few_pieces", "labels", {"--method", "pbdl"}, pbdl, "own_pieces_rows=30"},
    {"own_pieces",
     "labels",
     {"--pieces", "all"},
     [](FitRequest& r) { r.parameters["pieces"] = 0; },
     "own_pieces_rows=30"},
    {"admm", "labels", {"--lambda", "10"}, [](FitRequest& r) { r.parameters["lambda"] = 10; }, "exact_seconds=0"},
    {"admm_on_folds",
     "labels",
     {"--lambdas", "10,100", "--smoothing", "0"},
     [](FitRequest& r) {
       r.parameters["lambda"] = Wish::choose({10, 100});
       r.parameters["smoothing"] = 0;
     },
     "fold_seconds=0"},
    {"hard",
     "labels",
     {"--hard-comparisons", "2", "--scale", "auto", "--seed", "5"},
     [](FitRequest& r) {
       r.supervision = {LabelSupervision::kHardComparisons};
       r.hard_neighbours = 2;
       r.scales = scales_named("auto");
       r.seed = 5;
     }},
    {"comparisons", "comparisons", {}, [](FitRequest&) {}},
    {"pairs", "pairs", {"--folds", "4"}, [](FitRequest& r) { r.folds = 4; }},
    {"targets", "targets", {}, [](FitRequest&) {}},
    {"theory", "targets", {"--pieces", "theory"}, [](FitRequest& r) { r.theory_pieces = true; }},
    {"constant", "labels", {"--lambda", "1e9"}, [](FitRequest& r) { r.parameters["lambda"] = 1e9; }},
    {"early_end",
     "labels",
     {"--lambda", "1", "--max-iterations", "2", "--keep-partial"},
     [](FitRequest& r) {
       r.parameters["lambda"] = 1;
       r.max_iterations = 2;
     }},
    {"itml",
     "labels",
     {"--method", "itml", "--method-parameter", "gamma=1,10"},
     [](FitRequest& r) {
       r.method = "itml";
       r.parameters["gamma"] = Wish(std::vector<double>{1, 10});
     }},
    {"gmml_pairs", "pairs", {"--method", "gmml"}, [](FitRequest& r) { r.method = "gmml"; }},
};

struct Problem {
  Matrix rows{kRows, 3};
  ClassOfRow classes = ClassOfRow(kRows);
  Comparisons comparisons;
  Pairs pairs;
  Targets targets;
};

// Also writes the files that give the program the same problem.
Problem make_problem(const TemporaryDirectory& directory) {
  Random random(4);
  Problem problem;
  std::string data = "a,b,c,class\n", comparisons, pairs, targets;
  for (Index i = 0; i < kRows; ++i) {
    const auto row_class = static_cast<int>(i % 3);
    problem.classes[static_cast<std::size_t>(i)] = row_class;
    problem.rows.row(i) << row_class + random.normal(), 5 * random.normal(), random.normal() - row_class;
    data += fmt::format("{:.17g},{:.17g},{:.17g},k{}\n", problem.rows(i, 0), problem.rows(i, 1), problem.rows(i, 2),
                        row_class);
  }
  for (int t = 0; t < 40; ++t) {
    const Index i = random.uniform_index(kRows), j = random.uniform_index(kRows), k = random.uniform_index(kRows);
    problem.comparisons.push_back({i, j, i, k});
    comparisons += fmt::format("{},{},{},{}\n", i, j, i, k);
    const bool similar = i % 3 == j % 3;
    problem.pairs.push_back({i, j, similar});
    pairs += fmt::format("{},{},{}\n", i, j, similar ? 1 : 0);
    problem.targets.push_back({i, j, static_cast<double>(t % 5)});
    targets += fmt::format("{},{},{}\n", i, j, t % 5);
  }
  directory.write("data.csv", data);
  directory.write("comparisons.csv", comparisons);
  directory.write("pairs.csv", pairs);
  directory.write("targets.csv", targets);
  return problem;
}

MethodSupervision supervision_of(const Problem& problem, const std::string& kind) {
  if (kind == "labels") return problem.classes;
  if (kind == "comparisons") return problem.comparisons;
  if (kind == "pairs") return problem.pairs;
  return problem.targets;
}

nlohmann::json plan_as_json(const Plan& plan) {
  nlohmann::json json;
  for (const Plan::Field& field : plan.fields()) json[field.name] = field.values;
  return json;
}

nlohmann::json diagnosis_as_json(const FitOutcome& outcome) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : outcome.diagnosis) {
    list.push_back({{"kind", to_string(finding.kind)}, {"cause", finding.cause}, {"text", finding.text}});
  }
  return list;
}

// As bytes of a model file. Times differ from run to run; names and columns are those of a table that the
// library has not seen.
std::string bytes_of(Model model, const Model& named) {
  model.record.seconds = model.tuning.seconds = 0;
  model.feature_names = named.feature_names;
  model.class_names = named.class_names;
  model.recipe = named.recipe;
  return serialize_model(model);
}

class Parity : public ::testing::TestWithParam<Case> {
 protected:
  Parity() {
    if (!GetParam().thresholds.empty()) ::setenv("BREGMAX_TEST_THRESHOLDS", GetParam().thresholds.c_str(), 1);
  }
  ~Parity() override { ::unsetenv("BREGMAX_TEST_THRESHOLDS"); }

 private:
  ThreadLimit single_{1};
};

TEST_P(Parity, OfLibraryAndProgram) {
  const Case& one = GetParam();
  const TemporaryDirectory directory;
  const Problem problem = make_problem(directory);
  std::vector<std::string> arguments = {"fit", "data.csv", "--threads", "1", "--json", "--out", "m.bregmax"};
  if (one.supervision != "labels") {
    arguments.insert(arguments.end(), {"--" + one.supervision + "-file", one.supervision + ".csv"});
  }
  arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
  const Outcome program = bregmax::testing::run(directory, arguments);
  const nlohmann::json told = json_of(program);

  FitRequest request;
  request.names = {"--", {{"piece_of", "piece-column"}}, ""};
  one.ask(request);
  request.thresholds = parse_thresholds(one.thresholds);
  const TrainingData data{problem.rows, supervision_of(problem, one.supervision)};
  const Plan planned = plan(request, data);
  nlohmann::json told_plan = told["plan"];
  EXPECT_EQ(told_plan["notes"], planned.notes);
  told_plan.erase("notes");
  told_plan.erase("predicted_seconds");
  EXPECT_EQ(plan_as_json(planned), told_plan);
  const FitOutcome outcome = bregmax::run(planned, data);
  EXPECT_EQ(diagnosis_as_json(outcome), told["diagnosis"]);
  EXPECT_EQ(to_string(outcome.report.status), told["status"]);
  const Model saved = load_model(directory / "m.bregmax");
  EXPECT_EQ(bytes_of(outcome.model, saved), bytes_of(saved, saved));
}

INSTANTIATE_TEST_SUITE_P(Every, Parity, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace bregmax::testing
