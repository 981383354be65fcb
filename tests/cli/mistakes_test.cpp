// Mistakes of the caller: exit code 2 and one line that says which file, line or option, what was found and
// what is allowed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "bregmax/core/random.hpp"
#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGood = "a,b,class\n1,2,x\n2,1,x\n5,6,y\n6,5,y\n";

class Mistakes : public ::testing::Test {
 protected:
  std::string fit_csv(const std::string& content, const std::vector<std::string>& more = {}) {
    directory_.write("data.csv", content);
    std::vector<std::string> arguments = {"fit", "data.csv", "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return mistake_of(run(directory_, arguments));
  }
  std::string bregmax(const std::vector<std::string>& arguments) { return mistake_of(run(directory_, arguments)); }

  TemporaryDirectory directory_;
};

TEST_F(Mistakes, DetectsNan) {
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n2,nan,x\n"),
              AllOf(HasSubstr("data.csv"), HasSubstr("line 3"), HasSubstr("nan")));
}

TEST_F(Mistakes, DetectsInfinity) {
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n-inf,3,x\n"), AllOf(HasSubstr("line 3"), HasSubstr("inf")));
}

TEST_F(Mistakes, DetectsRaggedRows) {
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n1,x\n"), AllOf(HasSubstr("data.csv"), HasSubstr("line 3")));
}

TEST_F(Mistakes, DetectsEmptyFiles) {
  EXPECT_THAT(fit_csv(""), HasSubstr("data.csv"));
  EXPECT_THAT(fit_csv("a,b,class\n"), HasSubstr("data.csv"));
}

TEST_F(Mistakes, DetectsOneClassOnly) {
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n2,1,x\n"), AllOf(HasSubstr("data.csv"), HasSubstr("two classes")));
}

TEST_F(Mistakes, DetectsClassesOfOneMember) {
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n2,1,y\n3,3,z\n", {"--from-labels"}), HasSubstr("two rows or more"));
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n2,1,y\n3,3,z\n"), HasSubstr("no two are similar"));
}

TEST_F(Mistakes, DetectsEmptyOptions) {
  EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", "--out", ""}), AllOf(HasSubstr("--out"), HasSubstr("empty")));
  EXPECT_THAT(fit_csv(kGood, {"--pairs-file", ""}), AllOf(HasSubstr("--pairs-file"), HasSubstr("empty")));
  EXPECT_THAT(bregmax({"show", ""}), AllOf(HasSubstr("MODEL"), HasSubstr("empty")));
}

// Problems beyond the precision of doubles are refused, with advice on what to do.
TEST_F(Mistakes, DetectsFeaturesTooFarApartForDoubles) {
  const auto fit = [&](int rows, const std::string& scale) {
    Random random(7);
    std::string points = "a,b,c\n", pairs = "i,j,s\n";
    for (int i = 0; i < rows; ++i) {
      points += fmt::format("{},{},{}\n", 1e-6 * random.normal(), random.normal(), 1e6 * random.normal());
    }
    for (int t = 0; t < 3 * rows; ++t) {
      pairs +=
          fmt::format("{},{},{}\n", random.uniform_index(rows), random.uniform_index(rows), random.uniform_index(2));
    }
    directory_.write("wide.csv", points);
    directory_.write("pairs.csv", pairs);
    return run(directory_, {"fit", "wide.csv", "--pairs-file", "pairs.csv", "--lambda", "1e-8", "--solver", "exact",
                            "--threads", "1", "--smoothing", "0", "--scale", scale});
  };
  const Outcome refused = fit(60, "none");  // after the work, so what was read is told, too
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("error: wide.csv"), HasSubstr("--scale standard")));
  EXPECT_EQ(fit(60, "standard").exit_code, 0);
}

TEST_F(Mistakes, RefusesOptionsOfTuningWhereNothingIsChosen) {
  for (const auto& [option, value] : {std::pair{"--folds", "4"}, {"--repeats", "2"}, {"--tune-for", "auc"}}) {
    EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", option, value}),
                HasSubstr(std::string(option) + " is about choosing by cross-validation, and nothing is to be chosen"));
  }
}

TEST_F(Mistakes, SuggestsTheOptionThatWasMeant) {
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n2,1,y\n", {"--lamda", "3"}), HasSubstr("did you mean --lambda?"));
  EXPECT_THAT(fit_csv("a,b,class\n1,2,x\n2,1,y\n", {"--colour=red"}),
              AllOf(HasSubstr("there is no option --colour"), Not(HasSubstr("did you mean"))));
}

