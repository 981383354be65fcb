#include "bregmax/theory/approximate.hpp"

#include <gmock/gmock.h>

#include "bregmax/core/error.hpp"
#include "theory/cases.hpp"
#include "theory/coordinate_generator.hpp"
#include "theory/placement.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

class ApproximationOf : public ::testing::TestWithParam<GeneratorCase> {};

// Theorem 1 on random boxes, also with numbers of pieces that are not a d-th power.
TEST_P(ApproximationOf, NeverExceedsTheBoundsOnRandomBoxes) {
  Random random(21);
  int inner_boxes = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const Index dimension = GetParam().dimensions[static_cast<std::size_t>(trial) % GetParam().dimensions.size()];
    const auto divergence = GetParam().divergence(dimension, random);
    const Box box = GetParam().random_box(dimension, random);
    ApproximationOptions options;
    options.pieces = 1 + random.uniform_index(dimension == 1 ? 200 : dimension == 2 ? 400 : 800);
    options.samples = 400;
    options.seed = static_cast<std::uint64_t>(trial);
    const Approximation found = approximate(*divergence, box, options);
    ASSERT_TRUE(std::isfinite(found.beta));
    EXPECT_LE(found.measured.value, found.bounds.value);
    EXPECT_LE(found.anchors.rows(), options.pieces);
    if (found.margin >= box.radius) continue;
    ++inner_boxes;
    EXPECT_LE(found.measured.gradient, found.bounds.gradient);
    EXPECT_LE(found.measured.divergence, found.bounds.divergence);
  }
  EXPECT_GE(inner_boxes, 15) << "too few of the approximations had an inner box to look at";
}

// The approximator lies below phi, touches it at the anchors, and its divergence is the library's own.
TEST_P(ApproximationOf, IsMadeOfTangents) {
  Random random(22);
  const Index dimension = GetParam().dimensions.back();
  const auto divergence = GetParam().divergence(dimension, random);
  const Box box = GetParam().random_box(dimension, random);
  ApproximationOptions options;
  options.pieces = 60;
  options.samples = 300;
  for (const Placement placement : {Placement::kGrid, Placement::kGreedy}) {
    options.placement = placement;
    const Approximation found = approximate(*divergence, box, options);
    const internal::CoordinateGenerator generator(*divergence, dimension);
    const double scale = 1 + generator.values(found.anchors).cwiseAbs().maxCoeff();
    EXPECT_LE(
        (found.approximator->generator_values(found.anchors) - generator.values(found.anchors)).cwiseAbs().maxCoeff(),
        1e-12 * scale);
    const Matrix points = internal::random_points(box, 200, random);
    const Vector below = generator.values(points) - found.approximator->generator_values(points);
    EXPECT_GE(below.minCoeff(), -1e-12 * scale);
    EXPECT_LE(below.maxCoeff(), found.measured.value * 1.3) << "the maximum was missed by much";
  }
}

INSTANTIATE_TEST_SUITE_P(EveryGenerator, ApproximationOf, ::testing::ValuesIn(generator_cases()),
                         [](const auto& each) { return each.param.label; });

// phi = ||x||^2 on cells of half width e: phi - h = ||x - centre||^2, largest d e^2 at the corners; the gradients
// differ by 2 (x - centre), l1 norm at most 2 d e.
TEST(Approximation, OfTheSquareHasTheErrorsWorkedOutByHand) {
  for (const Index dimension : {1, 2, 3}) {
    const Index cells = 9;
    ApproximationOptions options;
    options.pieces = static_cast<Index>(std::pow(cells, dimension));
    options.samples = 6000;
    const Box box{Vector::Constant(dimension, 3), 1.8};
    const Approximation found = approximate(*make_closed_form("squared_euclidean"), box, options);
    const double half = 1.8 / cells, d = static_cast<double>(dimension);
    EXPECT_EQ(found.anchors.rows(), options.pieces);
    EXPECT_NEAR(found.margin, 4 * half, 1e-12);
    EXPECT_NEAR(found.measured.value, d * half * half, 1e-9);
    EXPECT_NEAR(found.measured.gradient, 2 * d * half, 1e-9);
  }
}

TEST(Approximation, FindsTheLargestErrorOfTheDivergence) {
  const auto divergence = make_closed_form("itakura_saito");
  const Box box{Vector::Constant(1, 0.6), 0.5};
  ApproximationOptions options;
  options.pieces = 12;
  const Approximation found = approximate(*divergence, box, options);
  const double radius = box.radius - found.margin;
  const Index fine = 1500;
  const Matrix points = internal::lattice_points({box.center, radius}, fine);
  const Matrix truth = divergence->matrix(points, points);
  const Matrix approximated = found.approximator->matrix(points, points);
  const double largest = (truth - approximated).cwiseAbs().maxCoeff();
  EXPECT_GE(found.measured.divergence, largest * (1 - 1e-3));
  EXPECT_LE(found.measured.divergence, largest * 1.05) << "a fine lattice comes close to the supremum";
}

