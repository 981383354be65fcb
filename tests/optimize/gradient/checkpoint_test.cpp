#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "bregmax/core/error.hpp"
#include "core/checkpoint_file.hpp"
#include "data/temporary_directory.hpp"
#include "optimize/gradient/problems.hpp"

namespace bregmax::internal {
namespace {

using bregmax::testing::TemporaryDirectory;
using ::testing::HasSubstr;

constexpr int kSteps = 40;

// One of the runs that must be able to go on.
struct ResumedRun {
  const char* name;
  bool adamw;
  const ParameterLayout& layout;
  bool labels, early_stop;
};
void PrintTo(const ResumedRun& run, std::ostream* out) { *out << run.name; }

class TrainingCheckpoint : public ::testing::TestWithParam<ResumedRun> {
 protected:
  TrainResult train(const TrainExtras& files, const RunControl& control = {}, int max_steps = kSteps,
                    std::uint64_t seed = 3) const {
    const auto& [name, adamw, layout, labels, early_stop] = GetParam();
    const TrainingItems training = labels ? problem_.labelled() : problem_.compared();
    const TrainingItems held_out = labels ? judges_.labelled() : judges_.compared();
    TrainExtras extras = files;
    if (early_stop) extras.held_out = &held_out;
    AdamwPlan plan;
    plan.steps = kSteps;
    plan.batch = 32;
    plan.seed = seed;
    const Prices prices{1e-3 + 1e-3 * static_cast<double>(seed), 1e-3};
    const Vector start = test::start_of(layout, problem_);
    const TrainLimits limits{max_steps, 0, 1e-9};
    return adamw ? train_adamw(layout, training, prices, start, plan, limits, control, extras)
                 : train_lbfgs(layout, training, prices, start, limits, control, extras);
  }

  std::string state() const { return directory_ / "state"; }
  TrainExtras writing() const { return {nullptr, state()}; }  // only when the run is stopped
  TrainExtras reading() const { return {nullptr, "", state()}; }

  // A run that was stopped after so many steps.
  void stop_after(int steps, const TrainExtras& files) const {
    std::atomic<bool> stop = false;
    RunControl control;
    control.stop = &stop;
    control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= steps; };
    EXPECT_EQ(train(files, control).status, Status::kStopped);
  }

  void expect_refused(const std::string& why, std::uint64_t seed = 3) const {
    try {
      train(reading(), {}, kSteps, seed);
      ADD_FAILURE() << "resumed from a file with: " << why;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
      EXPECT_THAT(error.what(), HasSubstr(state()));
    }
  }