TEST_F(Mistakes, DetectsMissingSupervision) {
  EXPECT_THAT(fit_csv("a,b\n1,2\n2,1\n"),
              AllOf(HasSubstr("--comparisons-file"), HasSubstr("--pairs-file"), HasSubstr("--targets-file")));
  EXPECT_THAT(fit_csv("a,b\n1,2\n2,1\n", {"--from-labels"}), HasSubstr("--label"));
}

TEST_F(Mistakes, DetectsRowNumbersOutOfRange) {
  directory_.write("c.csv", "i,j,k,l\n0,1,0,2\n0,1,0,4\n");
  EXPECT_THAT(fit_csv(kGood, {"--comparisons-file", "c.csv"}),
              AllOf(HasSubstr("c.csv"), HasSubstr("line 3"), HasSubstr("4"), HasSubstr("0 to 3")));
  directory_.write("p.csv", "0,-1,1\n");
  EXPECT_THAT(fit_csv(kGood, {"--pairs-file", "p.csv"}), HasSubstr("line 1"));
  directory_.write("t.csv", "0,1.5,1\n");
  EXPECT_THAT(fit_csv(kGood, {"--targets-file", "t.csv"}), HasSubstr("1.5"));
}

TEST_F(Mistakes, DetectsBadSupervisionValues) {
  directory_.write("p.csv", "0,1,2\n");
  EXPECT_THAT(fit_csv(kGood, {"--pairs-file", "p.csv"}), HasSubstr("1 (similar) or 0 (dissimilar)"));
  directory_.write("t.csv", "0,1,nan\n");
  EXPECT_THAT(fit_csv(kGood, {"--targets-file", "t.csv"}), HasSubstr("t.csv"));
}

TEST_F(Mistakes, DetectsMissingFiles) {
  EXPECT_THAT(bregmax({"fit", "nothing.csv"}), HasSubstr("nothing.csv"));
  EXPECT_THAT(fit_csv(kGood, {"--pairs-file", "none.csv"}), HasSubstr("none.csv"));
  EXPECT_THAT(bregmax({"show", "nothing.bregmax"}), HasSubstr("nothing.bregmax"));
  EXPECT_THAT(bregmax({"fit", "builtin:nothing"}), HasSubstr("iris"));
}

TEST_F(Mistakes, DetectsUnknownCommandsAndOptions) {
  EXPECT_THAT(bregmax({}), HasSubstr("--help"));
  EXPECT_THAT(bregmax({"fitt"}), AllOf(HasSubstr("fitt"), HasSubstr("fit, show")));
  EXPECT_THAT(fit_csv(kGood, {"--lamda", "1"}), HasSubstr("--lamda"));
  EXPECT_THAT(fit_csv(kGood, {"other.csv"}), HasSubstr("other.csv"));
  EXPECT_THAT(bregmax({"fit"}), HasSubstr("DATA"));
}

TEST_F(Mistakes, DetectsBadNumbers) {
  for (const char* value : {"-1", "nan", "inf", "x", "", "1e999", "1,5", "1 "}) {
    EXPECT_THAT(fit_csv(kGood, {"--lambda", value}), AllOf(HasSubstr("--lambda"), HasSubstr(value), HasSubstr(">= 0")));
  }
  EXPECT_THAT(fit_csv(kGood, {"--lipschitz", "0"}), AllOf(HasSubstr("--lipschitz"), HasSubstr("> 0, or none")));
  EXPECT_THAT(fit_csv(kGood, {"--tolerance", "0.2"}), AllOf(HasSubstr("--tolerance"), HasSubstr("0.1")));
  EXPECT_THAT(fit_csv(kGood, {"--pieces", "0"}), HasSubstr("--pieces"));
  EXPECT_THAT(fit_csv(kGood, {"--pieces", "5"}), AllOf(HasSubstr("--pieces"), HasSubstr("1 to 4")));
  EXPECT_THAT(fit_csv(kGood, {"--pieces", "2.5"}), HasSubstr("--pieces"));
  EXPECT_THAT(fit_csv(kGood, {"--smoothing", "-0.1"}), HasSubstr("--smoothing"));
  EXPECT_THAT(fit_csv(kGood, {"--max-iterations", "0"}), HasSubstr("--max-iterations"));
  EXPECT_THAT(fit_csv(kGood, {"--time-limit", "-1"}), HasSubstr("--time-limit"));
  EXPECT_THAT(fit_csv(kGood, {"--seed", "-1"}), HasSubstr("--seed"));
  EXPECT_THAT(fit_csv(kGood, {"--comparisons", "0"}), HasSubstr("--comparisons"));
  EXPECT_THAT(bregmax({"fit", "data.csv", "--threads", "0"}), HasSubstr("--threads"));
  EXPECT_THAT(fit_csv(kGood, {"--lambda"}), HasSubstr("--lambda needs a value"));
  EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", "--lambda", "2"}), HasSubstr("more than once"));
}

