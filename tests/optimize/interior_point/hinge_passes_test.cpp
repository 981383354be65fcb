#include "optimize/interior_point/hinge_passes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "bregmax/core/random.hpp"
#include "optimize/interior_point/cone.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problems.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kEntries = 23;

// Hinges at a random point, some on one entry and some on two, entries with several hinges among them; every fifth
// hinge has no weight, and does not move.
struct Hinges {
  Hinges(Random& random, Index count) : size(count) {
    for (Cone* cone : {&over, &nonneg}) {
      cone->resize(count);
      cone->delta = 0.1;
    }
    for (Vector* v : {&inverse_sum, &residual, &dzeta, &dzeta_accepted}) v->setZero(size);
    for (Index t = 0; t < size; ++t) {
      const bool moves = t % 5 != 3;
      for (Cone* cone : {&over, &nonneg}) {
        cone->s(t) = 0.01 + random.uniform();
        cone->y(t) = moves ? 0.01 + random.uniform() : 0;
        for (Cone::View* v : {&cone->r, &cone->ds_accepted, &cone->dy_accepted}) {
          (*v)(t) = moves ? 0.3 * random.normal() : 0;
        }
      }
      residual(t) = moves ? random.normal() : 0;
      dzeta_accepted(t) = random.normal();
      minus.push_back(random.uniform_index(kEntries));
      plus.push_back(t % 3 == 0 ? kNoEntry : random.uniform_index(kEntries));
    }
    for (Cone* cone : {&over, &nonneg}) set_inverse(cone->rows());
    for (Index t = 0; t < size; ++t) {
      const double sum = over.weight(t) + nonneg.weight(t);
      inverse_sum(t) = sum > 0 ? 1 / sum : 0;
    }
  }
  Hinges(const Hinges&) = delete;

  HingeRows rows() {
    return {over.rows(), nonneg.rows(), inverse_sum.data(), residual.data(),
            plus.data(), minus.data(),  dzeta.data(),       dzeta_accepted.data()};
  }
  // Of D[plus] - D[minus].
  double argument(const Vector& values, Index t) const {
    const auto at = static_cast<std::size_t>(t);
    return (plus[at] == kNoEntry ? 0 : values(plus[at])) - values(minus[at]);
  }

  Index size;
  Cone over, nonneg;
  Vector inverse_sum, residual, dzeta, dzeta_accepted;
  std::vector<Index> plus, minus;
};

class HingePassesTest : public ::testing::TestWithParam<Instructions> {
 protected:
  // Remainders of every kind.
  static constexpr std::array<Index, 7> kSizes = {0, 1, 3, 4, 7, 8, 101};
  const Instructions use = GetParam();
};

// The Newton equations of a hinge, change being that of D[plus] - D[minus]:
//
//   zeta    dy(over) + dy(nonneg) = residual
//   over    dzeta - change - ds + delta dy = -r
//   nonneg  dzeta - ds + delta dy = -r
//   both    y ds + s dy = c
//
// What elimination leaves for D is the dy(over) that a change of 0 would have.
TEST_P(HingePassesTest, SolveTheNewtonEquationsOfAHinge) {
  Random random(1);
  for (const Index size : kSizes) {
    Hinges hinges(random, size);
    for (Cone* cone : {&hinges.over, &hinges.nonneg}) aim_at(0.2, cone->rows());
    const Vector before = test::normal_vector(random, kEntries), dD = test::normal_vector(random, kEntries);
    Vector field = before;
    eliminate_zeta(hinges.rows(), field.data(), use);
    recover_zeta(hinges.rows(), dD.data(), use);
    StepRates rates;
    for (Cone* cone : {&hinges.over, &hinges.nonneg}) finish_direction(cone->rows(), nullptr, rates);
    Vector expected = before;
    for (Index t = 0; t < size; ++t) {
      if (hinges.over.y(t) == 0) {
        EXPECT_EQ(hinges.over.dy(t), 0);
        EXPECT_EQ(hinges.nonneg.dy(t), 0);
        EXPECT_EQ(hinges.dzeta(t), 0);
        continue;
      }
      for (const Cone* cone : {&hinges.over, &hinges.nonneg}) {
        EXPECT_NEAR(cone->y(t) * cone->ds(t) + cone->s(t) * cone->dy(t), 0.2 - cone->s(t) * cone->y(t), 1e-9);
      }
      const double change = hinges.argument(dD, t);
      EXPECT_NEAR(hinges.over.dy(t) + hinges.nonneg.dy(t), hinges.residual(t), 1e-9);
      EXPECT_NEAR(hinges.dzeta(t) - change - hinges.over.ds(t) + 0.1 * hinges.over.dy(t), -hinges.over.r(t), 1e-9);
      EXPECT_NEAR(hinges.dzeta(t) - hinges.nonneg.ds(t) + 0.1 * hinges.nonneg.dy(t), -hinges.nonneg.r(t), 1e-9);
      const double reduced = hinges.over.weight(t) * hinges.nonneg.weight(t) * hinges.inverse_sum(t);
      const double rhs = -(hinges.over.dy(t) - reduced * change);
      const auto at = static_cast<std::size_t>(t);
      if (hinges.plus[at] != kNoEntry) expected(hinges.plus[at]) += rhs;
      expected(hinges.minus[at]) -= rhs;
    }
    EXPECT_LT((field - expected).norm(), 1e-9);
  }
}

