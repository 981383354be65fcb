#include "data/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bregmax::internal {
namespace {

double finite(std::string_view field) {
  const std::optional<double> number = parse_number(field);
  EXPECT_TRUE(number && std::isfinite(*number)) << field;
  return number.value_or(NAN);
}

TEST(ParseNumber, ReadsTheUsualSpellings) {
  EXPECT_EQ(finite("1"), 1);
  EXPECT_EQ(finite(".28"), .28);
  EXPECT_EQ(finite("-.5"), -.5);
  EXPECT_EQ(finite("1."), 1);
  EXPECT_EQ(finite("+1"), 1);
  EXPECT_EQ(finite("1e5"), 1e5);
  EXPECT_EQ(finite("1E+05"), 1e5);
  EXPECT_EQ(finite("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(finite("  2\t"), 2);
  EXPECT_EQ(finite("007"), 7);
  EXPECT_EQ(finite("0e99999999999999999999"), 0);
  EXPECT_EQ(finite("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(finite("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
}

TEST(ParseNumber, TakesNumbersTooSmallForDoubleAsZero) {
  EXPECT_EQ(finite("1e-400"), 0);
  EXPECT_EQ(finite("1e-99999999999999999999"), 0);
  EXPECT_EQ(finite("0." + std::string(500, '0') + "1"), 0);
  EXPECT_TRUE(std::signbit(finite("-1e-400")));
}

TEST(ParseNumber, DetectsNumbersThatAreNotFinite) {
  for (const char* field : {"nan", "NaN", "-nan", "inf", "-inf", "+inf", "Infinity", "1e309", "-1e400",
                            "1e99999999999999999999", " nan "}) {
    const std::optional<double> number = parse_number(field);
    EXPECT_TRUE(number && !std::isfinite(*number)) << field;
  }
  EXPECT_EQ(parse_number(std::string(400, '9')), std::numeric_limits<double>::infinity());
}

TEST(ParseNumber, DetectsText) {
  for (const char* field : {"",  " ", "a", "1a", "1,5",  "1 2", "--1", "+-1", "-+1", "++1",
                            "+", "-", ".", "e5", "0x10", "1e",  "1e+", "NA",  "?",   "1.2.3"}) {
    EXPECT_EQ(parse_number(field), std::nullopt) << field;
  }
}

TEST(Excerpt, IsShortAndOnOneLine) {
  EXPECT_EQ(quoted_excerpt("a\nb\r\tc"), "\"a?b??c\"");
  EXPECT_EQ(excerpt(std::string(1000, 'x')), std::string(40, 'x') + "...");
  // 39 letters and a two-byte character across the limit: the character is dropped, not halved.
  EXPECT_EQ(excerpt(std::string(39, 'x') + "\xc3\xa4 and more"), std::string(39, 'x') + "...");
}

}  // namespace
}  // namespace bregmax::internal