TEST_F(Mistakes, DetectsWhatCannotBeTuned) {
  EXPECT_THAT(fit_csv(kGood, {"--tune-for", "f1"}), HasSubstr("average_precision"));
  EXPECT_THAT(fit_csv(kGood, {"--folds", "1"}), HasSubstr("--folds"));
  EXPECT_THAT(fit_csv(kGood, {"--lambdas", "1,0.1"}), HasSubstr("rising numbers"));
  EXPECT_THAT(fit_csv(kGood, {"--lambdas", "1,10,"}), HasSubstr("--lambdas is ''"));
  EXPECT_THAT(fit_csv(kGood, {"--lambdas", "1,,10"}), HasSubstr("--lambdas is ''"));
  EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", "--lambdas", "1,2"}), HasSubstr("--lambda auto"));
  EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", "--picture", "p.svg"}), HasSubstr("nothing to choose"));
  EXPECT_THAT(fit_csv(kGood, {"--hard-comparisons", "0"}), HasSubstr("--hard-comparisons"));
  EXPECT_THAT(fit_csv(kGood, {"--hard-comparisons", "2", "--all-pairs"}), HasSubstr("--all-pairs"));
  EXPECT_THAT(fit_csv(kGood, {"--solver", "admm"}), HasSubstr("needs --lambda V"));
  EXPECT_THAT(fit_csv(kGood, {"--solver", "simplex"}), HasSubstr("auto, exact, admm"));
  EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", "--checkpoint", "s"}), HasSubstr("--solver admm"));
  EXPECT_THAT(fit_csv(kGood, {"--lambda", "1", "--solver", "admm", "--memory-limit", "1e-9"}),
              HasSubstr("GB of memory"));
  EXPECT_THAT(fit_csv(kGood, {"--scale", "minmax"}), HasSubstr("none, standard"));
}

TEST_F(Mistakes, DetectsTwoKindsOfSupervision) {
  directory_.write("p.csv", "0,1,1\n");
  EXPECT_THAT(fit_csv(kGood, {"--pairs-file", "p.csv", "--all-pairs"}), HasSubstr("excludes"));
  EXPECT_THAT(fit_csv(kGood, {"--pairs-file", "p.csv", "--comparisons", "3"}), HasSubstr("--comparisons"));
}

TEST_F(Mistakes, DetectsBadPieceColumns) {
  EXPECT_THAT(fit_csv("a,p,class\n1,0,x\n2,0,x\n3,3,y\n4,1,y\n", {"--piece-column", "p", "--lambda", "1"}),
              AllOf(HasSubstr("column p"), HasSubstr("piece 2 has no row")));
  EXPECT_THAT(fit_csv("a,p,class\n1,0,x\n2,0.5,x\n3,1,y\n", {"--piece-column", "p"}), HasSubstr("line 3"));
  EXPECT_THAT(fit_csv(kGood, {"--piece-column", "p"}), HasSubstr("not a column"));
  EXPECT_THAT(fit_csv(kGood, {"--piece-column", "a", "--pieces", "2"}), HasSubstr("excludes"));
}

TEST_F(Mistakes, DetectsUnwritableOutputBeforeTheWork) {
  EXPECT_THAT(fit_csv(kGood, {"--out", "no/such/folder/m.bregmax"}), HasSubstr("no/such/folder/m.bregmax"));
  EXPECT_THAT(fit_csv(kGood, {"--out", "."}), HasSubstr("not a regular file"));
  EXPECT_THAT(fit_csv(kGood, {"--keep-partial"}), HasSubstr("--out"));
  EXPECT_THAT(bregmax({"demo", "--out", "no/such/folder/a.svg"}), HasSubstr("no/such/folder/a.svg"));
}

TEST_F(Mistakes, DetectsForeignModels) {
  directory_.write("data.csv", kGood);
  EXPECT_THAT(bregmax({"show", "data.csv"}), HasSubstr("not a bregmax model"));
  EXPECT_THAT(bregmax({"evaluate", "data.csv", "data.csv"}), HasSubstr("not a bregmax model"));
}