// The passes of corrections store only c. Their result must be that of the cones' own passes, elimination and recovery,
// one after the other.
TEST_P(HingePassesTest, FusedCorrectionsEqualSeparatePasses) {
  Random random(2);
  const CentralAim first = {0.7, 0.9, 0.05, 0.3}, second = {0.9, 0.8, 0.1, 0.2};
  const CorrectionParts parts = {0.75, 0.25};
  for (const Index size : kSizes) {
    Random same = random;
    Hinges together(random, size), in_turn(same, size);
    const Vector before = test::normal_vector(random, kEntries), dD = test::normal_vector(random, kEntries);
    in_turn.residual.setZero();  // a correction leaves it

    Vector field = before, field_in_turn = before;
    aim_central(together.rows(), first, field.data(), use);
    for (Cone* cone : {&in_turn.over, &in_turn.nonneg}) aim_central(cone->rows(), first);
    eliminate_zeta(in_turn.rows(), field_in_turn.data(), use);
    EXPECT_LT((field - field_in_turn).norm(), 1e-10);

    recover_zeta(in_turn.rows(), dD.data(), use);
    PartRates rates, rates_in_turn;
    rate_correction(together.rows(), dD.data(), rates, use);
    for (Cone* cone : {&in_turn.over, &in_turn.nonneg}) rate_correction(cone->rows(), nullptr, rates_in_turn);
    for (std::size_t part = 1; part < kParts; ++part) {
      EXPECT_NEAR(rates[part].primal, rates_in_turn[part].primal, 1e-9);
      EXPECT_NEAR(rates[part].dual, rates_in_turn[part].dual, 1e-9);
    }

    take_correction(together.rows(), dD.data(), parts, &second, field.data(), use);
    in_turn.dzeta_accepted += parts.primal * in_turn.dzeta;
    for (Cone* cone : {&in_turn.over, &in_turn.nonneg}) {
      take_correction(cone->rows(), nullptr, parts, nullptr);
      aim_central(cone->rows(), second);
    }
    eliminate_zeta(in_turn.rows(), field_in_turn.data(), use);
    EXPECT_LT((field - field_in_turn).norm(), 1e-9);
    EXPECT_LT((together.dzeta_accepted - in_turn.dzeta_accepted).norm(), 1e-9);

    take_correction(together.rows(), dD.data(), parts, nullptr, nullptr, use);
    recover_zeta(in_turn.rows(), dD.data(), use);
    in_turn.dzeta_accepted += parts.primal * in_turn.dzeta;
    for (Cone* cone : {&in_turn.over, &in_turn.nonneg}) take_correction(cone->rows(), nullptr, parts, nullptr);
    EXPECT_LT((together.dzeta_accepted - in_turn.dzeta_accepted).norm(), 1e-9);
    for (const auto& [a, b] :
         {std::pair(&together.over, &in_turn.over), std::pair(&together.nonneg, &in_turn.nonneg)}) {
      EXPECT_LT((a->c - b->c).norm(), 1e-9);
      EXPECT_LT((a->ds_accepted - b->ds_accepted).norm(), 1e-9);
      EXPECT_LT((a->dy_accepted - b->dy_accepted).norm(), 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Instructions, HingePassesTest, ::testing::Values(Instructions::kAny, best_instructions()),
                         [](const auto& use) { return use.index == 0 ? "Portable" : "Fastest"; });

}  // namespace
}  // namespace bregmax::internal
