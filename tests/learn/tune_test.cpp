#include "bregmax/learn/tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/learn/run.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/supervision/sample.hpp"
#include "learn/cases.hpp"
#include "methods/item_losses.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using testing::LabelledRows;
using testing::noisy_classes;
using ::testing::ThrowsMessage;

using testing::small_plan;

// A method that is not ours: weighted Euclidean distance, the weight of the noisy feature to be found.
class WeightLearner final : public FoldLearner {
 public:
  explicit WeightLearner(Index features) : features_(features) {}
  std::vector<LearnStep> steps() const override { return {{{}, {0}}, {{0}, {1, 2}}}; }
  FoldFit run(std::size_t step, const RunControl&) override {
    ++runs_[step];
    return step == 0 ? FoldFit::kSolved : FoldFit::kProved;
  }
  Model model(std::size_t candidate) const override {
    EXPECT_EQ(runs_[candidate == 0 ? 0 : 1], 1);
    Matrix weights = Matrix::Identity(features_, features_);
    weights(features_ - 1, features_ - 1) = candidate == 0 ? 1 : 1e-4;
    if (candidate == 2) weights.setZero();
    Model model;
    model.scaling = Scaling::none(features_);
    model.divergence = std::make_shared<Mahalanobis>(weights);
    return model;
  }

 private:
  Index features_;
  int runs_[2] = {0, 0};
};

class WeightFamily final : public CandidateFamily {
 public:
  std::vector<Settings> candidates() const override {
    return {{{"weight", 1}}, {{"weight", 1e-4}}, {{"weight", 0, "none"}}};
  }
  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<WeightLearner>(fold.train_rows.cols());
  }
};

TEST(Tune, ChoosesAmongTheCandidatesOfAnyMethod) {
  const LabelledRows data = noisy_classes(60);
  const TuneResult result = tune(folds_of_rows(data.rows, data.classes, 3, 5), {std::make_shared<WeightFamily>()}, {});
  EXPECT_EQ(result.record.chosen, 1) << "the one that ignores the noise";
  EXPECT_EQ(result.record.solved, 3);
  EXPECT_EQ(result.record.proved, 3);
  EXPECT_TRUE(result.constant[2]);
  EXPECT_FALSE(result.constant[0] || result.constant[1] || result.all_constant);
  const auto m = static_cast<Index>(Measure::kAveragePrecision);
  double sum = 0, squares = 0;
  for (const Matrix& scores : result.fold_scores) sum += scores(1, m) / 3;
  for (const Matrix& scores : result.fold_scores) squares += std::pow(scores(1, m) - sum, 2);
  EXPECT_NEAR(result.record.means(1, m), sum, 1e-12);
  EXPECT_NEAR(result.record.standard_errors(1, m), std::sqrt(squares / 2 / 3), 1e-12);
  EXPECT_EQ(best_candidate(result, Measure::kPurity), 1);
}

TEST(Tune, FoldsSplitTheRowsAndKeepTheClasses) {
  const LabelledRows data = noisy_classes(31, 3);
  std::multiset<double> seen;
  for (const Fold& fold : folds_of_rows(data.rows, data.classes, 3, 1)) {
    EXPECT_EQ(fold.train_rows.rows() + fold.held_out_rows.rows(), 31);
    EXPECT_EQ(std::set<int>(fold.held_out_classes.begin(), fold.held_out_classes.end()).size(), 3U);
    for (Index i = 0; i < fold.held_out_rows.rows(); ++i) seen.insert(fold.held_out_rows(i, 2));
    EXPECT_EQ(std::get<Comparisons>(fold.loss_items).size(), 2000U);
  }
  EXPECT_EQ(seen, std::multiset<double>(data.rows.col(2).begin(), data.rows.col(2).end()));
}

TEST(Tune, FoldsOfItemsHoldEachItemOutOnce) {
  const LabelledRows data = noisy_classes(10);
  Pairs pairs = all_pairs(data.classes);
  double held_out = 0;
  pairs.resize(12);  // too few for rows to be held out
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p].weight = static_cast<double>(p + 1);
  for (const Fold& fold : folds_of_items(data.rows, pairs, 4, 1)) {
    EXPECT_EQ(std::get<Pairs>(*fold.train_items).size() + std::get<Pairs>(fold.loss_items).size(), 12U);
    for (const Pair& pair : std::get<Pairs>(fold.loss_items)) held_out += pair.weight;
  }
  EXPECT_EQ(held_out, 12 * 13 / 2);
}

