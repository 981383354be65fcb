#include "paper/scripted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bregmax/data/split.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/search/top_k.hpp"
#include "bregmax/tasks/scores.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"

namespace bregmax {
namespace internal {

Comparisons scripted_comparisons(const std::vector<int>& classes, Index count, Random& random) {
  require(std::set<int>(classes.begin(), classes.end()).size() > 1, "comparisons need two classes; found one");
  std::map<int, std::vector<Index>> members;
  for (Index row = 0; row < std::ssize(classes); ++row) members[classes[row]].push_back(row);
  const auto draw_class = [&] { return classes[random.uniform_index(std::ssize(classes))]; };
  const auto draw_row = [&](int of_class) {
    const std::vector<Index>& rows = members.at(of_class);
    return rows[random.uniform_index(std::ssize(rows))];
  };
  Comparisons comparisons;
  for (Index item = 0; item < count; ++item) {
    const int own = draw_class();
    int other = draw_class();
    while (other == own) other = draw_class();
    const Index i = draw_row(own), j = draw_row(own);
    comparisons.push_back({i, j, i, draw_row(other)});
  }
  return comparisons;
}

ScriptedRanking scripted_ranking(const Divergence& divergence, const MatrixView& rows, std::span<const int> classes) {
  ScriptedRanking sum{0, 0};
  double queries = 0;
  const auto lists = top_k(divergence, rows, rows, 0);  // ties by the row number
  for (std::size_t query = 0; query < lists.size(); ++query) {
    double relevant = 0, irrelevant = 0, ordered_pairs = 0, precisions = 0;
    for (std::size_t place = 1; place < lists[query].size(); ++place) {
      if (classes[lists[query][place].row] == classes[query]) {
        ++relevant;
        precisions += relevant / static_cast<double>(place);
      } else {
        ++irrelevant;
        ordered_pairs += relevant;
      }
    }
    if (relevant == 0 || irrelevant == 0) continue;
    sum.auc += ordered_pairs / (relevant * irrelevant);
    sum.average_precision += precisions / relevant;
    ++queries;
  }
  return {sum.auc / queries, sum.average_precision / queries};
}

std::vector<int> scripted_clusters(const Divergence& divergence, const MatrixView& rows, Matrix centroids) {
  constexpr int kMostIterations = 300;
  std::vector<int> clusters(rows.rows(), -1);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const Matrix divergences = divergence.matrix(rows, centroids);
    std::vector<int> nearest(rows.rows());
    for (Index row = 0; row < rows.rows(); ++row) divergences.row(row).minCoeff(&nearest[row]);
    if (nearest == clusters) break;
    clusters = std::move(nearest);
    std::map<int, Index> sizes;
    for (const int cluster : clusters) ++sizes[cluster];
    Matrix means = Matrix::Zero(std::ssize(sizes), rows.cols());
    for (Index row = 0; row < rows.rows(); ++row) {
      const auto place = std::distance(sizes.begin(), sizes.find(clusters[row]));
      means.row(place) += rows.row(row) / static_cast<double>(sizes[clusters[row]]);
      clusters[row] = static_cast<int>(place);
    }
    centroids = std::move(means);
  }
  return clusters;
}

double scripted_accuracy(const Divergence& divergence, const MatrixView& train, std::span<const int> train_classes,
                         const MatrixView& test, std::span<const int> test_classes) {
  constexpr Index kNeighbours = 5;
  double right = 0;
  const auto lists = top_k(divergence, train, test, kNeighbours);
  for (std::size_t query = 0; query < lists.size(); ++query) {
    std::map<int, int> votes;
    for (const Neighbour& neighbour : lists[query]) ++votes[train_classes[neighbour.row]];
    const auto most = std::ranges::max_element(votes, {}, [](const auto& entry) { return entry.second; });
    right += most->first == test_classes[query] ? 1 : 0;
  }
  return right / static_cast<double>(lists.size());
}

}  // namespace internal

namespace {

constexpr Index kComparisons = 2000;
constexpr int kFolds = 3, kStarts = 20;
constexpr std::uint64_t kFoldStream = 1, kSampleStream = 2;

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Learns from the rows of one table, and scores on those of another.
class ScriptedPart {
 public:
  ScriptedPart(const Table& train, const Table& test, std::uint64_t seed, KMeansStart start)
      : train_(train), test_(test), seed_(seed), start_(start) {
    Random random(seed);
    comparisons_ = internal::scripted_comparisons(train.labels->of_row, kComparisons, random);
  }

  const Comparisons& comparisons() const { return comparisons_; }
  const Table& train() const { return train_; }

  TableScores scores(const Divergence& divergence) const {
    const std::vector<int>& classes = test_.labels->of_row;
    std::vector<double> rand_indices, purities;
    for (const Matrix& centroids : starts(divergence)) {
      const std::vector<int> clusters = internal::scripted_clusters(divergence, test_.features, centroids);
      rand_indices.push_back(rand_index(clusters, classes));
      purities.push_back(purity(clusters, classes));
    }
    const auto [auc, average_precision] = internal::scripted_ranking(divergence, test_.features, classes);
    return {middle(std::move(rand_indices)), middle(std::move(purities)), auc, average_precision,
            internal::scripted_accuracy(divergence, train_.features, train_.labels->of_row, test_.features, classes)};
  }

