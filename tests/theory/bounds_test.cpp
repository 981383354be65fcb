// Every formula is compared with numbers that were computed independently of the code, to 30 digits, and some with long
// double products in another order.
#include "bregmax/theory/bounds.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

struct Known {
  BoundInputs inputs;
  double rademacher, complexity, confidence, proved_complexity, proved_confidence;
  double residual, regression_complexity, regression_confidence, approximation, approximation_confidence;
};

constexpr double kLoss = 0.25, kNoise = 0.3, kBeta = 1.7;

const Known kKnown[] = {
    {{10, 3.5, 1.25, 4, 2000, 0.05},
     8.3974203463291421,
     67.179362770633137,
     0.073852445279977212,
     67.179362770633137,
     0.083378953043373145,
     17.8,
     597.89632865863492,
     8.6708467009583886,
     2891.6311619875622,
     19.243640559102741},
    {{1, 3.5, 1.25, 4, 2000, 0.05},
     0.83974203463291421,
     6.7179362770633137,
     0.073852445279977212,
     6.7179362770633137,
     0.083378953043373145,
     17.8,
     59.789632865863492,
     8.6708467009583886,
     9144.140625,
     19.243640559102741},
    {{10, 1, 1.25, 4, 2000, 0.05},
     2.3992629560940406,
     19.194103648752325,
     0.065348717347908036,
     19.194103648752325,
     0.075949463433218356,
     5.3,
     50.864374669193661,
     0.7687289604529767,
     2891.6311619875622,
     1.7060783465004292},
    {{10, 0.25, 1.25, 4, 2000, 0.05},
     0.59981573902351015,
     4.7985259121880812,
     0.065348717347908036,
     19.194103648752325,
     0.075949463433218356,
     1.55,
     3.7188575819457629,
     0.065748356265157583,
     2891.6311619875622,
     0.14591859122347032},
    {{10, 0, 1.25, 4, 2000, 0.05},
     0.0,
     0.0,
     0.065348717347908036,
     19.194103648752325,
     0.075949463433218356,
     0.3,
     0.0,
     0.0024629977373003881,
     2891.6311619875622,
     0.0054662531571747465},
    {{10, 1.5, 1.25, 4, 2000, 0.05},
     3.5988944341410609,
     28.791155473128487,
     0.065348717347908036,
     28.791155473128487,
     0.075949463433218356,
     7.8,
     112.2855063452011,
     1.6649864704150624,
     2891.6311619875622,
     3.6951871342501286},
    {{10, 2, 0, 4, 2000, 0.05},
     0.0,
     0.0,
     0.065348717347908036,
     0.0,
     0.075949463433218356,
     0.3,
     0.0,
     0.0024629977373003881,
     0.0,
     0.0054662531571747465},
    {{3, 8, 2, 1, 1, 0.5},
     319.70097068455594,
     2557.6077654764475,
     3.2607934279423385,
     2557.6077654764475,
     3.3654005646091955,
     64.3,
     82227.089660067787,
     2433.9949819950025,
     6658.56,
     6884.3774285707796},
    {{1, 0.5, 1, 1, 1, 0.01},
     3.330218444630791,
     26.641747557046328,
     3.1859610214922049,
     53.283495114092656,
     3.841291165279683,
     2.3,
     30.638009690603277,
     8.0271895144474242,
     3745.44,
     17.220258013004156},
    {{400, 120.5, 3.75, 34, 1000000, 0.001},
     2107.5159166095137,
     16860.12733287611,
     0.0044929370659438387,
     16860.12733287611,
     0.0052052126524777225,
     1807.8,
     15239869.096186716,
     6073.7126022411748,
     520673.60576556725,
     12742.315136615688},
};

class Bounds : public ::testing::TestWithParam<Known> {};

void expect_near(double found, double expected) { EXPECT_NEAR(found, expected, 1e-13 * (1 + std::abs(expected))); }

TEST_P(Bounds, AreTheKnownNumbers) {
  const Known& known = GetParam();
  expect_near(rademacher_bound(known.inputs), known.rademacher);
  const BoundTerms stated = comparison_bound(known.inputs, kLoss);
  expect_near(stated.loss, kLoss);
  expect_near(stated.complexity, known.complexity);
  expect_near(stated.confidence, known.confidence);
  expect_near(stated.total(), kLoss + known.complexity + known.confidence);
  const BoundTerms proved = comparison_bound(known.inputs, kLoss, Constants::kProved);
  expect_near(proved.complexity, known.proved_complexity);
  expect_near(proved.confidence, known.proved_confidence);
  expect_near(residual_bound(known.inputs, kNoise), known.residual);
  const BoundTerms regression = regression_bound(known.inputs, kLoss, kNoise);
  expect_near(regression.loss, kLoss);
  expect_near(regression.complexity, known.regression_complexity);
  expect_near(regression.confidence, known.regression_confidence);
  const BoundTerms approximation = regression_approximation_bound(known.inputs, kBeta, kNoise);
  expect_near(approximation.loss, known.approximation);
  expect_near(approximation.complexity, known.regression_complexity);
  expect_near(approximation.confidence, known.approximation_confidence);
}

