// A model applies itself to rows that are not scaled.

#include "bregmax/model/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Matrix rows_of(Index count, std::uint64_t seed) {
  Random random(seed);
  Matrix rows(count, 3);
  for (Index i = 0; i < count; ++i) rows.row(i) << 100 + random.normal(), 0.01 * random.normal(), random.normal();
  return rows;
}

Model scaled_model(const Matrix& rows) {
  Model model;
  Matrix slopes(4, 3);
  slopes << 1, 0, 2, -1, 3, 0, 0.5, -2, 1, 0, 0, -1;
  model.divergence = make_max_affine(slopes, Vector::Zero(4), 0.3);
  model.scaling = Scaling::standard(rows);
  return model;
}

TEST(Model, ScalesRowsBeforeItMeasuresThem) {
  const Matrix points = rows_of(7, 1), references = rows_of(5, 2);
  const Model model = scaled_model(points);
  const Matrix scaled_points = model.scaled(points), scaled_references = model.scaled(references);
  EXPECT_NEAR(scaled_points.col(0).mean(), 0, 1e-12);
  EXPECT_EQ(model.divergences(points, references), model.divergence->matrix(scaled_points, scaled_references));
  EXPECT_EQ(model.rowwise(points.topRows(5), references),
            model.divergence->rowwise(scaled_points.topRows(5), scaled_references));
  EXPECT_EQ(model.value(points.row(2), references.row(1)),
            model.divergence->value(scaled_points.row(2), scaled_references.row(1)));
  EXPECT_EQ(model.generator_values(points), model.divergence->generator_values(scaled_points));
  EXPECT_LE((model.unscaled(scaled_points) - points).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Model, GradientsAreThoseOfTheRowsBeforeScaling) {
  const Matrix points = rows_of(6, 3), references = rows_of(6, 4);
  const Model model = scaled_model(points);
  const Matrix gradients = model.gradients(references);
  for (Index i = 0; i < 6; ++i) {
    const double by_definition = model.generator_values(points.row(i))(0) -
                                 model.generator_values(references.row(i))(0) -
                                 gradients.row(i).dot(points.row(i) - references.row(i));
    EXPECT_NEAR(model.value(points.row(i), references.row(i)), by_definition, 1e-9);
  }
}

TEST(Model, EmbeddedRowsHaveItsDivergenceAsSquaredDistance) {
  const Matrix rows = rows_of(6, 5);
  Model model = scaled_model(rows);
  Matrix metric = Matrix::Identity(3, 3);
  metric(0, 1) = metric(1, 0) = 0.5;
  model.divergence = std::make_shared<Mahalanobis>(metric);
  const Matrix embedded = model.embedded(rows), divergences = model.divergences(rows, rows);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      EXPECT_NEAR((embedded.row(i) - embedded.row(j)).squaredNorm(), divergences(i, j), 1e-10);
    }
  }
}

TEST(Model, DoesNotCopyRowsWithoutScaling) {
  const Matrix rows = rows_of(4, 6);
  Model model = scaled_model(rows);
  model.scaling = Scaling::none(3);
  EXPECT_EQ(model.with_scaled(rows, [](const MatrixView& seen) { return seen.data(); }), rows.data());
}

TEST(Model, RefusesAnotherNumberOfFeatures) {
  const Matrix rows = rows_of(4, 7);
  for (const bool scaled : {true, false}) {
    Model model = scaled_model(rows);
    if (!scaled) model.scaling = Scaling::none(3);
    EXPECT_THAT([&] { model.divergences(Matrix::Ones(2, 4), rows); }, ThrowsMessage<Error>(HasSubstr("expected 3")));
    EXPECT_THAT([&] { model.divergences(rows, Matrix::Ones(2, 2)); }, ThrowsMessage<Error>(HasSubstr("expected 3")));
    EXPECT_THAT([&] { model.unscaled(Matrix::Ones(2, 2)); }, ThrowsMessage<Error>(HasSubstr("2 columns")));
  }
}

TEST(Model, NamesTheFeaturesThatAreRead) {
  Model model;
  Matrix metric = Matrix::Zero(4, 4);
  metric.diagonal() << 1, 0, 9, 1e-40;
  model.divergence = std::make_shared<Mahalanobis>(metric);
  model.scaling = Scaling::none(4);
  const auto names = [&model] {
    std::vector<std::string> read;
    const auto features = features_read(model).value();
    for (const FeatureNorm& feature : features) read.push_back(feature.name);
    return read;
  };
  EXPECT_THAT(names(), testing::ElementsAre("x2", "x0")) << "rounding is not reading";
  EXPECT_EQ(features_read(model)->front().norm, 3);
  model.feature_names = {"height", "age", "weight", "depth"};
  EXPECT_THAT(names(), testing::ElementsAre("weight", "height"));
  model.divergence = std::make_shared<Mahalanobis>(Matrix::Zero(4, 4));
  EXPECT_THAT(names(), testing::IsEmpty());
  model.divergence = std::make_shared<SquaredEuclidean>();
  EXPECT_FALSE(features_read(model).has_value());
}

}  // namespace
}  // namespace bregmax