TEST(Approximation, WithOnePieceIsATangent) {
  const Approximation found =
      approximate(*make_closed_form("squared_euclidean"), {Vector::Zero(2), 1}, {.pieces = 1, .samples = 100});
  EXPECT_EQ(found.anchors.rows(), 1);
  EXPECT_NEAR(found.measured.value, 2, 1e-12);
  EXPECT_DOUBLE_EQ(found.bounds.value, 4 * 4);
  EXPECT_TRUE(std::isnan(found.measured.gradient)) << "there is no inner box";
  EXPECT_TRUE(std::isnan(found.measured.divergence));
}

TEST(Approximation, OfAMaxAffineGeneratorHasNoBounds) {
  const auto pieces = random_pieces(1, 5, 2, 0);
  const Approximation found = approximate(*pieces, {Vector::Zero(2), 1}, {.pieces = 400, .samples = 400});
  EXPECT_TRUE(std::isnan(found.bounds.value));
  EXPECT_LT(found.measured.value, 0.05) << "nearly all pieces are tangents somewhere on the grid";
}

TEST(Approximation, PlacedGreedilyIsBetterThanAGridWhereCurvatureDiffers) {
  const auto divergence = make_closed_form("itakura_saito");
  for (const Index dimension : {2, 3}) {
    const Box box{Vector::Constant(dimension, 0.6), 0.55};
    ApproximationOptions options{.pieces = 64, .samples = 4000};
    const double grid = approximate(*divergence, box, options).measured.value;
    options.placement = Placement::kGreedy;
    EXPECT_LT(approximate(*divergence, box, options).measured.value, 0.5 * grid);
  }
}

TEST(Approximation, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  for (const Placement placement : {Placement::kGrid, Placement::kGreedy}) {
    const Approximation found = approximate(*make_closed_form("kl"), default_box(*make_closed_form("kl"), 2),
                                            {.pieces = 100, .placement = placement}, control);
    EXPECT_TRUE(found.stopped);
    EXPECT_TRUE(std::isnan(found.measured.value));
  }
  EXPECT_TRUE(
      sweep_approximation(*make_closed_form("kl"), default_box(*make_closed_form("kl"), 2), {.pieces = 400}, control)
          .stopped);
}

TEST(ApproximationBounds, AreTheFormulas) {
  // beta 3, R 2, K 16, d 2: K^(-1/d) = 1/4.
  const ApproximationErrors bounds = approximation_bounds(3, 2, 16, 2);
  EXPECT_DOUBLE_EQ(bounds.value, 3);
  EXPECT_DOUBLE_EQ(bounds.gradient, 24);
  EXPECT_DOUBLE_EQ(bounds.divergence, 108);
  const ApproximationErrors one = approximation_bounds(3, 2, 1, 7);
  EXPECT_DOUBLE_EQ(one.value, 48);
  EXPECT_DOUBLE_EQ(one.gradient, 96);
  EXPECT_DOUBLE_EQ(one.divergence, 432);
  EXPECT_TRUE(std::isnan(approximation_bounds(INFINITY, 2, 1, 1).value));
}

std::string refusal(const ApproximationOptions& options) {
  try {
    approximate(*make_closed_form("kl"), default_box(*make_closed_form("kl"), 2), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ApproximationBadInput, DetectsOptionsOutOfRange) {
  EXPECT_THAT(refusal({.pieces = 0}), HasSubstr("pieces is 0"));
  EXPECT_THAT(refusal({.pieces = 100'000'000}), HasSubstr("pieces is 100000000"));
  EXPECT_THAT(refusal({.samples = 0}), HasSubstr("samples is 0"));
  EXPECT_THAT(refusal({.margin = -1}), HasSubstr("margin is -1"));
  EXPECT_THROW(approximation_bounds(-1, 1, 1, 1), Error);
  EXPECT_THROW(approximation_bounds(1, 0, 1, 1), Error);
  EXPECT_THROW(approximation_bounds(1, 1, 0, 1), Error);
  EXPECT_THROW(approximation_bounds(1, 1, 1, 0), Error);
  const AverageDivergence with_kl({make_closed_form("kl"), make_closed_form("squared_euclidean")});
  EXPECT_THROW(approximate(with_kl, {Vector::Constant(2, 0.3), 0.1}), Error);
}

TEST(Placement, CountsTheCellsOfPowersExactly) {
  for (Index dimension = 1; dimension <= 6; ++dimension) {
    for (Index cells = 1; cells <= 12; ++cells) {
      const Index power = internal::lattice_size(cells, dimension, 1 << 30);
      EXPECT_EQ(internal::cells_per_axis(power, dimension), cells);
      if (cells > 1) {
        EXPECT_EQ(internal::cells_per_axis(power - 1, dimension), cells - 1);
      }
    }
  }
}

// Covering: every point is within R/q of an anchor.
TEST(Placement, GridCoversTheBox) {
  Random random(3);
  const Box box{Vector{{1, -2, 0.5}}, 0.7};
  const Matrix anchors = internal::grid_anchors(box, 5);
  ASSERT_EQ(anchors.rows(), 125);
  const Matrix points = internal::random_points(box, 500, random);
  for (Index i = 0; i < points.rows(); ++i) {
    const double distance = (anchors.rowwise() - points.row(i)).rowwise().lpNorm<Eigen::Infinity>().minCoeff();
    EXPECT_LE(distance, 0.7 / 5 + 1e-12);
  }
}

}  // namespace
}  // namespace bregmax::testing
