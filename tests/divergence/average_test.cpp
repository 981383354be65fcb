#include "bregmax/divergence/average.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Average, IsTheWeightedSum) {
  const AverageDivergence average({make_closed_form("squared_euclidean"), make_closed_form("itakura_saito")},
                                  (Vector(2) << 2, 3).finished());
  const Vector x = Vector::Constant(1, 2), y = Vector::Constant(1, 1);
  EXPECT_NEAR(average.value(x, y), 2 * 1 + 3 * (2 - std::log(2.0) - 1), 1e-15);
  EXPECT_NEAR(average.generator_values(x)(0), 2 * 4 - 3 * std::log(2.0), 1e-15);
  EXPECT_NEAR(average.gradients(x)(0, 0), 2 * 4 - 3.0 / 2, 1e-15);
  EXPECT_EQ(average.dimension(), 0);
}

TEST(Average, EqualWeightsSumToOne) {
  const AverageDivergence average({make_closed_form("squared_euclidean"), make_closed_form("squared_euclidean")});
  EXPECT_EQ(average.value(Vector::Ones(3), Vector::Zero(3)), 3);
}

// So many references that they are processed in several bands. The max-affine member has one piece and adds nothing.
TEST(Average, OfManyReferencesIsTheWeightedSumInEveryBand) {
  const AverageDivergence average(
      {make_closed_form("squared_euclidean"), make_max_affine(Matrix::Ones(1, 1), Vector::Ones(1), 0)});
  const Matrix points = Vector::LinSpaced(200, 0, 199), references = Vector::LinSpaced(40000, 0, 39999);
  const Matrix matrix = average.matrix(points, references);
  const Matrix difference = points.replicate(1, 40000) - references.transpose().replicate(200, 1);
  EXPECT_LE((matrix - 0.5 * difference.cwiseAbs2()).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Average, RefusesBadMembersAndWeights) {
  const auto euclidean = make_closed_form("squared_euclidean");
  const auto two = make_max_affine(Matrix::Ones(1, 2), Vector::Ones(1), 0);
  const auto three = make_max_affine(Matrix::Ones(1, 3), Vector::Ones(1), 0);
  using Members = AverageDivergence::Members;
  const auto refused = [](const Members& members, const Vector& weights, const char* message) {
    EXPECT_THAT([&] { AverageDivergence(members, weights); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({}, {}, "an average has no members");
  refused({euclidean, nullptr}, Vector::Ones(2), "a member of an average is empty");
  refused({two, three}, Vector::Ones(2), "take 2 and 3 features");
  refused({euclidean}, Vector::Ones(2), "1 members and 2 weights; allowed: one weight per member");
  refused({euclidean}, Vector::Zero(1), "all weights of an average are 0");
  refused({euclidean}, -Vector::Ones(1), "weight 0 of an average is -1");
  refused({euclidean}, Vector::Constant(1, NAN), "weight 0 of an average is nan");
  EXPECT_THAT([] { AverageDivergence(Members{}); }, ThrowsMessage<Error>(HasSubstr("no members")));
  EXPECT_EQ(AverageDivergence({euclidean, three}).dimension(), 3);
}

}  // namespace
}  // namespace bregmax
