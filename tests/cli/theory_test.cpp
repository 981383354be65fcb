#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

nlohmann::json json_from(const TemporaryDirectory& directory, std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome outcome = run(directory, arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return json_of(outcome);
}

TEST(Approximate, PrintsMeasuredErrorsBelowTheBounds) {
  const TemporaryDirectory directory;
  const std::vector<std::string> arguments = {"approximate", "--generator", "kl", "--dimension",
                                              "2",           "--pieces",    "400"};
  const nlohmann::json found = json_from(directory, arguments);
  EXPECT_EQ(found["pieces_used"], 400);
  const double beta = found["beta"], radius = found["radius"];
  EXPECT_NEAR(found["bounds"]["value"], 4 * beta * radius * radius / 400, 1e-12);
  EXPECT_NEAR(found["bounds"]["gradient"], 16 * beta * radius / 20, 1e-12);
  EXPECT_NEAR(found["bounds"]["divergence"], 36 * beta * radius * radius / 20, 1e-12);
  for (const char* error : {"value", "gradient", "divergence"}) {
    EXPECT_GT(found["measured"][error], 0.0);
    EXPECT_LT(found["measured"][error], found["bounds"][error]) << error;
  }
  EXPECT_THAT(run(directory, arguments).out, HasSubstr("Theorem 1"));
}

TEST(Approximate, SweepsAndDraws) {
  const TemporaryDirectory directory;
  const nlohmann::json found =
      json_from(directory, {"approximate", "--generator", "itakura_saito", "--dimension", "1", "--pieces", "128",
                            "--samples", "2000", "--sweep", "--picture", "rates.svg"});
  EXPECT_EQ(found["steps"].size(), 8);
  EXPECT_LE(found["exponents"]["value"], -1.8);
  EXPECT_LE(found["exponents"]["gradient"], -0.8);
  EXPECT_LE(found["exponents"]["divergence"], -0.8);
  const std::string picture = read_file(directory / "rates.svg");
  EXPECT_THAT(picture, HasSubstr("fitted K^-1"));
  EXPECT_THAT(picture, HasSubstr("</svg>"));
}

TEST(Approximate, TakesModelsAndGreedyPlacement) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run(directory, {"fit", "builtin:iris", "--pieces", "5", "--comparisons", "100", "--smoothing", "1", "--out",
                            "m.bregmax"})
                .exit_code,
            0);
  const nlohmann::json found =
      json_from(directory, {"approximate", "--generator", "m.bregmax", "--placement", "greedy", "--pieces", "30"});
  EXPECT_EQ(found["dimension"], 4);
  EXPECT_TRUE(found["measured"]["gradient"].is_null()) << "there is no inner box";
}

TEST(Approximate, RefusesMistakes) {
  const TemporaryDirectory directory;
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "approximate");
    return mistake_of(run(directory, arguments));
  };
  EXPECT_THAT(refusal({"--generator", "no_such"}), HasSubstr("--generator is 'no_such'; allowed: squared_euclidean"));
  EXPECT_THAT(refusal({"--generator", "logdet"}), HasSubstr("1, 3, 6, 10"));
  EXPECT_THAT(refusal({"--generator", "itakura_saito", "--radius", "2"}), HasSubstr("leaves the domain"));
  EXPECT_THAT(refusal({"--generator", "kl", "--sweep", "--pieces", "100"}), HasSubstr("at least 144"));
  EXPECT_THAT(refusal({"--generator", "kl", "--picture", "p.svg"}), HasSubstr("--sweep"));
}