// A yardstick that has scores on more folds than what may be chosen does not strike it out.
TEST(Tune, ChoosesAmongCandidatesWithFewerScoresThanTheYardstick) {
  TuneResult result;
  const auto column = static_cast<Index>(Measure::kAuc);
  result.fold_scores.assign(2, Matrix::Constant(3, kAllMeasures.size(), 0.5));
  result.fold_scores[1].row(0).setConstant(std::numeric_limits<double>::quiet_NaN());
  result.fold_scores[1].row(1).setConstant(std::numeric_limits<double>::quiet_NaN());
  result.fold_scores[0](1, column) = 0.75;
  result.record.means = result.fold_scores[0];
  result.constant.assign(3, false);
  result.role_of = {{0}, {0}, {1, true}};
  EXPECT_EQ(compared_candidates(result, Measure::kAuc).folds, 1);
  EXPECT_EQ(compared_candidates(result, Measure::kAuc).candidates, (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(best_candidate(result, Measure::kAuc), 1);
}

TEST(Tune, FoldsOfItemsHoldOutRowsIfThereAreEnough) {
  const LabelledRows data = noisy_classes(20);
  const Comparisons comparisons = sample_comparisons(data.classes, 200, 1);
  std::set<Index> held_out_somewhere;
  const std::vector<Fold> folds = folds_of_items(data.rows, comparisons, 4, 1);
  for (const Fold& fold : folds) {
    EXPECT_EQ(MatrixView(fold.train_rows).data(), MatrixView(folds[0].train_rows).data()) << "copies would take memory";
    EXPECT_EQ(MatrixView(fold.loss_rows).data(), MatrixView(folds[0].train_rows).data());
  }
  ASSERT_EQ(folds.size(), 4U);
  for (const Fold& fold : folds) {
    std::set<Index> trained;
    for (const Comparison& item : std::get<Comparisons>(*fold.train_items)) {
      trained.insert({item.i, item.j, item.k, item.l});
    }
    EXPECT_GE(trained.size(), 10U);
    const auto& held_out = std::get<Comparisons>(fold.loss_items);
    EXPECT_EQ(std::get<Comparisons>(*fold.train_items).size() + held_out.size(), 200U);
    for (const Comparison& item : held_out) {
      std::set<Index> unseen;
      for (const Index row : {item.i, item.j, item.k, item.l}) {
        if (!trained.contains(row)) unseen.insert(row);
      }
      EXPECT_FALSE(unseen.empty());
      held_out_somewhere.merge(unseen);
    }
  }
  EXPECT_EQ(held_out_somewhere.size(), 20U);
}

TEST(Tune, FoldsHavePairsInBothDirections) {
  const LabelledRows data = noisy_classes(10);
  const TrainingData given{data.rows, Pairs{{0, 2, true}, {1, 3, true, 5}, {0, 1, false}, {2, 3, false}}};
  FitRequest request;
  request.method = "pbdl";
  request.folds = 2;
  const Plan both = plan(request, given);
  EXPECT_THAT(both.to_text(), HasSubstr("pairs          in both directions\n"));
  double held_out = 0;
  for (const Fold& fold : folds_of(both, given)) {
    for (const Supervision* part : {&*fold.train_items, &fold.loss_items}) {
      const auto& pairs = std::get<Pairs>(*part);
      ASSERT_EQ(pairs.size(), 4U) << "two of the four";
      for (std::size_t p = 0; p < pairs.size(); p += 2) {
        EXPECT_EQ(pairs[p].i, pairs[p + 1].j);
        EXPECT_EQ(pairs[p].j, pairs[p + 1].i);
      }
    }
    for (const Pair& pair : std::get<Pairs>(fold.loss_items)) held_out += pair.weight;
  }
  EXPECT_EQ(held_out, 8) << "the sum of the weights as they were given";
  request.directed_pairs = true;
  const Plan directed = plan(request, given);
  EXPECT_EQ(std::get<Pairs>(folds_of(directed, given).front().loss_items).size(), 2U);
}

// Only the rows that items name are learned from; the others add to the scaling, for which a sample is enough.
TEST(Tune, FoldsOfItemsHaveFewOfTheRowsThatNoItemNames) {
  const LabelledRows data = noisy_classes(60);
  Comparisons comparisons;
  for (Index c = 0; c < 40; ++c) comparisons.push_back({c % 12 * 5, (c + 5) % 12 * 5, c % 12 * 5, (c + 1) % 12 * 5});
  std::vector<int> pieces(60);
  for (std::size_t row = 0; row < 60; ++row) pieces[row] = static_cast<int>(row % 20);
  const auto features_of = [](const MatrixView& rows, const Comparison& item) {
    return std::array{rows(item.i, 2), rows(item.j, 2), rows(item.k, 2), rows(item.l, 2)};
  };
  const std::vector<Fold> all = folds_of_items(data.rows, comparisons, 4, 1, pieces, 60);
  for (const Index most : {20, 5}) {
    const std::vector<Fold> few = folds_of_items(data.rows, comparisons, 4, 1, pieces, most);
    ASSERT_EQ(few.size(), all.size());
    for (std::size_t f = 0; f < few.size(); ++f) {
      EXPECT_EQ(few[f].train_rows.rows(), std::max<Index>(most, 12)) << "all that are named";
      ASSERT_EQ(few[f].train_pieces.size(), static_cast<std::size_t>(few[f].train_rows.rows()));
      const std::set<int> used(few[f].train_pieces.begin(), few[f].train_pieces.end());
      EXPECT_EQ(*used.rbegin() + 1, std::ssize(used)) << "numbered anew";
      const std::pair<Supervision, Supervision> parts[] = {{*few[f].train_items, *all[f].train_items},
                                                           {few[f].loss_items, all[f].loss_items}};
      for (const auto& [one, other] : parts) {
        const auto &renumbered = std::get<Comparisons>(one), &given = std::get<Comparisons>(other);
        ASSERT_EQ(renumbered.size(), given.size()) << "the same division";
        for (std::size_t t = 0; t < given.size(); ++t) {
          EXPECT_EQ(features_of(few[f].train_rows, renumbered[t]), features_of(all[f].train_rows, given[t]));
        }
      }
    }
  }
}

TEST(Tune, TheSeedGivesFoldsOfItemsRandomStarts) {
  const LabelledRows data = noisy_classes(20);
  const Comparisons comparisons = sample_comparisons(data.classes, 200, 1);
  const TrainingData given{data.rows, comparisons};
  FitRequest request;
  request.method = "smooth";
  std::vector<Matrix> learned;
  for (const std::uint64_t seed : {1, 2}) {
    request.seed = seed;
    const Plan planned = plan(request, given);
    std::vector<Fold> folds = folds_of(planned, given);
    EXPECT_NE(folds[0].seed, folds[1].seed);
    folds[0].train_items = comparisons;  // so that only the start differs
    const CandidateFamilies families = families_of(planned, given).families;
    const auto learner = families.front()->learner(folds[0]);
    learner->run(0, {});
    learned.push_back(learner->model(0).divergences(data.rows, data.rows));
  }
  EXPECT_NE(learned[0], learned[1]);
}

// Similar pairs alone teach nothing.
TEST(Tune, FoldsOfPairsKeepBothKinds) {
  const LabelledRows data = noisy_classes(10);
  const Pairs pairs = {{0, 2, true}, {1, 3, true}, {0, 1, false}, {2, 4, true}, {2, 3, false}, {4, 6, true}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Fold& fold : folds_of_items(data.rows, pairs, 2, seed)) {
      const auto& train = std::get<Pairs>(*fold.train_items);
      EXPECT_EQ(std::count_if(train.begin(), train.end(), [](const Pair& pair) { return pair.similar; }), 2);
      EXPECT_EQ(train.size(), 3U);
    }
  }
}

// Also of candidates that were proved by the solution of another lambda.
TEST(Tune, RecordsOfFoldsBelongToTheirLambda) {
  const LabelledRows data = noisy_classes(30);
  for (const auto& family : families_of(small_plan(), {data.rows, data.classes}).families) {
    for (const Fold& fold : folds_of_rows(data.rows, data.classes, 2, 3)) {
      const auto learner = family->learner(fold);
      const auto candidates = family->candidates();
      const std::vector<LearnStep> steps = learner->steps();
      for (std::size_t step = 0; step < steps.size(); ++step) learner->run(step, {});
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        const Model model = learner->model(c);
        const TrainingRecord& record = model.record;
        const double share = static_cast<double>(record.items) / (30.0 * 29);
        EXPECT_NEAR(record.lambda, candidates[c][0].value * share, 1e-12 * record.lambda);
        EXPECT_NEAR(record.objective, record.loss + record.lambda * record.lipschitz, 1e-9 * (1 + record.objective));
        EXPECT_LE(record.lower_bound, record.objective * (1 + 1e-12));
        if (candidates[c][1].value > 0) continue;  // smoothing changes the loss
        const double mean =
            internal::mean_loss(*model.divergence, model.scaling.apply(fold.train_rows), all_pairs(fold.train_classes));
        EXPECT_NEAR(mean * static_cast<double>(record.items), record.loss, 1e-3 * (1 + record.loss));
      }
    }
  }
}

