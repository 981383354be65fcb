// What every Bregman divergence must do, run over all of divergence_cases.hpp.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/model/model.hpp"
#include "contract/divergence_cases.hpp"
#include "divergence/point_scores.hpp"

namespace bregmax {
namespace {

using testing::DivergenceCase;

class DivergenceContract : public ::testing::TestWithParam<DivergenceCase> {
 protected:
  const Divergence& divergence() const { return *GetParam().divergence; }
  Matrix sample(Random& random, Index rows) const { return GetParam().sample(random, rows); }
  Vector sample_row(Random& random) const { return sample(random, 1).row(0); }

  double generator(const Vector& point) const { return divergence().generator_values(point.transpose())(0); }
  Vector gradient(const Vector& reference) const { return divergence().gradients(reference.transpose()).row(0); }

  // What rounding may change, by the sizes of the terms. The largest that was seen is 1e-14.
  static constexpr double kRounding = 1e-12;
  double tolerance(const Matrix& rows) const {
    return kRounding * (1 + divergence().generator_values(rows).cwiseAbs().maxCoeff());
  }

  // Runs the property on many seeds; a failure prints the (shrunk) seed.
  template <class Property>
  void for_random_rows(const Property& property) const {
    EXPECT_TRUE(rc::check([&] {
      Random random(*rc::gen::arbitrary<std::uint64_t>());
      property(random);
    }));
  }
};

class SmoothDivergenceContract : public DivergenceContract {};   // has a gradient everywhere
class BoundedDivergenceContract : public DivergenceContract {};  // has a domain that rows can be outside of

TEST_P(DivergenceContract, IsNeverNegativeAndZeroForEqualRows) {
  for_random_rows([&](Random& random) {
    const Vector x = sample_row(random), y = sample_row(random);
    RC_ASSERT(divergence().value(x, y) >= 0);
    RC_ASSERT(divergence().value(x, x) == 0);
    const Vector close = x + 1e-7 * (y - x);
    RC_ASSERT(divergence().value(close, x) >= 0);
    RC_ASSERT(divergence().value(close, x) <= 1e-6 * (1 + divergence().value(y, x)));
  });
}

TEST_P(DivergenceContract, IsTheGapToTheTangentPlane) {
  for_random_rows([&](Random& random) {
    const Vector x = sample_row(random), y = sample_row(random);
    const double expected = generator(x) - generator(y) - gradient(y).dot(x - y);
    const double slack = kRounding * (1 + gradient(y).norm() * (x - y).norm());
    RC_ASSERT(std::abs(divergence().value(x, y) - expected) <=
              slack + tolerance(x.transpose()) + tolerance(y.transpose()));
  });
}

TEST_P(DivergenceContract, SatisfiesTheThreePointIdentity) {
  for_random_rows([&](Random& random) {
    const Matrix rows = sample(random, 3);
    const Vector x = rows.row(0), y = rows.row(1), z = rows.row(2);
    const double tilt = (gradient(y) - gradient(z)).dot(x - y);
    const double left = divergence().value(x, z);
    const double right = divergence().value(x, y) + divergence().value(y, z) + tilt;
    RC_ASSERT(std::abs(left - right) <= tolerance(rows) + kRounding * (std::abs(left) + std::abs(tilt)));
  });
}

TEST_P(DivergenceContract, MatrixAndRowwiseAgreeWithValue) {
  Random random(11);
  for (const auto& [points, references] : {std::pair<Index, Index>{1, 1}, {1, 70}, {70, 1}, {131, 77}, {3, 1100}}) {
    const Matrix x = sample(random, points), y = sample(random, references);
    const Matrix matrix = divergence().matrix(x, y);
    ASSERT_EQ(matrix.rows(), points);
    ASSERT_EQ(matrix.cols(), references);
    for (Index i = 0; i < points; ++i) {
      for (Index j = 0; j < references; ++j) {
        const double value = divergence().value(x.row(i), y.row(j));
        ASSERT_GE(matrix(i, j), 0);
        ASSERT_NEAR(matrix(i, j), value, 1e-10 * (1 + value)) << i << " " << j;
      }
    }
  }
  const Matrix x = sample(random, 40), y = sample(random, 40);
  const Vector rowwise = divergence().rowwise(x, y);
  for (Index i = 0; i < 40; ++i) EXPECT_EQ(rowwise(i), divergence().value(x.row(i), y.row(i)));
}

TEST_P(DivergenceContract, MatrixIsTheSameForAnyNumberOfThreadsAndAnyStride) {
  Random random(12);
  const Matrix x = sample(random, 300), y = sample(random, 200);
  const Matrix expected = divergence().matrix(x, y);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(divergence().matrix(x, y), expected);
  }
  Matrix wide_x = Matrix::Constant(300, x.cols() + 3, std::numeric_limits<double>::quiet_NaN());
  wide_x.middleCols(1, x.cols()) = x;
  Matrix wide_out = Matrix::Constant(300, 207, -5);
  divergence().prepare(y)->divergences_from(wide_x.middleCols(1, x.cols()), wide_out.middleCols(3, 200));
  EXPECT_EQ(wide_out.middleCols(3, 200), expected);
  EXPECT_TRUE((wide_out.leftCols(3).array() == -5).all());
  EXPECT_TRUE((wide_out.rightCols(4).array() == -5).all());
}

// A score differs from its divergence by a constant per point, in every range of references.
TEST_P(DivergenceContract, ScoresStandForDivergences) {
  Random random(14);
  const Matrix x = sample(random, 70), y = sample(random, 600);
  const auto references = divergence().prepare(y);
  const auto scores = internal::scores_of(*references, x);
  const Matrix expected = divergence().matrix(x, y);
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 1}, {0, 512}, {512, 88}, {37, 101}}) {
    Matrix wide = Matrix::Constant(70, count + 5, -5);
    scores.scores(first, wide.middleCols(2, count));
    EXPECT_TRUE((wide.leftCols(2).array() == -5).all() && (wide.rightCols(3).array() == -5).all());
    for (Index p = 0; p < 70; ++p) {
      const double base = wide(p, 2) - expected(p, first);
      for (Index r = 0; r < count; ++r) {
        const double score = wide(p, 2 + r), value = expected(p, first + r);
        ASSERT_GE(scores.divergence(p, score), 0);
        ASSERT_LE(score, scores.bound(p) + 1e-10 * (1 + std::abs(base)));
        ASSERT_NEAR(scores.divergence(p, score), value, 1e-10 * (1 + value)) << p << " " << first + r;
        ASSERT_NEAR(score - base, value, 1e-10 * (1 + value + std::abs(base))) << p << " " << first + r;
      }
    }
  }
}