 private:
  std::vector<Matrix> starts(const Divergence& divergence) const {
    const bool euclidean = start_ == KMeansStart::kEuclidean;
    const std::vector<int>& classes = test_.labels->of_row;
    KMeansOptions options;
    options.clusters = std::ssize(std::set<int>(classes.begin(), classes.end()));
    options.start = start_;
    options.restarts = kStarts;
    options.seed = seed_;
    options.keep_restarts = true;
    if (!euclidean) options.max_iterations = 1;  // k-means++ alone
    const SquaredEuclidean squared_euclidean;
    std::vector<Matrix> centroids;
    for (KMeansRun& run : kmeans(euclidean ? squared_euclidean : divergence, test_.features, options).restarts) {
      centroids.push_back(std::move(run.centroids));
    }
    return centroids;
  }

  const Table& train_;
  const Table& test_;
  std::uint64_t seed_;
  KMeansStart start_;
  Comparisons comparisons_;
};

// In the script's units, ascending; ours are sqrt(m) times that, since our hinges are summed.
std::vector<double> scripted_lambdas() {
  std::vector<double> lambdas;
  for (int exponent = -5; exponent <= 5; ++exponent) lambdas.push_back(std::pow(10.0, exponent));
  return lambdas;
}

// Times a lambda of the script.
double in_our_units(double script_lambda) { return std::sqrt(static_cast<double>(kComparisons)) * script_lambda; }

// One row of scores per lambda; empty when stopped.
std::vector<TableScores> fold_scores(const ScriptedPart& part, std::uint64_t seed, const RunControl& control) {
  std::vector<double> lambdas = scripted_lambdas();
  for (double& lambda : lambdas) lambda = in_our_units(lambda);
  FitRequest request;
  request.method = "pbdl";
  request.scales = {Scale::kNone};
  request.seed = seed;
  request.solver.solver = Solver::kExact;
  request.parameters["smoothing"] = 0;
  request.parameters["lambda"] = Wish(lambdas);
  const TrainingData data{part.train().features, part.comparisons()};
  const Plan planned = plan(request, data);
  const CandidateFamilies families = families_of(planned, data).families;
  Fold fold;
  fold.train_rows = part.train().features;
  fold.train_items = part.comparisons();
  const auto learner = families.front()->learner(fold);
  for (std::size_t step = 0; step < learner->steps().size(); ++step) {
    learner->run(step, control);
    if (control.stop_requested()) return {};
  }
  // Candidates descend; one that was proved by the model of another lambda has its scores.
  std::vector<TableScores> scores(lambdas.size());
  for (const bool own : {true, false}) {
    for (std::size_t candidate = 0; candidate < scores.size(); ++candidate) {
      const auto same = learner->same_model(candidate);
      if (same.has_value() == own) continue;
      if (control.stop_requested()) return {};
      scores[scores.size() - 1 - candidate] =
          own ? part.scores(*learner->model(candidate).divergence) : scores[scores.size() - 1 - *same];
    }
  }
  return scores;
}

// The place of the best lambda for each measure, of equal ones the smallest; empty when stopped.
std::vector<std::size_t> choose_lambdas(const Table& train, std::uint64_t seed, KMeansStart start,
                                        const RunControl& control) {
  Random random = Random(seed).fork(kFoldStream);
  std::vector<TableScores> sums(scripted_lambdas().size(), TableScores{});
  std::uint64_t number = 0;
  for (const Split& split : stratified_folds(train.labels->of_row, kFolds, random)) {
    const Table part = select_rows(train, split.train), held_out = select_rows(train, split.test);
    const std::uint64_t fold_seed = Random(seed).fork(kSampleStream).fork(++number).next_bits();
    const std::vector<TableScores> scores =
        fold_scores(ScriptedPart(part, held_out, fold_seed, start), fold_seed, control);
    if (scores.empty()) return {};
    for (std::size_t c = 0; c < scores.size(); ++c) {
      for (std::size_t m = 0; m < kTableMeasures.size(); ++m) sums[c][m] += scores[c][m];
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
    const auto best = std::ranges::max_element(sums, {}, [m](const TableScores& sum) { return sum[m]; });
    chosen.push_back(static_cast<std::size_t>(best - sums.begin()));
  }
  return chosen;
}

}  // namespace

std::vector<RunScores> run_scripted(const Table& train, const Table& test, std::uint64_t seed, KMeansStart start,
                                    const RunControl& control) {
  const std::vector<std::size_t> chosen = choose_lambdas(train, seed, start, control);
  if (chosen.empty()) return {};
  const ScriptedPart whole(train, test, Random(seed).fork(kSampleStream).next_bits(), start);
  std::map<std::size_t, TableScores> scores;
  std::map<std::size_t, std::string> notes;
  for (const std::size_t place : chosen) {
    if (scores.contains(place)) continue;
    PbdlOptions options;
    options.lambda = in_our_units(scripted_lambdas()[place]);
    const Learned learned = learn_pbdl(train.features, whole.comparisons(), options, control);
    if (control.stop_requested()) return {};
    scores[place] = whole.scores(*learned.divergence);
    notes[place] =
        fmt::format("script_lambda={:g}{}{}", scripted_lambdas()[place], learned.proved->constant ? " CONSTANT" : "",
                    is_success(learned.report.status) ? "" : " not converged");
  }
  RunScores result;
  std::vector<std::string> of_measures;
  for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
    result.per_measure[m] = scores[chosen[m]][m];
    result.one_model[m] = scores[chosen[kAveragePrecisionColumn]][m];
    of_measures.push_back(notes[chosen[m]]);
  }
  const bool alike = std::set<std::string>(of_measures.begin(), of_measures.end()).size() == 1;
  result.note = alike ? of_measures.front() : internal::joined(of_measures, "; ");
  return {result};
}

}  // namespace bregmax
