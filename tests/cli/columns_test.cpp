// Roles of columns: what a file of rows may hold beside features and labels.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kPeople =
    "who,age,height,class\nann,1,2,x\nbob,2,1,x\ncid,1.5,2.5,x\ndan,5,6,y\neve,6,5,y\nfay,6.5,6,y\n";

// The columns of people.csv, and a model of its features.
class Columns : public ::testing::Test {
 protected:
  Columns() { directory_.write("people.csv", kPeople); }

  Outcome bregmax(const std::vector<std::string>& arguments) { return run(directory_, arguments); }
  Outcome fit(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"fit",       "people.csv", "--method", "euclidean",
                                          "--threads", "1",          "--out",    "m.bregmax"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bregmax(arguments);
  }

  TemporaryDirectory directory_;
};

TEST_F(Columns, NamesOfRowsAreNoFeature) {
  const nlohmann::json report = json_of(fit({"--id", "who", "--json"}));
  EXPECT_EQ(report["d"], 2);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"divergence", "m.bregmax", "people.csv"},
           {"evaluate", "m.bregmax", "people.csv"},
           {"rank", "m.bregmax", "--queries", "people.csv", "--pool", "people.csv"},
           {"cluster", "m.bregmax", "people.csv", "-k", "2"},
           {"classify", "m.bregmax", "--train", "people.csv", "--queries", "people.csv"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--id", "0", "--json"});
    EXPECT_EQ(bregmax(arguments).exit_code, 0) << command.front();
  }
  EXPECT_EQ(bregmax({"compare", "people.csv", "--id", "who", "--methods", "euclidean", "--folds", "3"}).exit_code, 0);
}

TEST_F(Columns, DetectsTwoRowsOfOneName) {
  directory_.write("people.csv", "who,age,class\nann,1,x\nbob,2,x\nann,3,y\n");
  EXPECT_THAT(mistake_of(fit({"--id", "who"})),
              AllOf(HasSubstr("line 4, column who"), HasSubstr("line 2"), HasSubstr("--id")));
}

}  // namespace
}  // namespace bregmax::testing
