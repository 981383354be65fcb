#include "bregmax/methods/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(MethodRegistry, NamesAreDistinctAndGridsAllowed) {
  std::set<std::string> names;
  for (const Method& method : all_methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_FALSE(method.summary.empty()) << method.name;
    EXPECT_TRUE(method.from_labels || method.from_pairs || method.from_targets) << method.name;
    EXPECT_EQ(&method_named(method.name), &method);
    for (const MethodParameter& parameter : method.parameters) {
      EXPECT_NO_THROW(parameter.check(parameter.standard)) << method.name << " " << parameter.name;
      for (const double value : parameter.grid) {
        EXPECT_NO_THROW(parameter.check(value)) << method.name << " " << parameter.name << " " << value;
      }
    }
  }
}

TEST(MethodRegistry, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT([] { method_named("itlm"); },
              ThrowsMessage<Error>(HasSubstr("unknown method 'itlm'; allowed: pbdl, smooth, deep, euclidean")));
}

TEST(MethodRegistry, RefusesItemsThatNameNoRows) {
  const Matrix rows = Matrix::Identity(4, 2);
  const auto refuses = [&](const MethodSupervision& supervision, const char* message) {
    EXPECT_THAT([&] { learn_with(method_named("smooth"), rows, supervision, {}); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  refuses(Comparisons{}, "the supervision has no comparisons; at least one is needed");
  refuses(Comparisons{{0, 1, 0, 2}, {0, 1, 2, 4}}, "comparison 1: row number 4; allowed: 0 to 3");
  refuses(Comparisons{{0, 1, -1, 2}}, "comparison 0: row number -1; allowed: 0 to 3");
  refuses(Comparisons{{0, 1, 0, 2, -2}}, "comparison 0: weight is -2");
  refuses(Pairs{{0, 4, true}}, "pair 0: row number 4");
  refuses(Targets{{0, 1, std::numeric_limits<double>::infinity()}}, "target 0: value is inf");
}

TEST(MethodParameter, SaysWhatItAllows) {
  const MethodParameter positive{"gamma", "", 1, 0, std::numeric_limits<double>::infinity(), false};
  EXPECT_EQ(positive.allowed(), "a number > 0");
  EXPECT_EQ(positive.parse("2.5"), 2.5);
  EXPECT_EQ(positive.text(1e30), "1e+30");
  const auto refuses = [](const MethodParameter& parameter, const char* text, const char* message) {
    EXPECT_THAT([&] { parameter.parse(text); }, ThrowsMessage<Error>(message));
  };
  refuses(positive, "0", "gamma is 0; allowed: a number > 0");
  refuses(positive, "1x", "gamma is '1x'; allowed: a number > 0");
  refuses(positive, "nan", "gamma is nan; allowed: a number > 0");
  refuses(positive, "inf", "gamma is inf; allowed: a number > 0");
  refuses(positive, "", "gamma is ''; allowed: a number > 0");

  const MethodParameter whole{"k", "", 3, 1, 10, true, true};
  EXPECT_EQ(whole.allowed(), "a whole number from 1 to 10");
  EXPECT_EQ(whole.parse("10"), 10);
  refuses(whole, "2.5", "k is 2.5; allowed: a whole number from 1 to 10");
  refuses(whole, "11", "k is 11; allowed: a whole number from 1 to 10");

  const MethodParameter kernel{"kernel", "", 0, 0, 1, true, false, {"rbf", "polynomial"}};
  EXPECT_EQ(kernel.parse("polynomial"), 1);
  EXPECT_EQ(kernel.text(1), "polynomial");
  refuses(kernel, "cubic", "kernel is 'cubic'; allowed: rbf or polynomial");
  refuses(kernel, "1", "kernel is '1'; allowed: rbf or polynomial");
  EXPECT_THAT([&] { kernel.check(0.5); }, ThrowsMessage<Error>("kernel is 0.5; allowed: rbf or polynomial"));
  EXPECT_THAT([&] { kernel.check(2); }, ThrowsMessage<Error>("kernel is 2; allowed: rbf or polynomial"));

  const MethodParameter pieces{
      .name = "pieces", .help = "", .low = 1, .high = 9, .whole = true, .word = std::pair("all", 0.0)};
  EXPECT_EQ(pieces.allowed(), "a whole number from 1 to 9, or all");
  EXPECT_EQ(pieces.parse("all"), 0);
  EXPECT_EQ(pieces.text(0), "all");
  EXPECT_NO_THROW(pieces.check(0));
  refuses(pieces, "0", "pieces is 0; allowed: a whole number from 1 to 9, or all");
}

TEST(MethodRegistry, EveryMethodPredictsItsTime) {
  for (const Method& method : all_methods()) {
    ASSERT_TRUE(method.predicted_seconds) << method.name;
    const MethodChoices standard = resolve(method, {});
    const auto seconds = [&](double size) {
      return method.predicted_seconds({.rows = size, .features = 10, .items = method.from_labels ? 0 : size}, standard);
    };
    EXPECT_GE(seconds(100), 0) << method.name;
    EXPECT_LT(seconds(100), 10) << method.name;
    if (method.needs_supervision) {
      EXPECT_GT(seconds(10'000), seconds(100)) << method.name;
    }
  }
}

}  // namespace
}  // namespace bregmax
