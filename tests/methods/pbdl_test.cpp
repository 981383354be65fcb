#include "bregmax/methods/pbdl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/search/top_k.hpp"
#include "bregmax/supervision/sample.hpp"
#include "methods/item_losses.hpp"
#include "methods/pbdl_problem.hpp"
#include "sanitized.hpp"

// PbdlOptions::piece_of has no initialiser of its own, which gcc takes for an oversight of those who name other fields.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct LabelledRows {
  Matrix rows;
  std::vector<int> classes;
};

// Two classes; the features have different units and are far from zero.
LabelledRows two_classes(Index count, std::uint64_t seed = 1) {
  Random random(seed);
  LabelledRows data{Matrix(count, 2), std::vector<int>(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const int row_class = i % 2 == 0 ? 0 : 1;
    data.classes[static_cast<std::size_t>(i)] = row_class;
    data.rows.row(i) << 5 + random.normal() + row_class, 1000 * (random.normal() - row_class);
  }
  return data;
}

Comparisons comparisons_of(const LabelledRows& data) { return sample_comparisons(data.classes, 60, 3); }

// D(i, j) with the pieces that the rows were learned on.
double divergence(const MaxAffine& generator, const Matrix& scaled, const std::vector<int>& piece_of, Index i,
                  Index j) {
  const auto value = [&](Index row) {
    const Index piece = piece_of[static_cast<std::size_t>(row)];
    return generator.slopes().row(piece).dot(scaled.row(i)) + generator.offsets()(piece);
  };
  return value(i) - value(j);
}

const MaxAffine& max_affine(const Model& model) {
  const auto* generator = dynamic_cast<const MaxAffine*>(model.divergence.get());
  if (generator == nullptr) throw std::runtime_error("not max-affine");
  return *generator;
}

class Pbdl : public testing::Test {
 private:
  ThreadLimit single_{1};  // the problems are small
};

// Where many pieces meet at a row, rounding must not decide which one it takes: iris has such rows at every lambda.
TEST_F(Pbdl, TheModelGivesTheLossThatWasCounted) {
  const Table iris = read_table("builtin:iris");
  const std::vector<int>& classes = iris.labels->of_row;
  // Two flowers are the same, and share a piece when a model is applied: the later one is left out.
  std::vector<Index> rows;
  for (Index i = 0; i < iris.features.rows(); ++i) {
    const bool repeated = std::any_of(
        rows.begin(), rows.end(), [&](Index earlier) { return iris.features.row(earlier) == iris.features.row(i); });
    if (!repeated) rows.push_back(i);
  }
  const Matrix points = iris.features(rows, Eigen::all);
  std::vector<int> class_of_row;
  for (const Index row : rows) class_of_row.push_back(classes[static_cast<std::size_t>(row)]);
  for (const Supervision& supervision :
       {Supervision(all_pairs(class_of_row)), Supervision(sample_comparisons(class_of_row, 500, 0))}) {
    const auto items = static_cast<double>(item_count(supervision));
    for (const Solver solver : {Solver::kExact, Solver::kAdmm}) {
      for (const double lambda : {1.0, 10.0, 100.0, 1000.0}) {
        if (test::kSanitized && lambda != 100) continue;
        PbdlOptions options;
        options.lambda = lambda;
        options.solver.solver = solver;
        const MethodFit result = fit_pbdl(points, supervision, options);
        EXPECT_EQ(result.report.status, Status::kOptimal) << lambda;
        const double loss =
            items * internal::mean_loss(*result.model.divergence, result.model.scaling.apply(points), supervision);
        EXPECT_NEAR(loss, result.report.loss, 1e-7 * (1 + result.report.loss)) << result.model.record.solver << lambda;
      }
    }
  }
}

// The same of many pairs that cannot all be satisfied: the proximal term must not be what decides near the end.
TEST_F(Pbdl, TheModelGivesTheLossOfClassesThatOverlap) {
  constexpr Index kRows = test::kSanitized ? 60 : 500, kFeatures = 10;
  Random random(1);
  Matrix points(kRows, kFeatures);
  std::vector<int> classes(kRows);
  for (Index i = 0; i < kRows; ++i) {
    classes[static_cast<std::size_t>(i)] = static_cast<int>(i % 2);
    for (Index j = 0; j < kFeatures; ++j) points(i, j) = random.normal() + static_cast<double>(i % 2);
  }
  const Supervision pairs = all_pairs(classes);
  const MethodFit result =
      fit_pbdl(points, pairs, {.lambda = 1, .scale = Scale::kNone, .solver = {.solver = Solver::kExact}});
  EXPECT_EQ(result.report.status, Status::kOptimal);
  const double loss =
      static_cast<double>(item_count(pairs)) * internal::mean_loss(*result.model.divergence, points, pairs);
  EXPECT_NEAR(loss, result.report.loss, 1e-7 * (1 + result.report.loss));
}

TEST_F(Pbdl, KeepsTheScalingInTheModel) {
  const LabelledRows data = two_classes(20);
  const MethodFit standard = fit_pbdl(data.rows, comparisons_of(data));
  const Scaling expected = Scaling::standard(data.rows);
  EXPECT_EQ(standard.model.scaling.center, expected.center);
  EXPECT_EQ(standard.model.scaling.scale, expected.scale);
  EXPECT_TRUE(fit_pbdl(data.rows, comparisons_of(data), {.scale = Scale::kNone}).model.scaling.is_identity());

  // It is the same as scaling the rows first.
  const MethodFit before = fit_pbdl(expected.apply(data.rows), comparisons_of(data), {.scale = Scale::kNone});
  EXPECT_EQ(before.report.objective, standard.report.objective);
  EXPECT_EQ(max_affine(before.model).slopes(), max_affine(standard.model).slopes());
}

TEST_F(Pbdl, IgnoresTheUnitsOfFeaturesWhenItScales) {
  const LabelledRows data = two_classes(20);
  Matrix other_units = data.rows;
  other_units.col(0) = 7 * other_units.col(0).array() - 3;
  other_units.col(1) *= 1e-4;
  const double objective = fit_pbdl(data.rows, comparisons_of(data)).report.objective;
  EXPECT_NEAR(fit_pbdl(other_units, comparisons_of(data)).report.objective, objective, 1e-7 * objective);
}

TEST_F(Pbdl, SaysWhatItDid) {
  const LabelledRows data = two_classes(20);
  const PbdlOptions options{.lambda = 0.5, .lipschitz_bound = 3, .pieces = 4, .seed = 9};
  const MethodFit result = fit_pbdl(data.rows, comparisons_of(data), options);
  const TrainingRecord& record = result.model.record;
  EXPECT_EQ(record.method, "pbdl");
  EXPECT_EQ(record.supervision, "comparisons");
  EXPECT_EQ(record.solver, "exact");
  EXPECT_EQ(record.status, "optimal");
  EXPECT_EQ(record.rows, 20);
  EXPECT_EQ(record.items, 60);
  EXPECT_EQ(record.lambda, 0.5);
  EXPECT_EQ(record.lipschitz_bound, 3);
  EXPECT_EQ(record.seed, 9U);
  EXPECT_EQ(record.lipschitz, result.report.lipschitz);
  EXPECT_EQ(record.loss, result.report.loss);
  EXPECT_EQ(record.objective, result.report.objective);
  EXPECT_EQ(record.lower_bound, result.report.lower_bound);
  EXPECT_EQ(record.relative_gap, result.report.relative_gap);
  EXPECT_EQ(record.iterations, result.report.iterations);
  EXPECT_EQ(result.proved->certificate.objective, result.report.objective);
  EXPECT_EQ(result.proved->certificate.relative_gap, result.report.relative_gap);
  EXPECT_LE(result.proved->certificate.relative_gap, 1e-8);
  EXPECT_LE(record.lipschitz, 3 * (1 + 1e-8));
  EXPECT_EQ(fit_pbdl(data.rows, all_pairs(data.classes)).model.record.supervision, "pairs");
  EXPECT_EQ(fit_pbdl(data.rows, Targets{{0, 1, 1}}).model.record.supervision, "targets");
  check_model(result.model);
}

TEST_F(Pbdl, GivesEveryRowAPieceByDefault) {
  const LabelledRows data = two_classes(20);
  EXPECT_EQ(max_affine(fit_pbdl(data.rows, comparisons_of(data)).model).pieces(), 20);
  EXPECT_EQ(max_affine(fit_pbdl(data.rows, comparisons_of(data), {.pieces = 20}).model).pieces(), 20);
}

TEST_F(Pbdl, ClustersTheScaledRowsIntoPieces) {
  const LabelledRows data = two_classes(30);
  const MethodFit by_number = fit_pbdl(data.rows, comparisons_of(data), {.pieces = 6, .seed = 2});
  const auto piece_of = farthest_point_cells(Scaling::standard(data.rows).apply(data.rows), 6, 2).piece_of;
  const MethodFit by_hand = fit_pbdl(data.rows, comparisons_of(data), {.pieces = 3, .piece_of = piece_of});
  EXPECT_EQ(max_affine(by_number.model).pieces(), 6);
  EXPECT_EQ(max_affine(by_number.model).slopes(), max_affine(by_hand.model).slopes());
  EXPECT_EQ(max_affine(by_number.model).offsets(), max_affine(by_hand.model).offsets());
}

TEST_F(Pbdl, ReturnsASmoothedDivergenceOfTheSamePieces) {
  const LabelledRows data = two_classes(20);
  const MethodFit sharp = fit_pbdl(data.rows, comparisons_of(data));
  const MethodFit smooth = fit_pbdl(data.rows, comparisons_of(data), {.smoothing = 0.5});
  const auto* generator = dynamic_cast<const SmoothedMaxAffine*>(smooth.model.divergence.get());
  ASSERT_NE(generator, nullptr);
  EXPECT_EQ(generator->temperature(), 0.5);
  EXPECT_EQ(generator->slopes(), max_affine(sharp.model).slopes());
  EXPECT_EQ(generator->offsets(), max_affine(sharp.model).offsets());
}

TEST_F(Pbdl, IsDeterministic) {
  const LabelledRows data = two_classes(30);
  const MethodFit first = fit_pbdl(data.rows, comparisons_of(data), {.pieces = 8, .seed = 4});
  const MethodFit second = fit_pbdl(data.rows, comparisons_of(data), {.pieces = 8, .seed = 4});
  EXPECT_EQ(max_affine(first.model).slopes(), max_affine(second.model).slopes());
}

TEST_F(Pbdl, ReportsLimitsAndStopsAsStatus) {
  const LabelledRows data = two_classes(30);
  const auto supervision = comparisons_of(data);
  MethodFit result = fit_pbdl(data.rows, supervision, {.max_iterations = 1});
  EXPECT_EQ(result.report.status, Status::kIterationLimit);
  EXPECT_EQ(result.model.record.status, "iteration_limit");
  result = fit_pbdl(data.rows, supervision, {.time_limit = 1e-9});
  EXPECT_EQ(result.report.status, Status::kTimeLimit);
  std::atomic<bool> stop = false;
  int reports = 0;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress&) { stop = ++reports == 3; };
  result = fit_pbdl(data.rows, supervision, {}, control);
  EXPECT_EQ(result.report.status, Status::kStopped);
  EXPECT_EQ(reports, 3);
  check_model(result.model);
}

