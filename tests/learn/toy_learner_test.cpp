// The learner that CONTRIBUTING.md shows under "Add a learner". The text between the marks below is the code there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

// example begin
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/methods/registry.hpp"

namespace bregmax {

// Weights each feature by the power of its inverse standard deviation.
Learned learn_toy(const MatrixView& rows, double power) {
  const Scaling scaling = Scaling::standard(rows);
  Learned learned;
  learned.divergence =
      std::make_shared<Mahalanobis>(scaling.scale.array().pow(-power).matrix().asDiagonal().toDenseMatrix());
  learned.report.status = Status::kConverged;
  return learned;
}

namespace internal {

Method toy_method() {
  Method method;
  method.name = "toy";
  method.summary = "features weighted by a power of their inverse standard deviation";
  method.from_labels = method.from_pairs = true;
  method.parameters = {{.name = "power", .help = "of the inverse", .standard = 2, .grid = {0, 1, 2}, .tuned = true}};
  method.learn = [](const MatrixView& rows, const MethodSupervision&, const MethodChoices& choices, const RunControl&) {
    return learn_toy(rows, choices.number("power"));
  };
  return method;
}

}  // namespace internal
}  // namespace bregmax
// example end

#include "bregmax/learn/run.hpp"
#include "learn/cases.hpp"

namespace bregmax {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(BREGMAX_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ToyLearner, IsTheOneOfTheGuide) {
  const std::string source = read("tests/learn/toy_learner_test.cpp");
  const std::string begin = "// example begin\n", end = "// example end\n";
  const std::size_t first = source.find(begin) + begin.size();
  const std::string example = source.substr(first, source.find(end) - first);
  ASSERT_GT(example.size(), 500U);
  EXPECT_THAT(read("CONTRIBUTING.md"), ::testing::HasSubstr(example));
}

// The noise has ten times the spread of the rest: without weights the distance sees nothing else.
TEST(ToyLearner, IsTunedAndLearnedLikeAnyOther) {
  const auto data = testing::noisy_classes(60);
  const Method method = internal::toy_method();
  Plan planned;
  planned.methods = {
      {.method = &method, .tried = {{"power", method.parameter("power").grid}}, .scales = {Scale::kNone}}};
  const FitOutcome outcome = run(planned, {data.rows, data.classes});
  EXPECT_EQ(outcome.report.status, Status::kConverged);
  EXPECT_EQ(outcome.chosen.parameters.at("power"), 2);
  EXPECT_EQ(outcome.model.record.method, "toy");
  EXPECT_TRUE(outcome.diagnosis.empty());
}

}  // namespace
}  // namespace bregmax