TEST_P(DivergenceContract, NoRowsGiveAnEmptyMatrix) {
  Random random(13);
  const Matrix some = sample(random, 3), none = some.topRows(0);
  EXPECT_EQ(divergence().matrix(none, some).rows(), 0);
  EXPECT_EQ(divergence().matrix(some, none).cols(), 0);
  EXPECT_EQ(divergence().rowwise(none, none).size(), 0);
  EXPECT_EQ(divergence().prepare(none)->size(), 0);
}

TEST_P(DivergenceContract, MeanMinimisesTheSummedDivergence) {
  for_random_rows([&](Random& random) {
    const Matrix points = sample(random, 12), others = sample(random, 6);
    const Vector mean = points.colwise().mean();
    const auto total = [&](const Vector& reference) {
      return divergence().matrix(points, reference.transpose()).sum();
    };
    const double least = total(mean);
    for (Index i = 0; i < others.rows(); ++i) {
      for (const double step : {1.0, 0.1, 1e-3}) {
        const Vector moved = mean + step * (others.row(i).transpose() - mean);
        const double slack = 12 * tolerance(points) + kRounding * least;
        RC_ASSERT(total(moved) >= least - slack);
      }
    }
  });
}

TEST_P(DivergenceContract, GeneratorIsConvexAlongSegments) {
  for_random_rows([&](Random& random) {
    const Matrix ends = sample(random, 2);
    const double t = random.uniform();
    const Vector between = (1 - t) * ends.row(0) + t * ends.row(1);
    const Vector phi = divergence().generator_values(ends);
    RC_ASSERT(generator(between) <= (1 - t) * phi(0) + t * phi(1) + tolerance(ends));
  });
}

TEST_P(SmoothDivergenceContract, GradientAgreesWithFiniteDifferences) {
  for_random_rows([&](Random& random) {
    const Matrix ends = sample(random, 2);
    const Vector x = 0.5 * (ends.row(0) + ends.row(1));
    const Vector direction = ends.row(1) - ends.row(0);  // stays inside the domain, whatever that is
    // A cold softmax bends on the scale of its temperature: the step must be smaller.
    const double step = 1e-5;
    const double slope = (generator(x + step * direction) - generator(x - step * direction)) / (2 * step);
    const double expected = gradient(x).dot(direction);
    RC_ASSERT(std::abs(slope - expected) <= 1e-4 * (1 + std::abs(expected) + gradient(x).norm() * direction.norm()));
  });
}