TEST_F(Mistakes, LeavesNoFilesBehind) {
  fit_csv("a,b,class\n1,2,x\n", {"--out", "m.bregmax"});
  fit_csv(kGood, {"--out", "m.bregmax", "--pairs-file", "none.csv"});
  EXPECT_EQ(directory_.files(), 1U);
}

TEST_F(Mistakes, DetectsWhatTheSolverForLargeProblemsCannotDo) {
  directory_.write("data.csv", kGood);
  directory_.write("state", "of a run");
  const std::vector<std::string> fit = {"fit", "data.csv", "--lambda", "1", "--solver", "admm"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> command = fit;
    command.insert(command.end(), more.begin(), more.end());
    return bregmax(command);
  };
  EXPECT_THAT(with({"--resume", "state", "--out", "state"}), HasSubstr("--out state is the file that --resume state"));
  EXPECT_THAT(with({"--tolerance", "1e-12"}), HasSubstr("allowed with --solver admm: 1e-08 to 0.1"));
  EXPECT_THAT(with({"--memory-limit", "1e-9"}), HasSubstr("solver admm would need"));
  EXPECT_THAT(bregmax({"fit", "data.csv", "--lambda", "1", "--solver", "exact", "--memory-limit", "1"}),
              HasSubstr("--memory-limit is for the solver admm"));
  EXPECT_EQ(read_file(directory_ / "state"), "of a run");
}

// Under any name or link, and before anything is computed or written.
TEST_F(Mistakes, DetectsAnOutputThatIsAnInput) {
  directory_.write("data.csv", kGood);
  directory_.write("pairs.csv", "0,1,1\n0,2,0\n");
  std::filesystem::create_hard_link(directory_ / "data.csv", directory_ / "hard.csv");
  std::filesystem::create_symlink("data.csv", directory_ / "soft.csv");
  for (const char* out : {"data.csv", "./data.csv", "hard.csv", "soft.csv"}) {
    const std::string expected = std::string("--out ") + out + " is the file that DATA data.csv reads";
    EXPECT_THAT(bregmax({"fit", "data.csv", "--lambda", "1", "--out", out}), HasSubstr(expected));
    EXPECT_THAT(bregmax({"fit", "data.csv", "--method", "itml", "--out", out}), HasSubstr(expected));
  }
  EXPECT_THAT(bregmax({"fit", "data.csv", "--lambda", "1", "--pairs-file", "pairs.csv", "--out", "pairs.csv"}),
              HasSubstr("--out pairs.csv is the file that --pairs-file pairs.csv reads"));
  EXPECT_THAT(bregmax({"fit", "data.csv", "--picture", "data.csv"}), HasSubstr("--picture data.csv"));
  EXPECT_THAT(bregmax({"fit", "data.csv", "--out", "new", "--picture", "./new"}),
              HasSubstr("--out new and --picture ./new are the same file"));

  ASSERT_EQ(run(directory_, {"fit", "data.csv", "--lambda", "1", "--threads", "1", "--out", "m.bregmax"}).exit_code, 0);
  const std::string model = read_file(directory_ / "m.bregmax");
  for (const char* out : {"m.bregmax", "data.csv"}) {
    const std::string expected = std::string(out) + " is the file that ";
    EXPECT_THAT(bregmax({"divergence", "m.bregmax", "data.csv", "--out", out}), HasSubstr(expected));
    EXPECT_THAT(bregmax({"rank", "m.bregmax", "--queries", "builtin:iris", "--pool", "data.csv", "--out", out}),
                HasSubstr(expected));
    EXPECT_THAT(bregmax({"cluster", "m.bregmax", "data.csv", "-k", "2", "--out", out}), HasSubstr(expected));
    EXPECT_THAT(bregmax({"classify", "m.bregmax", "--train", "data.csv", "--queries", "data.csv", "--out", out}),
                HasSubstr(expected));
  }
  EXPECT_THAT(bregmax({"show", "m.bregmax", "--picture", "m.bregmax"}), HasSubstr("MODEL m.bregmax"));
  EXPECT_THAT(bregmax({"approximate", "--generator", "m.bregmax", "--sweep", "--picture", "m.bregmax"}),
              HasSubstr("--generator m.bregmax"));
  EXPECT_EQ(read_file(directory_ / "data.csv"), kGood);
  EXPECT_EQ(read_file(directory_ / "m.bregmax"), model);
}

}  // namespace
}  // namespace bregmax::testing
