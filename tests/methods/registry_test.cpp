#include "bregmax/methods/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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
              ThrowsMessage<Error>(HasSubstr("unknown method 'itlm'; allowed: pbdl, euclidean")));
}

TEST(MethodParameter, SaysWhatItAllows) {
  const MethodParameter positive{"gamma", "", 1, 0, std::numeric_limits<double>::infinity(), false};
  EXPECT_EQ(positive.allowed(), "a number > 0");
  EXPECT_EQ(positive.parse("2.5"), 2.5);
  EXPECT_THAT([&] { positive.parse("0"); }, ThrowsMessage<Error>("gamma is 0; allowed: a number > 0"));
  EXPECT_THAT([&] { positive.parse("1x"); }, ThrowsMessage<Error>("gamma is '1x'; allowed: a number > 0"));
  EXPECT_THROW(positive.parse("nan"), Error);
  EXPECT_THROW(positive.parse("inf"), Error);
  EXPECT_THROW(positive.parse(""), Error);

  const MethodParameter whole{"k", "", 3, 1, 10, true, true};
  EXPECT_EQ(whole.allowed(), "a whole number from 1 to 10");
  EXPECT_EQ(whole.parse("10"), 10);
  EXPECT_THROW(whole.parse("2.5"), Error);
  EXPECT_THROW(whole.parse("11"), Error);

  const MethodParameter kernel{"kernel", "", 0, 0, 1, true, false, {"rbf", "polynomial"}};
  EXPECT_EQ(kernel.parse("polynomial"), 1);
  EXPECT_THAT([&] { kernel.parse("cubic"); }, ThrowsMessage<Error>("kernel is 'cubic'; allowed: rbf or polynomial"));
  EXPECT_THROW(kernel.parse("1"), Error);
  EXPECT_THROW(kernel.check(0.5), Error);
  EXPECT_THROW(kernel.check(2), Error);

  const MethodParameter pieces{
      .name = "pieces", .help = "", .low = 1, .high = 9, .whole = true, .word = std::pair("all", 0.0)};
  EXPECT_EQ(pieces.allowed(), "a whole number from 1 to 9, or all");
  EXPECT_EQ(pieces.parse("all"), 0);
  EXPECT_EQ(pieces.text(0), "all");
  EXPECT_NO_THROW(pieces.check(0));
  EXPECT_THROW(pieces.parse("0"), Error);
}

}  // namespace
}  // namespace bregmax
