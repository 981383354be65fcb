#include "bregmax/data/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "bregmax/core/random.hpp"
#include "data/expect_error.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

TEST(Scaling, StandardHasTheKnownValues) {
  const Matrix rows = (Matrix(4, 2) << 1, 10, 2, 10, 3, 10, 4, 10).finished();
  const Scaling scaling = Scaling::standard(rows);
  EXPECT_DOUBLE_EQ(scaling.center(0), 2.5);
  EXPECT_DOUBLE_EQ(scaling.scale(0), std::sqrt(1.25));
  EXPECT_EQ(scaling.center(1), 10);
  EXPECT_EQ(scaling.scale(1), 1) << "a constant feature is only centred";
  EXPECT_FALSE(scaling.is_identity());
  const Matrix scaled = scaling.apply(rows);
  EXPECT_DOUBLE_EQ(scaled(0, 0), -1.5 / std::sqrt(1.25));
  EXPECT_TRUE(scaled.col(1).isZero(0));
}

TEST(Scaling, NoneChangesNothing) {
  const Matrix rows = Matrix::Random(3, 2);
  EXPECT_TRUE(Scaling::none(2).is_identity());
  EXPECT_EQ(Scaling::none(2).apply(rows), rows);
}

// The mean of ten times 0.1 is not 0.1 in doubles, which would give a tiny deviation instead of none.
TEST(Scaling, RecognisesAConstantFeatureDespiteRounding) {
  const Scaling scaling = Scaling::standard(Matrix::Constant(10, 1, 0.1));
  EXPECT_EQ(scaling.center(0), 0.1);
  EXPECT_EQ(scaling.scale(0), 1);
}

RC_GTEST_PROP(ScalingProperty, StandardGivesMeanZeroAndDeviationOneForAnyUnit, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const double magnitude = std::pow(10.0, *rc::gen::inRange(-200, 200));
  Matrix rows(20, 3);
  for (double& value : rows.reshaped()) value = magnitude * random.normal();
  const Matrix scaled = Scaling::standard(rows).apply(rows);
  RC_ASSERT(scaled.colwise().mean().cwiseAbs().maxCoeff() < 1e-13);
  for (Index j = 0; j < 3; ++j) RC_ASSERT(std::abs(scaled.col(j).squaredNorm() / 20 - 1) < 1e-13);
}

TEST(ScalingBadInput, DetectsAnotherNumberOfFeatures) {
  EXPECT_THAT(error_of([] { Scaling::none(3).apply(Matrix::Zero(1, 2)); }), HasSubstr("found 2 features; expected 3"));
}

TEST(ScalingBadInput, DetectsNoRowsAndDeviationsBeyondDouble) {
  EXPECT_THAT(error_of([] { Scaling::standard(Matrix(0, 2)); }), HasSubstr("no rows"));
  const double huge = std::numeric_limits<double>::max();
  EXPECT_THAT(error_of([&] { Scaling::standard((Matrix(3, 1) << huge, huge, 0).finished()); }), HasSubstr("feature 0"));
}

}  // namespace
}  // namespace bregmax