TEST(Tune, RecordsOfFoldsNameTheSolver) {
  const LabelledRows data = noisy_classes(20);
  const Fold fold = folds_of_rows(data.rows, data.classes, 2, 3).front();
  for (const bool admm : {false, true}) {
    Plan options = small_plan();
    options.methods[0].tried["lambda"] = {1};
    options.methods[0].settings.solver.fold_seconds = admm ? 0 : 60;
    const CandidateFamilies families = families_of(options, {data.rows, data.classes}).families;
    const auto learner = families.front()->learner(fold);
    for (std::size_t step = 0; step < learner->steps().size(); ++step) learner->run(step, {});
    EXPECT_EQ(learner->model(0).record.solver, admm ? "admm" : "exact");
  }
}

// Stating the problems may take long, so it is done in steps, under the clock.
TEST(Tune, LearnersAreMadeWithoutWork) {
  const LabelledRows data = noisy_classes(20);
  Fold unusable = folds_of_rows(data.rows, data.classes, 2, 3).front();
  unusable.train_classes.assign(unusable.train_classes.size(), 0);
  Plan options = small_plan();
  options.methods[0].supervision = {{LabelSupervision::kComparisons, 100, 3, 0}};
  const CandidateFamilies families = families_of(options, {data.rows, data.classes}).families;
  const auto learner = families.front()->learner(unusable);
  EXPECT_THAT([&] { learner->run(0, {}); }, ThrowsMessage<Error>(HasSubstr("class")));
}