INSTANTIATE_TEST_SUITE_P(KnownNumbers, Bounds, ::testing::ValuesIn(kKnown));

TEST(ComparisonBound, IsFiniteAndMonotoneInTheLipschitzConstant) {
  BoundInputs inputs{10, 0, 1.5, 4, 1000, 0.05};
  double before = -1;
  for (const double lipschitz : {0.0, 1e-9, 0.5, 1.0, 1.5, 2.0, 2.1, 4.0, 100.0, 1e12}) {
    inputs.lipschitz = lipschitz;
    const BoundTerms terms = comparison_bound(inputs, 0);
    EXPECT_TRUE(std::isfinite(terms.total())) << lipschitz;
    EXPECT_GE(terms.total(), before) << lipschitz;
    EXPECT_GE(comparison_bound(inputs, 0, Constants::kProved).total(), terms.total());
    before = terms.total();
  }
}

// In the union bound, L belongs to the class i = ceil(log2 L) >= 1, which gets the share delta / (2 i^2). The bound of
// that class, with 16 K 2^i R and sqrt(2 ln(2 / share) / m), must not exceed the bound that is called proved.
TEST(ComparisonBound, CoversTheUnionOverLipschitzConstants) {
  BoundInputs inputs{7, 0, 0.8, 3, 500, 0.01};
  for (double lipschitz = 0; lipschitz < 70; lipschitz += 0.37) {
    inputs.lipschitz = lipschitz;
    const double i = std::max(1.0, std::ceil(std::log2(std::max(lipschitz, 1e-300))));
    const double share = inputs.delta / (2 * i * i);
    const double m = 500;
    const double complexity = 16 * 7 * std::pow(2, i) * 0.8 * std::sqrt(2 * std::log(8.0) / m);
    const double confidence = std::sqrt(2 * std::log(2 / share) / m);
    const BoundTerms proved = comparison_bound(inputs, 0, Constants::kProved);
    EXPECT_LE(complexity, proved.complexity * (1 + 1e-12)) << lipschitz;
    EXPECT_LE(confidence, proved.confidence * (1 + 1e-12)) << lipschitz;
  }
}

TEST(RegressionPieces, IsTheSmallestWholeNumberThatReachesThePower) {
  // K^(4 + 2d) >= m^d > (K - 1)^(4 + 2d), in long double logarithms.
  for (const Index d : {1, 2, 3, 4, 10, 34}) {
    for (const Index m : {1, 2, 3, 10, 16, 64, 81, 100, 729, 1000, 9900, 10000, 65536, 1000000, 999000}) {
      const Index pieces = regression_pieces(m, d);
      const long double needed = static_cast<long double>(d) * std::log(static_cast<long double>(m));
      const auto reached = [&](Index k) {
        return static_cast<long double>(4 + 2 * d) * std::log(static_cast<long double>(k));
      };
      EXPECT_GE(reached(pieces), needed - 1e-13L) << m << " " << d;
      if (pieces > 1) {
        EXPECT_LT(reached(pieces - 1), needed - 1e-13L) << m << " " << d;
      }
    }
  }
  EXPECT_EQ(regression_pieces(1, 5), 1);
  EXPECT_EQ(regression_pieces(10000, 2), 10) << "10000^(1/4)";
  EXPECT_EQ(regression_pieces(10001, 2), 11);
  EXPECT_EQ(regression_pieces(729, 4), 9) << "729^(1/3)";
  EXPECT_EQ(regression_pieces(64, 1), 2) << "64^(1/6)";
  EXPECT_EQ(regression_pieces(9900, 2), 10);
}

std::string refusal(const BoundInputs& inputs) {
  try {
    rademacher_bound(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BoundInputs, OutOfRangeAreRefused) {
  EXPECT_THAT(refusal({0, 1, 1, 1, 1}), HasSubstr("pieces is 0"));
  EXPECT_THAT(refusal({1, -1, 1, 1, 1}), HasSubstr("lipschitz is -1"));
  EXPECT_THAT(refusal({1, 1, NAN, 1, 1}), HasSubstr("radius is nan"));
  EXPECT_THAT(refusal({1, 1, 1, 0, 1}), HasSubstr("features is 0"));
  EXPECT_THAT(refusal({1, 1, 1, 1, 0}), HasSubstr("items is 0"));
  EXPECT_THAT(refusal({1, 1, 1, 1, 1, 0}), HasSubstr("delta is 0"));
  EXPECT_THAT(refusal({1, 1, 1, 1, 1, 1}), HasSubstr("delta is 1"));
  EXPECT_THROW(comparison_bound({1, 1, 1, 1, 1}, -1), Error);
  EXPECT_THROW(regression_bound({1, 1, 1, 1, 1}, 0, -1), Error);
  EXPECT_THROW(regression_approximation_bound({1, 1, 1, 1, 1}, INFINITY, 0), Error);
  EXPECT_THROW(regression_pieces(0, 1), Error);
  EXPECT_THROW(regression_pieces(1, 0), Error);
}

}  // namespace
}  // namespace bregmax::testing
