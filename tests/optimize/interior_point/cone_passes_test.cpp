#include "optimize/interior_point/cone_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/random.hpp"
#include "optimize/interior_point/cone.hpp"
#include "optimize/problems.hpp"

namespace bregmax::internal {
namespace {

// A cone at a random point, with a direction that is accepted and another; every fifth member is not a constraint:
// its dual variable is 0.
struct Members {
  Members(Random& random, Index size)
      : s(size), y(size), r(size), inverse(size), c(size), ds(size), dy(size), ds_accepted(size), dy_accepted(size) {
    for (Index i = 0; i < size; ++i) {
      const bool moves = i % 5 != 3;
      s(i) = moves ? 0.01 + random.uniform() : 1;
      y(i) = moves ? 0.01 + random.uniform() : 0;
      for (Vector* v : {&r, &c, &ds, &dy, &ds_accepted, &dy_accepted}) (*v)(i) = moves ? 0.3 * random.normal() : 0;
    }
    set_inverse(rows(), Instructions::kAny);
  }
  ConeRows rows() {
    return {s.size(), kDelta,    s.data(),  y.data(),           r.data(),          inverse.data(),
            c.data(), ds.data(), dy.data(), ds_accepted.data(), dy_accepted.data()};
  }
  double rate(const Vector& value, const Vector& change) const {
    double largest = 1;
    for (Index i = 0; i < value.size(); ++i) {
      if (y(i) > 0) largest = std::max(largest, -change(i) / value(i));
    }
    return largest;
  }

  static constexpr double kDelta = 0.1;
  Vector s, y, r, inverse, c, ds, dy, ds_accepted, dy_accepted;
};

class ConePassesTest : public ::testing::TestWithParam<Instructions> {
 protected:
  static constexpr double kRounding = 1e-12;
  // Remainders of every kind.
  static constexpr Index kSizes[] = {0, 1, 3, 4, 7, 8, 101};
  const Instructions use = GetParam();