TEST(Bounds, OfComparisonsAreTheTheoremAndSayVacuous) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run(directory, {"fit", "builtin:iris", "--pieces", "10", "--comparisons", "2000", "--lambda", "10",
                            "--seed", "3", "--out", "m.bregmax"})
                .exit_code,
            0);
  const nlohmann::json found = json_from(directory, {"bounds", "m.bregmax", "builtin:iris", "--test", "builtin:iris"});
  EXPECT_EQ(found["pieces"], 10);
  EXPECT_EQ(found["m"], 2000);
  EXPECT_TRUE(found["same_as_fit"]);
  const double base = std::sqrt(2 * std::log(10.0) / 2000);
  const double lipschitz = found["lipschitz"], radius = found["radius"];
  EXPECT_NEAR(found["rademacher_bound"], 4 * 10 * lipschitz * radius * base, 1e-9);
  EXPECT_NEAR(found["complexity_term"], 32 * 10 * lipschitz * radius * base, 1e-9);
  EXPECT_NEAR(found["confidence_term"],
              std::sqrt((4 * std::log(4 * std::log2(std::max(lipschitz, 2.0))) + std::log(20.0)) / 2000), 1e-12);
  const double ramp = found["empirical_ramp_loss"], hinge = found["empirical_hinge_loss"];
  EXPECT_LE(ramp, hinge);
  EXPECT_NEAR(found["bound"],
              ramp + static_cast<double>(found["complexity_term"]) + static_cast<double>(found["confidence_term"]),
              1e-9);
  EXPECT_TRUE(found["vacuous"]);
  EXPECT_EQ(found["held_out"].size(), 2);
  EXPECT_LT(found["held_out_error"], 0.2);
  const nlohmann::json shown = nlohmann::json::parse(run(directory, {"show", "m.bregmax", "--json"}).out);
  EXPECT_NEAR(lipschitz, shown["lipschitz"], 1e-6 * lipschitz);
  EXPECT_THAT(run(directory, {"bounds", "m.bregmax", "builtin:iris"}).out, HasSubstr("vacuous"));
  const Outcome other = run(directory, {"bounds", "m.bregmax", "builtin:iris", "--delta", "0.5"});
  EXPECT_THAT(other.out, HasSubstr("with probability 0.5"));
}

// Hard comparisons, all of them and some, and those of a file: always the ones that the model was learned from.
TEST(Bounds, AreOfTheComparisonsThatTheModelWasLearnedFrom) {
  const TemporaryDirectory directory;
  const auto learn = [&](std::vector<std::string> how) {
    how.insert(how.begin(), {"fit", "builtin:iris", "--pieces", "10", "--lambda", "1", "--smoothing", "0", "--seed",
                             "4", "--out", "m.bregmax"});
    return json_from(directory, how)["items"];
  };
  for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{
           {"--hard-comparisons", "3"}, {"--hard-comparisons", "2", "--comparisons", "300"}, {"--from-labels"}}) {
    const nlohmann::json items = learn(how);
    const nlohmann::json found = json_from(directory, {"bounds", "m.bregmax", "builtin:iris"});
    EXPECT_EQ(found["m"], items);
    EXPECT_TRUE(found["same_as_fit"].get<bool>()) << how.front();
    EXPECT_EQ(found["hard_comparisons"], how.front() == "--hard-comparisons");
  }
  directory.write("c.csv", "i,j,k,l\n0,1,0,60\n60,61,60,120\n120,121,120,3\n");
  learn({"--comparisons-file", "c.csv"});
  EXPECT_THAT(mistake_of(run(directory, {"bounds", "m.bregmax", "builtin:iris"})),
              HasSubstr("given comparisons; name their file with --comparisons-file"));
  EXPECT_TRUE(
      json_from(directory, {"bounds", "m.bregmax", "builtin:iris", "--comparisons-file", "c.csv"})["same_as_fit"]);
}

// 36 points on a grid, with squared distances as targets.
void write_regression(const TemporaryDirectory& directory) {
  std::string rows = "a,b\n", targets, held_out;
  for (int i = 0; i < 36; ++i) rows += std::to_string(i % 6) + "," + std::to_string(i / 6) + "\n";
  for (int i = 0; i < 36; ++i) {
    for (int j = 0; j < 36; ++j) {
      const int x = i % 6 - j % 6, y = i / 6 - j / 6;
      if (i == j) continue;
      ((i + j) % 4 == 0 ? held_out : targets) +=
          std::to_string(i) + "," + std::to_string(j) + "," + std::to_string(0.1 * (x * x + y * y)) + "\n";
    }
  }
  directory.write("rows.csv", rows);
  directory.write("t.csv", targets);
  directory.write("h.csv", held_out);
}