TEST(Tune, MeanLossIsThatOfTheDefinition) {
  const LabelledRows data = noisy_classes(12);
  const SquaredEuclidean d;
  const auto value = [&](Index i, Index j) { return (data.rows.row(i) - data.rows.row(j)).squaredNorm(); };
  const Comparisons comparisons = {{0, 1, 2, 3, 2.0}, {4, 5, 4, 7, 1.0}};
  double expected = 2 * std::max(0.0, 1 + value(0, 1) - value(2, 3)) + std::max(0.0, 1 + value(4, 5) - value(4, 7));
  EXPECT_NEAR(internal::mean_loss(d, data.rows, comparisons), expected / 3, 1e-9 * expected);
  const Pairs pairs = {{0, 1, true, 0.5}, {1, 2, false, 1}};
  expected = 0.5 * value(0, 1) + std::max(0.0, 2 - value(1, 2));
  EXPECT_NEAR(internal::mean_loss(d, data.rows, pairs), expected / 1.5, 1e-9 * expected);
  EXPECT_NEAR(internal::mean_loss(d, data.rows, Targets{{0, 1, 3}}), std::pow(value(0, 1) - 3, 2), 1e-8);
  EXPECT_TRUE(std::isnan(internal::mean_loss(d, data.rows, Comparisons{})));
}

TEST(Tune, TellsConstantDivergences) {
  const LabelledRows data = noisy_classes(20);
  EXPECT_FALSE(is_constant(SquaredEuclidean(), data.rows));
  Matrix slopes = Matrix::Zero(2, 3);
  EXPECT_TRUE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 0), data.rows));
  EXPECT_TRUE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 1), data.rows));
  slopes(0, 0) = 1;
  EXPECT_FALSE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 0), data.rows));
  EXPECT_FALSE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 100), data.rows)) << "only smooth";
  Vector offsets(2);
  offsets << -1e6, 1e6;  // one piece is above the other everywhere
  EXPECT_TRUE(is_constant(*make_max_affine(slopes, offsets, 0), data.rows));
}

TEST(Tune, RefusesWhatCannotBeScored) {
  const Matrix rows = Matrix::Random(6, 2);
  EXPECT_THAT([&] { usable_folds({0, 0, 1, 1}, 3); }, ThrowsMessage<Error>(HasSubstr("three rows")));
  EXPECT_THAT([&] { usable_folds({0, 0, 0, 0}, 3); }, ThrowsMessage<Error>(HasSubstr("two classes")));
  EXPECT_EQ(usable_folds({0, 0, 0, 1, 1, 1}, 3), 2);
  EXPECT_EQ(usable_folds({0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 3), 3);
  EXPECT_THAT([&] { tune({}, {std::make_shared<WeightFamily>()}); }, ThrowsMessage<Error>(HasSubstr("no folds")));
  EXPECT_THAT(
      [&] {
        tune(folds_of_rows(rows, {0, 1, 0, 1, 0, 1}, 3, 0), {});
      },
      ThrowsMessage<Error>(HasSubstr("no candidates")));
  EXPECT_THAT(
      [&] {
        tune(folds_of_rows(rows, {0, 1, 0, 1, 0, 1}, 3, 0), {std::make_shared<WeightFamily>()});
      },
      ThrowsMessage<Error>(HasSubstr("cannot choose by average_precision")));
  EXPECT_THAT([&] { measure_named("f1"); }, ThrowsMessage<Error>(HasSubstr("rand_index, purity, auc")));
}

}  // namespace
}  // namespace bregmax