  // What an aim must leave: c, and dy = (c - y r) / (s + delta y).
  template <class Goal>
  static void expect_aim(const Members& after, const Vector& residual, const Goal& goal) {
    for (Index i = 0; i < after.s.size(); ++i) {
      const double c = after.y(i) > 0 ? goal(i) : 0;
      EXPECT_NEAR(after.c(i), c, kRounding);
      EXPECT_NEAR(after.dy(i), (c - after.y(i) * residual(i)) / (after.s(i) + Members::kDelta * after.y(i)), 1e-9);
    }
  }
};

TEST_P(ConePassesTest, AimAtProductsOfTheTarget) {
  Random random(1);
  for (const Index size : kSizes) {
    Members members(random, size);
    aim_at(0.2, members.rows(), use);
    expect_aim(members, members.r, [&](Index i) { return 0.2 - members.s(i) * members.y(i); });
  }
}

TEST_P(ConePassesTest, CorrectTheAimBySecondOrderTermsWithinLimits) {
  Random random(2);
  constexpr double kTarget = 0.01;
  for (const Index size : kSizes) {
    Members members(random, size);
    const Members before = members;
    aim_corrected(kTarget, members.rows(), use);
    expect_aim(members, members.r, [&](Index i) {
      const double goal = std::clamp(kTarget - before.ds(i) * before.dy(i), 0.0, 20 * kTarget);
      return goal - before.s(i) * before.y(i);
    });
  }
}

TEST_P(ConePassesTest, PullOnlyTheProductsThatLeaveTheirRange) {
  Random random(3);
  const CentralAim aim = {0.7, 0.9, 0.05, 0.3};
  for (const Index size : kSizes) {
    Members members(random, size);
    aim_central(members.rows(), aim, use);
    expect_aim(members, Vector::Zero(size), [&](Index i) {
      const double product =
          (members.s(i) + 0.7 * members.ds_accepted(i)) * (members.y(i) + 0.9 * members.dy_accepted(i));
      if (product < aim.low) return aim.low - product;
      return product > aim.high ? std::max(aim.high - product, -aim.high) : 0.0;
    });
  }
}

TEST_P(ConePassesTest, FinishWithTheLinearisedProductsAndTheirRates) {
  Random random(4);
  for (const Index size : kSizes) {
    for (const bool has_change : {false, true}) {
      Members members(random, size);
      const Vector change = test::normal_vector(random, size), dy = members.dy;
      StepRates rates;
      finish_direction(members.rows(), has_change ? change.data() : nullptr, rates, use);
      for (Index i = 0; i < size; ++i) {
        const double weight = members.y(i) / (members.s(i) + Members::kDelta * members.y(i));
        EXPECT_NEAR(members.dy(i), dy(i) - (has_change ? weight * change(i) : 0), 1e-9);
        EXPECT_NEAR(members.y(i) * members.ds(i) + members.s(i) * members.dy(i), members.c(i), 1e-9);
      }
      EXPECT_NEAR(rates.primal, members.rate(members.s, members.ds), kRounding * rates.primal);
      EXPECT_NEAR(rates.dual, members.rate(members.y, members.dy), kRounding * rates.dual);
    }
  }
}

TEST_P(ConePassesTest, ComparePartsOfACorrectionAndAddThem) {
  Random random(5);
  for (const Index size : kSizes) {
    for (const bool has_change : {false, true}) {
      Members members(random, size);
      const Vector change = test::normal_vector(random, size);
      const double* slack_change = has_change ? change.data() : nullptr;
      if (has_change) members.dy = members.c.cwiseProduct(members.inverse);
      // The direction that the same target gives when it is solved for alone.
      Members alone = members;
      StepRates rates_alone;
      finish_direction(alone.rows(), slack_change, rates_alone, use);
      PartRates rates;
      rate_correction(members.rows(), slack_change, rates, use);
      EXPECT_EQ(rates[0].primal, 1) << "the accepted direction's own rates are the caller's";
      for (std::size_t part = 1; part < kParts; ++part) {
        const double share = static_cast<double>(part) / 4;
        Members mixed = members;
        take_correction(mixed.rows(), slack_change, {share, 0.5 * share}, nullptr, use);
        EXPECT_LT((mixed.ds_accepted - members.ds_accepted - share * alone.ds).norm(), 1e-9);
        EXPECT_LT((mixed.dy_accepted - members.dy_accepted - 0.5 * share * alone.dy).norm(), 1e-9);
        EXPECT_NEAR(rates[part].primal, members.rate(members.s, members.ds_accepted + share * alone.ds), 1e-9);
        EXPECT_NEAR(rates[part].dual, members.rate(members.y, members.dy_accepted + share * alone.dy), 1e-9);
      }
    }
  }
}

TEST_P(ConePassesTest, FusedAddAndAimEqualsAddThenAim) {
  Random random(6);
  const CentralAim aim = {0.7, 0.9, 0.05, 0.3};
  for (const Index size : kSizes) {
    for (const bool has_change : {false, true}) {
      Members together = Members(random, size), in_turn = together;
      const Vector change = test::normal_vector(random, size);
      const double* slack_change = has_change ? change.data() : nullptr;
      take_correction(together.rows(), slack_change, {0.75, 0.25}, &aim, use);
      take_correction(in_turn.rows(), slack_change, {0.75, 0.25}, nullptr, use);
      aim_central(in_turn.rows(), aim, use);
      EXPECT_LT((together.ds_accepted - in_turn.ds_accepted).norm(), kRounding);
      EXPECT_LT((together.dy_accepted - in_turn.dy_accepted).norm(), kRounding);
      EXPECT_LT((together.c - in_turn.c).norm(), kRounding);
      EXPECT_LT((together.dy - in_turn.dy).norm(), 1e-10);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Instructions, ConePassesTest, ::testing::Values(Instructions::kAny, best_instructions()),
                         [](const auto& use) { return use.index == 0 ? "Portable" : "Fastest"; });

TEST(Cone, KeepsItsMembersWhenItGrowsAndDirectionsWhenOneIsAccepted) {
  Cone cone;
  cone.reserve(5, 2);
  cone.s << 2, 3;
  cone.dy << 7, 8;
  cone.accept_direction();
  cone.set_size(3);
  EXPECT_EQ(cone.s(1), 3);
  EXPECT_EQ(cone.dy_accepted(1), 8);
  EXPECT_EQ(cone.s(2), 1) << "a new member starts at 1";
}

TEST(Cone, SolvesForTheChangeOfSlacksAndMultipliers) {
  Cone cone;
  cone.resize(4);
  cone.delta = 0.01;
  cone.s << 1, 0.5, 2, 1;
  cone.y << 2, 4, 0.25, 0;  // the last is not a constraint
  cone.r << 0.1, -0.2, 0, 0;
  Vector moved(4);
  moved << -3, 0.5, -0.1, 7;
  set_inverse(cone.rows());
  aim_at(0.1, cone.rows());
  StepRates rates;
  finish_direction(cone.rows(), moved.data(), rates);
  double primal = 1, dual = 1;
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(moved(i) - cone.ds(i) + cone.delta * cone.dy(i), -cone.r(i), 1e-12);
    EXPECT_NEAR(cone.y(i) * cone.ds(i) + cone.s(i) * cone.dy(i), 0.1 - cone.s(i) * cone.y(i), 1e-12);
    primal = std::max(primal, -cone.ds(i) / cone.s(i));
    dual = std::max(dual, -cone.dy(i) / cone.y(i));
  }
  EXPECT_EQ(cone.ds(3), 0);
  EXPECT_EQ(cone.dy(3), 0);
  EXPECT_DOUBLE_EQ(rates.primal, primal);
  EXPECT_DOUBLE_EQ(rates.dual, dual);
  EXPECT_GT(rates.primal, 1) << "the first slack falls below 0 in a whole step";
}

}  // namespace
}  // namespace bregmax::internal