  test::GradientProblem problem_, judges_{40, 3, 2};
  TemporaryDirectory directory_;
};

void expect_same(const TrainResult& found, const TrainResult& expected) {
  EXPECT_EQ(found.parameters, expected.parameters);
  EXPECT_EQ(found.objective, expected.objective);
  EXPECT_EQ(found.stationarity, expected.stationarity);
  EXPECT_EQ(found.steps, expected.steps);
  EXPECT_EQ(found.status, expected.status);
}

TEST_P(TrainingCheckpoint, ARunThatWasStoppedAnywhereEndsWithTheSameDigits) {
  const TrainResult whole = train({});
  ASSERT_GT(whole.steps, 12);
  expect_same(train({nullptr, state(), "", 0}), whole);
  expect_same(train(reading()), whole);
  for (int steps = 1; steps < whole.steps; steps += 3) {
    stop_after(steps, writing());
    expect_same(train(reading()), whole);
  }
}

TEST_P(TrainingCheckpoint, SeveralTimesInARow) {
  const TrainResult whole = train({});
  TrainExtras files = writing();
  for (int steps = 2; steps < whole.steps; steps += 4) {
    stop_after(steps, files);
    files.resume = state();
  }
  expect_same(train(files), whole);
}

TEST_P(TrainingCheckpoint, ALimitMayBeRaised) {
  const TrainResult whole = train({});
  const TrainResult limited = train(writing(), {}, 5);
  EXPECT_EQ(limited.status, Status::kIterationLimit);
  EXPECT_EQ(limited.steps, 5);
  EXPECT_EQ(train(reading(), {}, 5).steps, 5) << "the limit counts the steps before";
  expect_same(train(reading()), whole);
}

TEST_P(TrainingCheckpoint, OfAnotherRunIsRefused) {
  stop_after(4, writing());
  expect_refused("it belongs to other data, supervision or options", 4);
  problem_.rows(7, 1) += 1e-9;
  expect_refused("it belongs to other data, supervision or options");
}

TEST_P(TrainingCheckpoint, DamagedFilesAreRefused) {
  stop_after(4, writing());
  std::ifstream file(state(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  const auto write = [&](const std::string& bytes) { std::ofstream(state(), std::ios::binary) << bytes; };
  Random random(1);
  for (int t = 0; t < 20; ++t) {
    write(good.substr(0, random.uniform_index(std::ssize(good))));
    expect_refused("cannot resume from");
    std::string flipped = good;
    flipped[random.uniform_index(std::ssize(good))] ^= static_cast<char>(1 << random.uniform_index(8));
    write(flipped);
    expect_refused("cannot resume from");
  }
  write(good + "x");
  expect_refused("it is damaged");
  write("a,b\n1,2\n");
  expect_refused("cannot resume from");
  EXPECT_THROW(train(writing()), Error) << "another file would be lost";
  std::filesystem::remove(state());
  expect_refused("it cannot be read");
}

// Right checksums around numbers that no run writes.
TEST_P(TrainingCheckpoint, HostileFilesAreRefused) {
  stop_after(4, writing());
  std::ifstream file(state(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  const std::string mark = good.substr(0, good.find('\n') + 1);
  std::uint64_t fingerprint = 0;
  std::memcpy(&fingerprint, good.data() + mark.size(), sizeof(fingerprint));
  for (const std::vector<Index>& shape :
       {std::vector<Index>{2}, {-1}, {0, 0}, {1}, {1, -1}, {1, 11}, {1, 1'000'000'000}, {1, 2, 3}}) {
    write_checkpoint(state(), mark, fingerprint, shape, {});
    expect_refused("it is damaged");
  }
  // As long as the right one, of the right shape, and every number is -1 or, as a float or double, not a number.
  const auto& [name, adamw, layout, labels, early_stop] = GetParam();
  std::vector<Index> shape = {0};
  if (!adamw) {
    shape = {1, 0};
    std::memcpy(&shape[1], good.data() + mark.size() + 3 * 8, 8);
  }
  const auto vector = static_cast<std::size_t>(layout.size) * (adamw ? sizeof(float) : sizeof(double));
  std::vector<std::size_t> sizes;
  if (adamw) {
    sizes = {vector, vector, vector, vector, 8, 8, 8, 8, 8, 4};
  } else {
    sizes = {vector, vector, 8, 4, 4, 8, 4, 4};
    for (Index pair = 0; pair < shape[1]; ++pair) sizes.insert(sizes.end(), {vector, vector, 8});
  }
  if (early_stop) sizes.push_back(vector);
  sizes.insert(sizes.end(), {8, 4, 8});
  std::string numbers(vector, '\xff');
  RawParts parts;
  for (const std::size_t size : sizes) parts.emplace_back(numbers.data(), size);
  write_checkpoint(state(), mark, fingerprint, shape, parts);
  ASSERT_EQ(std::filesystem::file_size(state()), good.size());
  expect_refused("it is damaged");
}

INSTANTIATE_TEST_SUITE_P(Every, TrainingCheckpoint,
                         ::testing::Values(ResumedRun{"adamw_labels", true, test::smooth_layout(), true, false},
                                           ResumedRun{"adamw_network", true, test::deep_layout(), true, false},
                                           ResumedRun{"adamw_items", true, test::deep_layout(), false, false},
                                           ResumedRun{"adamw_early_stop", true, test::deep_layout(), true, true},
                                           ResumedRun{"lbfgs_items", false, test::smooth_layout(), false, false},
                                           ResumedRun{"lbfgs_labels", false, test::deep_layout(), true, false},
                                           ResumedRun{"lbfgs_early_stop", false, test::smooth_layout(), false, true}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace bregmax::internal
