#include "paper/protocol.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

#include "data/expect_error.hpp"
#include "paper/cases.hpp"

namespace bregmax {
namespace {

using ::testing::ContainsRegex;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::tiny_dataset;

std::vector<RunScores> run_rows(const std::vector<std::string>& names, int run = 0, std::uint64_t seed = 0) {
  std::vector<ProtocolRow> rows;
  for (const std::string& name : names) rows.push_back(protocol_row(name));
  return run_protocol(tiny_dataset().table, rows, {"iris", run, seed, rows.front().start});
}

TEST(Protocol, EveryRowGivesFiveScores) {
  for (const ProtocolRow& row : protocol_rows()) {
    const std::vector<RunScores> scores = run_rows({row.name});
    ASSERT_EQ(scores.size(), 1U) << row.name;
    for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
      EXPECT_GE(scores[0].per_measure[m], 0.3) << row.name;
      EXPECT_LE(scores[0].per_measure[m], 1) << row.name;
      EXPECT_LE(scores[0].one_model[m], 1) << row.name;
    }
    EXPECT_FALSE(scores[0].note.empty()) << row.name;
    EXPECT_EQ(scores[0].per_measure[3], scores[0].one_model[3]) << row.name << ": both tuned for average precision";
  }
}

TEST(Protocol, IsARepeatableFunctionOfSeedAndRun) {
  const RunScores first = run_rows({"pbdl"})[0], again = run_rows({"pbdl"})[0];
  EXPECT_EQ(first.per_measure, again.per_measure);
  EXPECT_EQ(first.note, again.note);
  EXPECT_NE(run_rows({"pbdl"}, 1)[0].per_measure, first.per_measure);
  EXPECT_NE(run_rows({"euclidean"}, 0, 1)[0].per_measure, run_rows({"euclidean"}, 0, 2)[0].per_measure);
}

TEST(Protocol, ARowDoesNotDependOnThoseLearnedWithIt) {
  for (int run = 0; run < 5; ++run) {
    const auto together = run_rows({"pbdl", "pbdl-smoothed"}, run);
    const RunScores alone = run_rows({"pbdl"}, run)[0], smoothed = run_rows({"pbdl-smoothed"}, run)[0];
    EXPECT_EQ(together[0].per_measure, alone.per_measure) << run;
    EXPECT_EQ(together[0].note, alone.note) << run;
    EXPECT_EQ(together[1].per_measure, smoothed.per_measure) << run;
    EXPECT_EQ(together[1].note, smoothed.note) << run;
  }
}

TEST(Protocol, SmoothingIsOneOfTheChoicesOfTheSmoothedRow) {
  EXPECT_THAT(run_rows({"pbdl"})[0].note, HasSubstr("smoothing=0 scale=none pieces=all"));
  std::string plain, smoothed;
  for (int run = 0; run < 5; ++run) {
    plain += run_rows({"pbdl"}, run)[0].note;
    smoothed += run_rows({"pbdl-smoothed"}, run)[0].note;
  }
  const char* positive = "smoothing=(0\\.|[1-9])";
  EXPECT_THAT(smoothed, ContainsRegex(positive));
  EXPECT_THAT(plain, Not(ContainsRegex(positive)));
  EXPECT_THAT(run_rows({"pbdl-standardised"})[0].note, HasSubstr("scale=standard"));
  EXPECT_THAT(run_rows({"pbdl-few-pieces"})[0].note, HasSubstr("pieces=10"));
}

TEST(Protocol, StopsWithoutAResult) {
  const std::atomic<bool> stop{true};
  RunControl control;
  control.stop = &stop;
  for (const char* name : {"pbdl", "euclidean"}) {
    EXPECT_TRUE(
        run_protocol(tiny_dataset().table, {protocol_row(name)}, {"iris", 0, 0, KMeansStart::kEuclidean}, control)
            .empty());
  }
}

TEST(Protocol, RefusesWhatItCannotRun) {
  EXPECT_THAT(error_of([] { protocol_row("svm"); }), HasSubstr("allowed: pbdl, itml"));
  Table unlabelled = tiny_dataset().table;
  unlabelled.labels.reset();
  EXPECT_THAT(error_of([&] { run_protocol(unlabelled, {protocol_row("pbdl")}, {}); }), HasSubstr("labels"));
  EXPECT_THAT(error_of([&] { run_protocol(tiny_dataset().table, {}, {}); }), HasSubstr("no rows"));
  EXPECT_THAT(error_of([&] {
                run_protocol(tiny_dataset().table, {protocol_row("pbdl"), protocol_row("itml")}, {});
              }),
              HasSubstr("not learned together"));
  EXPECT_THAT(error_of([&] {
                run_protocol(tiny_dataset().table, {protocol_row("pbdl")}, {"iris", -1});
              }),
              HasSubstr("run is -1"));
}

}  // namespace
}  // namespace bregmax
