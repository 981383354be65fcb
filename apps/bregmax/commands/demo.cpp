#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands/commands.hpp"
#include "core/progress.hpp"
#include "pictures/pictures.hpp"
#include "pictures/png.hpp"
#include "progress.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kDemoExamples = R"(
Examples:
  bregmax demo
  bregmax demo --out picture.svg --json)";

// Fixed, so that everybody sees the same numbers. One split of 150 rows says little: several are averaged.
constexpr int kDemoSplits = 10;
constexpr Index kDemoComparisons = 2000;
constexpr double kDemoLambda = 10;
constexpr double kDemoSmoothing = 1;

struct DemoRequest {
  std::string out = "bregmax-demo.svg";
  bool json = false;
};

struct DemoData {
  Table train, test;
};

DemoData split_iris(std::uint64_t seed) {
  const Table iris = load_builtin("iris");
  Random random(seed);
  const Split split = random_split(iris.features.rows(), 2.0 / 3, random);
  return {select_rows(iris, split.train), select_rows(iris, split.test)};
}

MethodFit learn(const Table& train, double smoothing, std::uint64_t seed, const std::atomic<bool>* stop) {
  const PbdlOptions options{.lambda = kDemoLambda, .smoothing = smoothing};
  RunControl control;
  control.stop = stop;
  return fit_pbdl(train.features, sample_comparisons(train.labels->of_row, kDemoComparisons, seed), options, control);
}

using MeanScores = std::array<double, kScores.size()>;

void add_scores(MeanScores& means, const Divergence& divergence, const Scaling& scaling, const DemoData& data) {
  const EvaluationScores scores = evaluate(divergence, scaling.apply(data.test.features), data.test.labels->of_row,
                                           scaling.apply(data.train.features), data.train.labels->of_row);
  for (std::size_t m = 0; m < kScores.size(); ++m) means[m] += scores.*kScores[m].score / kDemoSplits;
}

struct DemoResult {
  MeanScores learned{}, standardised{}, raw{};
  double largest_gap = 0;
  double seconds = 0;  // of learning on all splits
  bool all_optimal = true;
};

void add_split(DemoResult& result, const DemoData& data, std::uint64_t seed, const std::atomic<bool>* stop) {
  const MethodFit fitted = learn(data.train, kDemoSmoothing, seed, stop);
  const SquaredEuclidean euclidean;
  const Scaling& scaling = fitted.model.scaling;
  add_scores(result.learned, *fitted.model.divergence, scaling, data);
  add_scores(result.standardised, euclidean, scaling, data);
  add_scores(result.raw, euclidean, Scaling::none(data.train.features.cols()), data);
  result.largest_gap = std::max(result.largest_gap, fitted.proved->certificate.relative_gap);
  result.seconds += fitted.report.seconds;
  result.all_optimal = result.all_optimal && fitted.report.status == Status::kOptimal;
}

std::string score_table(const DemoResult& result) {
  std::string out =
      fmt::format("{:<20}{:>9}{:>27}{:>18}\n", "", "learned", "Euclidean, standardised", "Euclidean, raw");
  for (std::size_t m = 0; m < kScores.size(); ++m) {
    out += fmt::format("{:<20}{:>9.3f}{:>27.3f}{:>18.3f}\n", kScores[m].name, result.learned[m], result.standardised[m],
                       result.raw[m]);
  }
  return out;
}

Json score_object(const MeanScores& means) {
  Json object;
  for (std::size_t m = 0; m < kScores.size(); ++m) object[kScores[m].key] = means[m];
  return object;
}

Json as_json(const DemoRequest& request, const DemoResult& result) {
  return {{"status", result.all_optimal ? "optimal" : "not_optimal"},
          {"splits", kDemoSplits},
          {"largest_relative_gap", result.largest_gap},
          {"seconds", result.seconds},
          {"learned", score_object(result.learned)},
          {"euclidean_standardised", score_object(result.standardised)},
          {"euclidean_raw", score_object(result.raw)},
          {"picture", request.out}};
}

std::string as_text(const DemoRequest& request, const DemoResult& result) {
  return fmt::format(
             "Iris: a divergence learned from {} comparisons on two thirds of the rows, scored on the other third.\n"
             "Means over {} random splits; 1 is best.\n\n",
             kDemoComparisons, kDemoSplits) +
         score_table(result) +
         fmt::format(
             "\n{}, in {:.1f} s together: no divergence of this form has an objective lower by more than a fraction of "
             "{:.0e}.\n"
             "Picture of a divergence learned on two of the features: {}\n",
             result.all_optimal ? "All proved optimal" : "Not all proved optimal", result.seconds, result.largest_gap,
             request.out);
}

// The row of the class that is nearest to the mean of the class.
Index middle_row(const Table& table, int class_number) {
  std::vector<Index> members;
  for (Index row = 0; row < table.features.rows(); ++row) {
    if (table.labels->of_row[row] == class_number) members.push_back(row);
  }
  const Matrix rows = table.features(members, Eigen::all);
  Index nearest = 0;
  (rows.rowwise() - rows.colwise().mean()).rowwise().squaredNorm().minCoeff(&nearest);
  return members[nearest];
}

// A picture shows two features. A divergence is learned from these two, without smoothing: its pieces have straight
// edges.
std::string draw_petals(const Table& train, const std::atomic<bool>* stop) {
  constexpr Index kPetalLength = 2;
  constexpr int kVersicolor = 1;
  Table petals = train;
  petals.features = train.features.middleCols(kPetalLength, 2).eval();
  petals.feature_names = {train.feature_names.begin() + kPetalLength, train.feature_names.end()};
  const MethodFit result = learn(petals, 0, 0, stop);
  const auto& divergence = dynamic_cast<const MaxAffine&>(*result.model.divergence);
  return draw_divergence({divergence, result.model.scaling, petals, middle_row(petals, kVersicolor)});
}

ExitCode run_demo(const DemoRequest& request) {
  check_outputs({{"--out", request.out}}, {});
  check_picture(request.out);
  const ThreadLimit limit(1);  // these problems are so small that threads would only wait for each other
  DemoResult result;
  std::string picture;
  const internal::Stopwatch watch;
  run_with_progress([&](const RunControl& control) {
    for (int split = 0; split < kDemoSplits && !control.stop_requested(); ++split) {
      control.report(internal::share_done("splits", split, kDemoSplits, watch));
      const auto seed = static_cast<std::uint64_t>(split);
      const DemoData data = split_iris(seed);
      add_split(result, data, seed, control.stop);
      if (split == 0) picture = draw_petals(data.train, control.stop);
    }
  });
  if (Interrupt::requested()) return report_interrupt("");
  write_picture(request.out, picture);
  print_report(request.json, as_json(request, result), as_text(request, result));
  return result.all_optimal ? kDone : kNotReached;
}

}  // namespace

void add_demo(CLI::App& program, Action& chosen) {
  auto [options, request] = add_command(
      program, {"demo", "learn on a built-in dataset, show scores against Euclidean, write a picture", kDemoExamples},
      run_demo, chosen);
  options.text("--out", request->out, "F", "where to write the picture (SVG, or PNG if it ends in .png)");
  options.json(request->json);
}

}  // namespace bregmax::app
