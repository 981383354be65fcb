#include "divergence/excess.hpp"

#include <gtest/gtest.h>

namespace bregmax::internal {
namespace {

// Both branches, the switch between them, and numbers so small that plain subtraction would give 0 or noise.
const double kArguments[] = {-0.99,  -0.5, -0.31, -0.3, -0.1001, -0.1, -1e-3, -1e-9,
                             1e-200, 1e-9, 1e-3,  0.1,  0.1001,  0.3,  2};

TEST(Excess, AgreesWithLongDouble) {
  for (const double t : kArguments) {
    const long double exact_exp = std::abs(t) < 1e-4 ? 0.5L * t * t * (1 + t / 3.0L) : std::expm1l(t) - t;
    const long double exact_log = std::abs(t) < 1e-4 ? 0.5L * t * t * (1 - 2 * t / 3.0L) : t - std::log1pl(t);
    EXPECT_NEAR(exp_excess(t), static_cast<double>(exact_exp), 1e-13 * static_cast<double>(exact_exp)) << t;
    EXPECT_NEAR(log_excess(t), static_cast<double>(exact_log), 1e-13 * static_cast<double>(exact_log)) << t;
    if (std::abs(t) > 0.1) continue;
    const long double exact_entropy =
        std::abs(t) < 1e-4 ? 0.5L * t * t * (1 - t / 3.0L) : (1 + static_cast<long double>(t)) * std::log1pl(t) - t;
    EXPECT_NEAR(entropy_excess(t), static_cast<double>(exact_entropy), 1e-13 * static_cast<double>(exact_entropy)) << t;
  }
}

TEST(Excess, IsZeroAtZero) {
  EXPECT_EQ(exp_excess(0), 0);
  EXPECT_EQ(log_excess(0), 0);
  EXPECT_EQ(entropy_excess(0), 0);
}

TEST(Excess, IDivergenceTermSurvivesExtremes) {
  EXPECT_EQ(i_divergence_term(0, 0.25), 0.25);
  EXPECT_NEAR(i_divergence_term(1, 1e-310), 310 * std::log(10.0) - 1, 1e-9);
  EXPECT_NEAR(i_divergence_term(1e-320, 1e100), 1e100, 1e85);
  EXPECT_NEAR(i_divergence_term(2, 1), 2 * std::log(2.0) - 1, 1e-15);
}

}  // namespace
}  // namespace bregmax::internal