// The mean squared error of the targets of a file under the matrix that `divergence` writes.
double squared_loss_of_file(const TemporaryDirectory& directory, const std::string& name) {
  EXPECT_EQ(run(directory, {"divergence", "m.bregmax", "rows.csv", "--label", "none", "--out", "d.csv"}).exit_code, 0);
  std::istringstream matrix(read_file(directory / "d.csv")), targets(read_file(directory / name));
  std::vector<double> divergences;
  for (std::string field; std::getline(matrix, field, matrix.peek() == EOF ? '\n' : ',');) {
    std::istringstream parts(field);  // a field across a line end holds two numbers
    for (double each; parts >> each;) divergences.push_back(each);
  }
  EXPECT_EQ(divergences.size(), 36u * 36u);
  double sum = 0;
  int count = 0;
  char comma;
  double value;
  for (std::size_t i, j; targets >> i >> comma >> j >> comma >> value; ++count) {
    sum += std::pow(divergences[36 * i + j] - value, 2);
  }
  return sum / count;
}

TEST(Bounds, OfTargetsAreTheTheorem) {
  const TemporaryDirectory directory;
  write_regression(directory);
  const nlohmann::json fitted = json_from(directory, {"fit", "rows.csv", "--label", "none", "--targets-file", "t.csv",
                                                      "--pieces", "theory", "--lipschitz", "5", "--out", "m.bregmax"});
  const double m = fitted["items"];
  EXPECT_EQ(fitted["pieces"], std::ceil(std::pow(m, 2.0 / 8)));
  const nlohmann::json found =
      json_from(directory, {"bounds", "m.bregmax", "rows.csv", "--label", "none", "--targets-file", "t.csv",
                            "--held-out-file", "h.csv", "--noise", "0.2", "--beta", "1.5"});
  const double radius = found["radius"], residual = 4 * 5 * radius + 0.2, pieces = found["pieces"];
  EXPECT_EQ(found["lipschitz"], 5) << "of the class, not of the model";
  EXPECT_NEAR(found["residual_bound"], residual, 1e-9);
  EXPECT_NEAR(found["complexity_term"], 16 * residual * pieces * 5 * radius * std::sqrt(2 * std::log(6.0) / m), 1e-6);
  EXPECT_NEAR(found["confidence_term"], residual * residual * std::sqrt(std::log(20.0) / (2 * m)), 1e-9);
  EXPECT_NEAR(found["approximation"]["loss_term"], std::pow(36 * 1.5 * radius * radius, 2) / pieces, 1e-6);
  EXPECT_NEAR(found["empirical_squared_loss"], squared_loss_of_file(directory, "t.csv"), 1e-9);
  EXPECT_EQ(found["theory_pieces"], pieces);
  EXPECT_NEAR(found["held_out_error"], squared_loss_of_file(directory, "h.csv"), 1e-9);
}

TEST(Bounds, RefusesMistakes) {
  const TemporaryDirectory directory;
  write_regression(directory);
  ASSERT_EQ(run(directory,
                {"fit", "builtin:iris", "--pieces", "3", "--comparisons", "50", "--lambda", "1", "--out", "c.bregmax"})
                .exit_code,
            0);
  ASSERT_EQ(
      run(directory, {"fit", "builtin:iris", "--pieces", "3", "--all-pairs", "--lambda", "1", "--out", "p.bregmax"})
          .exit_code,
      0);
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bounds");
    return mistake_of(run(directory, arguments));
  };
  EXPECT_THAT(refusal({"p.bregmax", "builtin:iris"}), HasSubstr("learned from pairs"));
  EXPECT_THAT(refusal({"c.bregmax", "builtin:iris", "--targets-file", "t.csv"}), HasSubstr("learned from comparisons"));
  EXPECT_THAT(refusal({"c.bregmax", "builtin:iris", "--noise", "1"}), HasSubstr("--targets-file"));
  EXPECT_THAT(refusal({"c.bregmax", "builtin:iris", "--delta", "0"}), HasSubstr("--delta is '0'"));
  EXPECT_THAT(refusal({"c.bregmax", "builtin:iris", "--delta", "1"}), HasSubstr("--delta is '1'"));
  EXPECT_THAT(mistake_of(run(directory, {"fit", "builtin:iris", "--pieces", "theory"})), HasSubstr("for targets"));
}

}  // namespace
}  // namespace bregmax::testing