TEST_F(Pbdl, RefusesBadInput) {
  const LabelledRows data = two_classes(20);
  const auto refused = [&](const PbdlOptions& options, const char* message) {
    EXPECT_THAT([&] { fit_pbdl(data.rows, comparisons_of(data), options); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  for (const double lambda : {-1.0, kNan, kInfinity}) refused({.lambda = lambda}, "lambda is");
  for (const double bound : {0.0, -1.0, kNan}) refused({.lipschitz_bound = bound}, "Lipschitz bound is");
  for (const double smoothing : {-1.0, kNan, kInfinity}) refused({.smoothing = smoothing}, "smoothing is");
  for (const int pieces : {-1, 21}) refused({.pieces = pieces}, "pieces is");
  refused({.piece_of = std::vector<int>(19, 0)}, "piece_of has 19 entries for 20 rows");
  refused({.piece_of = std::vector<int>{}}, "pieces is 0");
  std::vector<int> piece_of(20, 0);
  piece_of[3] = 2;
  refused({.piece_of = piece_of}, "piece 1 has no row");
  piece_of[3] = -1;
  refused({.piece_of = piece_of}, "row 3 is on piece -1");
  refused({.tolerance = 0}, "tolerance is");
  refused({.max_iterations = 0}, "max_iterations is");
  refused({.time_limit = -1}, "time_limit is");

  EXPECT_THAT([&] { fit_pbdl(data.rows, Comparisons{}); }, ThrowsMessage<Error>(HasSubstr("no comparisons")));
  EXPECT_THAT([&] { fit_pbdl(data.rows, Pairs{{0, 20, true}}); }, ThrowsMessage<Error>(HasSubstr("row number 20")));
  EXPECT_THAT([&] { fit_pbdl(Matrix(0, 2), Pairs{{0, 0, true}}); }, ThrowsMessage<Error>(HasSubstr("0 x 2")));
  EXPECT_THAT([&] { fit_pbdl(Matrix(2, 0), Pairs{{0, 1, true}}); }, ThrowsMessage<Error>(HasSubstr("2 x 0")));
  Matrix spoilt = data.rows;
  spoilt(4, 1) = kNan;
  EXPECT_THAT([&] { fit_pbdl(spoilt, comparisons_of(data)); },
              ThrowsMessage<Error>(HasSubstr("row 4 feature 1 is nan")));
}

// The generator at the training rows is what was optimised. Where several pieces tie at a reference the model takes the
// first of them, the problem the reference's own: only where they are the same is D the same.
void expect_model_reproduces(const Matrix& rows, const Supervision& supervision, const PbdlOptions& options) {
  const MethodFit result = fit_pbdl(rows, supervision, options);
  const MaxAffine& generator = max_affine(result.model);
  const Matrix scaled = result.model.scaling.apply(rows);
  const std::vector<int> piece_of = *options.piece_of, chosen = generator.pieces_of(scaled);
  const Vector phi = generator.generator_values(scaled);
  const Matrix found = generator.matrix(scaled, scaled);
  Index same = 0;
  for (Index j = 0; j < rows.rows(); ++j) {
    const Vector scores = generator.slopes() * scaled.row(j).transpose() + generator.offsets();
    const int own = piece_of[static_cast<std::size_t>(j)], taken = chosen[static_cast<std::size_t>(j)];
    EXPECT_NEAR(scores(own), phi(j), 1e-8 * (1 + std::abs(phi(j))));  // a row lies on its piece
    EXPECT_NEAR(scores(taken), phi(j), 1e-8 * (1 + std::abs(phi(j))));
    if (own != taken) continue;
    ++same;
    for (Index i = 0; i < rows.rows(); ++i) {
      EXPECT_NEAR(found(i, j), std::max(0.0, divergence(generator, scaled, piece_of, i, j)), 1e-7);
    }
  }
  EXPECT_GT(same, 0);  // a row on piece 0 is one
  double loss = 0;
  const auto d = [&](Index i, Index j) { return divergence(generator, scaled, piece_of, i, j); };
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    for (const auto& c : *comparisons) loss += c.weight * std::max(0.0, 1 + d(c.i, c.j) - d(c.k, c.l));
  } else if (const auto* pairs = std::get_if<Pairs>(&supervision)) {
    for (const auto& p : *pairs) loss += p.weight * std::max(0.0, p.similar ? d(p.i, p.j) : 2 - d(p.i, p.j));
  } else {
    for (const auto& t : std::get<Targets>(supervision)) loss += t.weight * std::pow(d(t.i, t.j) - t.value, 2);
  }
  EXPECT_NEAR(loss, result.report.loss, 1e-9 * (1 + loss));
  EXPECT_NEAR(generator.slopes().cwiseAbs().rowwise().sum().maxCoeff(), result.report.lipschitz, 1e-12);
}

TEST_F(Pbdl, ReturnsAModelWithTheLossThatItReports) {
  const LabelledRows data = two_classes(24);
  std::vector<int> own(24);
  for (int i = 0; i < 24; ++i) own[static_cast<std::size_t>(i)] = i;
  const auto cells = farthest_point_cells(Scaling::standard(data.rows).apply(data.rows), 5, 0).piece_of;
  Targets targets;
  for (Index i = 0; i < 24; ++i) {
    for (Index j = 0; j < 24; j += 2)
      targets.push_back({i, j, 1e-6 * (data.rows.row(i) - data.rows.row(j)).squaredNorm()});
  }
  for (const auto& piece_of : {own, cells}) {
    expect_model_reproduces(data.rows, comparisons_of(data), {.lambda = 0.1, .piece_of = piece_of});
    expect_model_reproduces(data.rows, all_pairs(data.classes), {.lambda = 0.1, .piece_of = piece_of});
    expect_model_reproduces(data.rows, targets, {.lambda = 0.1, .piece_of = piece_of});
  }
}

// Targets from a known divergence, default options: the learned one is close to it on new rows, much closer than a
// constant guess.
double unexplained_share(const Divergence& truth, const Matrix& train, const Matrix& test) {
  const Matrix known = truth.matrix(train, train);
  Targets targets;
  for (Index i = 0; i < train.rows(); ++i) {
    for (Index j = 0; j < train.rows(); ++j) targets.push_back({i, j, known(i, j)});
  }
  const MethodFit result = fit_pbdl(train, targets);
  EXPECT_EQ(result.report.status, Status::kOptimal);
  const Matrix scaled = result.model.scaling.apply(test);
  const Matrix expected = truth.matrix(test, test), found = result.model.divergence->matrix(scaled, scaled);
  return (found - expected).squaredNorm() / (expected.array() - expected.mean()).matrix().squaredNorm();
}

TEST_F(Pbdl, RecoversKnownDivergencesFromTargets) {
  Random random(5);
  const auto uniform = [&](Index rows, Index columns) {
    Matrix out(rows, columns);
    for (double& x : out.reshaped()) x = random.uniform();
    return out;
  };
  const auto simplex = [&](Index rows) {  // Dirichlet(1, 1)
    Matrix out(rows, 2);
    out.col(0) = uniform(rows, 1);
    out.col(1) = 1 - out.col(0).array();
    return out;
  };
  EXPECT_LE(unexplained_share(*make_closed_form("squared_euclidean"), 4 * uniform(60, 2), 4 * uniform(100, 2)), 0.1);
  EXPECT_LE(unexplained_share(*make_closed_form("kl"), simplex(60), 0.98 * simplex(100).array() + 0.01), 0.02);
}

// All pairs of wine, lambda 10: the rows of a class share a piece, up to a residue of the solver.
TEST(PbdlTies, RowsThatTheSolverDoesNotTellApartAreTied) {
  const Table wine = read_table("builtin:wine");
  const std::vector<int>& classes = wine.labels->of_row;
  const Matrix rows = Scaling::standard(wine.features).apply(wine.features);
  const Learned learned = learn_pbdl(rows, label_pairs(classes), {.lambda = 10});
  EXPECT_NEAR(learned.divergence->resolution(), 0.1 * std::sqrt(learned.report.relative_gap), 1e-9);
  const Matrix divergences = learned.divergence->matrix(rows, rows);
  EXPECT_GT((divergences.array() > 0 && divergences.array() < 1e-9).count(), 1000) << "there is residue";
  const auto lists = top_k(*learned.divergence, rows, rows, 0);
  for (std::size_t q = 0; q < lists.size(); ++q) {
    std::set<double> values;
    for (std::size_t i = 0; i < lists[q].size(); ++i) {
      values.insert(lists[q][i].divergence);
      if (i > 0 && lists[q][i].divergence == lists[q][i - 1].divergence) {
        EXPECT_LT(lists[q][i - 1].row, lists[q][i].row) << "query " << q;
      }
    }
    EXPECT_LE(values.size(), 5U) << "query " << q << ": of three classes";
  }
}

TEST(PbdlTies, TheResolutionFollowsTheGapAndTheUnitOfTheTargets) {
  EXPECT_DOUBLE_EQ(internal::resolution_of(Comparisons{{0, 1, 0, 2}}, 1e-8), 1e-5);
  EXPECT_DOUBLE_EQ(internal::resolution_of(Comparisons{{0, 1, 0, 2}}, 1), 1e-3);
  EXPECT_DOUBLE_EQ(internal::resolution_of(Pairs{{0, 1, true}}, 0), 1e-7);
  EXPECT_DOUBLE_EQ(internal::resolution_of(Pairs{{0, 1, true}}, kInfinity), 1e-3);
  EXPECT_DOUBLE_EQ(internal::resolution_of(Targets{{0, 1, 300}, {1, 0, -300}}, 1e-8), 3e-3);
  EXPECT_EQ(internal::resolution_of(Targets{{0, 1, 0}}, 1e-8), 0);
}

TEST(PbdlTies, AgreementCountsWhatIsNotToldApartAsHalf) {
  // From the point 0 the references 0.5, -2 and 2 are at divergences 0, 1 and 1 + 1e-9.
  Matrix slopes(3, 1);
  slopes << 0, -1, 1;
  Vector offsets(3);
  offsets << 1, 0, -1e-9;
  Matrix rows(4, 1);
  rows << 0, 0.5, -2, 2;
  const MaxAffine exact(slopes, offsets), learned(slopes, offsets, 1e-6);
  ASSERT_NEAR(exact.value(rows.row(0).transpose(), rows.row(3).transpose()), 1 + 1e-9, 1e-12);
  const Comparisons comparisons = {{0, 1, 0, 2}, {0, 2, 0, 3}};
  EXPECT_EQ(internal::agreement(exact, rows, comparisons), 1);
  EXPECT_EQ(internal::agreement(learned, rows, comparisons), 0.75);
  const Pairs pairs = {{0, 1, true}, {0, 2, true}, {0, 3, false}};
  EXPECT_EQ(internal::agreement(exact, rows, pairs), 1);
  EXPECT_EQ(internal::agreement(learned, rows, pairs), 0.75);
}

}  // namespace
}  // namespace bregmax