TEST_P(DivergenceContract, SymmetryIsWhatItIs) {
  Random random(14);
  const Matrix rows = sample(random, 20);
  const Matrix matrix = divergence().matrix(rows, rows);
  const double asymmetry = (matrix - matrix.transpose()).cwiseAbs().maxCoeff();
  if (GetParam().symmetric) {
    EXPECT_LE(asymmetry, 1e-12 * matrix.maxCoeff());
  } else {
    EXPECT_GE(asymmetry, 1e-3 * matrix.maxCoeff());
  }
}

TEST_P(DivergenceContract, RefusesRowsThatAreNotFinite) {
  Random random(15);
  const Matrix good = sample(random, 3);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e200}) {
    Matrix rows = good;
    rows(1, 0) = bad;
    EXPECT_THROW(divergence().matrix(rows, good), Error);
    EXPECT_THROW(divergence().matrix(good, rows), Error);
    EXPECT_THROW(divergence().rowwise(rows, good), Error);
    EXPECT_THROW(divergence().rowwise(good, rows), Error);
    EXPECT_THROW(divergence().value(rows.row(1), good.row(0)), Error);
    EXPECT_THROW(divergence().value(good.row(0), rows.row(1)), Error);
    EXPECT_THROW(divergence().generator_values(rows), Error);
    EXPECT_THROW(divergence().gradients(rows), Error);
    try {
      divergence().prepare(rows);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("reference row 1, feature 0"), std::string::npos) << error.what();
    }
  }
}

TEST_P(DivergenceContract, RefusesRowsOfAnotherDimension) {
  Random random(16);
  const Matrix good = sample(random, 3);
  Matrix wide(3, good.cols() + 1);
  wide << good, Vector::Ones(3);
  const auto references = divergence().prepare(good);
  Matrix out(3, 3), small(3, 2);
  EXPECT_THROW(references->divergences_from(wide, out), Error);
  EXPECT_THROW(references->divergences_from(good, small), Error);
  EXPECT_THROW(divergence().matrix(good, wide), Error);
  EXPECT_THROW(divergence().matrix(wide, good), Error);
  EXPECT_THROW(divergence().value(good.row(0), wide.row(0)), Error);
  EXPECT_THROW(divergence().value(wide.row(0), good.row(0)), Error);
  EXPECT_THROW(divergence().rowwise(good, good.topRows(2)), Error);
  EXPECT_THROW(divergence().rowwise(good, wide), Error);
  EXPECT_THROW(divergence().check_points(Matrix(2, 0)), Error);
}

TEST_P(BoundedDivergenceContract, RefusesRowsOutsideTheDomain) {
  EXPECT_THROW(divergence().check_points(GetParam().bad_point), Error);
  EXPECT_THROW(divergence().check_references(GetParam().bad_reference), Error);
  EXPECT_THROW(divergence().generator_values(GetParam().bad_point), Error);
  EXPECT_THROW(divergence().prepare(GetParam().bad_reference), Error);
}

TEST_P(DivergenceContract, SurvivesTheModelFile) {
  Random random(17);
  const Matrix x = sample(random, 30), y = sample(random, 20);
  Model model;
  model.divergence = GetParam().divergence;
  model.scaling.center = Vector::Zero(x.cols());
  model.scaling.scale = Vector::Ones(x.cols());
  const Model read = deserialize_model(serialize_model(model), "test");
  EXPECT_EQ(read.divergence->name(), divergence().name());
  EXPECT_EQ(read.divergence->matrix(x, y), divergence().matrix(x, y));
  EXPECT_EQ(serialize_model(read), serialize_model(model));
}

template <class Condition>
std::vector<DivergenceCase> cases_with(Condition condition) {
  std::vector<DivergenceCase> cases = testing::all_divergence_cases();
  std::erase_if(cases, [&](const DivergenceCase& tested) { return !condition(tested); });
  return cases;
}

const auto label_of = [](const auto& tested) { return tested.param.label; };

INSTANTIATE_TEST_SUITE_P(Every, DivergenceContract, ::testing::ValuesIn(testing::all_divergence_cases()), label_of);
INSTANTIATE_TEST_SUITE_P(Every, SmoothDivergenceContract,
                         ::testing::ValuesIn(cases_with([](const auto& tested) { return tested.smooth; })), label_of);
INSTANTIATE_TEST_SUITE_P(Every, BoundedDivergenceContract, ::testing::ValuesIn(cases_with([](const auto& tested) {
                           return tested.bad_point.size() > 0;
                         })),
                         label_of);

}  // namespace
}  // namespace bregmax
