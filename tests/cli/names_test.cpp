// Names of rows in files of items and in every output; directions of pairs; triplets; numbers that count from 1.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

// The cups of the README, with names and without.
class Names : public ::testing::Test {
 protected:
  Names() {
    directory_.write("cups.csv", fmt::format("height,width,weight\n{}", numbers()));
    directory_.write("named.csv",
                     "cup,height,width,weight,kind\nblue,9.1,8,310,mug\n\"white, old\",9.4,8.2,325,mug\n"
                     "pilsner,14.8,8.1,420,beaker\nstout,15.2,7.9,433,beaker\nlungo,6.1,5,120,espresso\n"
                     "corto,5.9,5.2,131,espresso\n");
    directory_.write("pairs.csv", "i,j,s\n0,1,1\n2,3,1\n4,5,1\n0,2,0\n2,4,0\n4,0,0\n");
    directory_.write("named_pairs.csv",
                     "i,j,s\nblue,\"white, old\",1\npilsner,stout,1\nlungo,corto,1\nblue,pilsner,0\npilsner,lungo,0\n"
                     "lungo,blue,0\n");
  }

  static std::string numbers() {
    return "9.1,8.0,310\n9.4,8.2,325\n14.8,8.1,420\n15.2,7.9,433\n6.1,5.0,120\n5.9,5.2,131\n";
  }
  Outcome bregmax(const Arguments& arguments) const { return run(directory_, arguments); }
  nlohmann::json fit(const std::string& data, const Arguments& more) const {
    Arguments arguments = {"fit", data, "--lambda", "0.1", "--out", "m.bregmax", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(bregmax(arguments));
  }
  std::vector<std::vector<double>> divergences() const {
    return json_of(bregmax({"divergence", "m.bregmax", "cups.csv", "--json"}))["divergences"];
  }
  std::string mistake(const Arguments& arguments) const { return mistake_of(bregmax(arguments)); }

  TemporaryDirectory directory_;
};

// ---- Directions of pairs ----

TEST_F(Names, PairsCountInBothDirections) {
  const nlohmann::json report = fit("cups.csv", {"--pairs-file", "pairs.csv"});
  EXPECT_EQ(report["directed"], false);
  EXPECT_EQ(report["items"], 6);
  const auto both = divergences();
  for (const auto& [i, j] : {std::pair(0, 2), std::pair(2, 4), std::pair(4, 0)}) {
    EXPECT_GT(both[i][j], 1.999);
    EXPECT_GT(both[j][i], 1.999);
  }
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(2, 3), std::pair(4, 5)}) {
    EXPECT_LT(both[i][j] + both[j][i], 1e-6);
  }
  const nlohmann::json one_way = fit("cups.csv", {"--pairs-file", "pairs.csv", "--directed"});
  EXPECT_EQ(one_way["directed"], true);
  EXPECT_EQ(one_way["items"], 6);
  EXPECT_LT(divergences()[2][0], 1.9) << "nothing was said about this direction";
  EXPECT_LT(one_way["objective"], report["objective"]);
  EXPECT_TRUE(fit("named.csv", {"--id", "cup", "--all-pairs"})["directed"].is_null());
}

TEST_F(Names, BothDirectionsAreTheSameAsAFileWithBoth) {
  const nlohmann::json report = fit("cups.csv", {"--pairs-file", "pairs.csv"});
  const auto expected = divergences();
  std::string both = "i,j,s,weight\n";
  for (const char* pair :
       {"0,1,1", "1,0,1", "2,3,1", "3,2,1", "4,5,1", "5,4,1", "0,2,0", "2,0,0", "2,4,0", "4,2,0", "4,0,0", "0,4,0"}) {
    both += fmt::format("{},0.5\n", pair);
  }
  directory_.write("both.csv", both);
  const nlohmann::json listed = fit("cups.csv", {"--pairs-file", "both.csv", "--directed"});
  EXPECT_EQ(listed["objective"], report["objective"]);
  EXPECT_EQ(divergences(), expected);
}

TEST_F(Names, TheReportSaysHowPairsWereTaken) {
  const auto text = [&](const Arguments& more) {
    Arguments arguments = {"fit", "cups.csv", "--pairs-file", "pairs.csv", "--lambda", "0.1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bregmax(arguments).out;
  };
  EXPECT_THAT(text({}), HasSubstr("6 pairs, from pairs.csv, in both directions"));
  EXPECT_THAT(text({"--directed"}), HasSubstr("6 pairs, from pairs.csv, directed"));
  EXPECT_THAT(mistake({"fit", "cups.csv", "--directed"}), AllOf(HasSubstr("--directed"), HasSubstr("--pairs-file")));
}

TEST_F(Names, CompareScoresPairsInBothDirections) {
  directory_.write("line.csv", "a\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n");
  std::string pairs = "i,j,s\n";
  for (int row = 0; row < 12; ++row)
    pairs += fmt::format("{},{},1\n{},{},0\n", row, (row + 1) % 12, row, (row + 5) % 12);
  directory_.write("line_pairs.csv", pairs);
  const auto compared = [&](const Arguments& more) {
    Arguments arguments = {"compare", "line.csv", "--pairs-file", "line_pairs.csv", "--methods", "gmml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(bregmax(arguments));
  };
  const nlohmann::json both = compared({}), directed = compared({"--directed"});
  EXPECT_EQ(both["directed"], false);
  EXPECT_EQ(directed["directed"], true);
  EXPECT_EQ(both["methods"][0]["scores"], directed["methods"][0]["scores"]) << "the Euclidean distance is symmetric";
}

// ---- Numbers of rows ----

TEST_F(Names, NumbersMayCountFromOne) {
  fit("cups.csv", {"--pairs-file", "pairs.csv"});
  const auto expected = divergences();
  directory_.write("from_one.csv", "i,j,s\n1,2,1\n3,4,1\n5,6,1\n1,3,0\n3,5,0\n5,1,0\n");
  fit("cups.csv", {"--pairs-file", "from_one.csv", "--first-row", "1"});
  EXPECT_EQ(divergences(), expected);
  EXPECT_THAT(mistake({"fit", "cups.csv", "--pairs-file", "from_one.csv"}),
              AllOf(HasSubstr("from_one.csv: line 4, column j: found 6; allowed: whole row numbers from 0 to 5"),
                    HasSubstr("--first-row 1")));
  EXPECT_THAT(mistake({"fit", "cups.csv", "--first-row", "2"}), HasSubstr("--first-row"));
  EXPECT_THAT(mistake({"fit", "named.csv", "--id", "cup", "--first-row", "1"}), HasSubstr("--first-row is about"));
}

TEST_F(Names, ANoteSaysThatNoItemNamesRowZero) {
  directory_.write("some.csv", "1,2,1\n3,4,0\n");
  const auto notes = [&](const Arguments& more) {
    Arguments arguments = {"fit", "cups.csv", "--pairs-file", "some.csv", "--lambda", "0.1", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = bregmax(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    return outcome.err;
  };
  EXPECT_THAT(notes({}),
              HasSubstr("bregmax: note: some.csv: no item names row 0; rows are counted from 0 (--first-row 1"));
  EXPECT_THAT(notes({"--first-row", "0"}), Not(HasSubstr("note")));
  EXPECT_THAT(notes({"--first-row", "1"}), Not(HasSubstr("note")));
}

// ---- Triplets ----

TEST_F(Names, TripletsAreComparisonsOfOneAnchor) {
  directory_.write("c.csv", "i,j,k,l,weight\n0,1,0,2,1\n2,3,2,4,2\n4,5,4,0,1\n");
  directory_.write("t.csv", "anchor,near,far,weight\n0,1,2,1\n2,3,4,2\n4,5,0,1\n");
  directory_.write(
      "n.csv", "anchor,near,far,weight\nblue,\"white, old\",pilsner,1\npilsner,stout,lungo,2\nlungo,corto,blue,1\n");
  const nlohmann::json four = fit("cups.csv", {"--comparisons-file", "c.csv"});
  const auto expected = divergences();
  const nlohmann::json three = fit("cups.csv", {"--comparisons-file", "t.csv"});
  EXPECT_EQ(three["supervision"], "comparisons");
  EXPECT_EQ(three["items"], 3);
  EXPECT_EQ(three["objective"], four["objective"]);
  EXPECT_EQ(divergences(), expected);
  EXPECT_EQ(fit("named.csv", {"--id", "cup", "--comparisons-file", "n.csv"})["objective"], four["objective"]);
}

// ---- Names in files of items ----

TEST_F(Names, FilesNameRowsByName) {
  fit("cups.csv", {"--pairs-file", "pairs.csv"});
  const auto expected = divergences();
  fit("named.csv", {"--id", "cup", "--pairs-file", "named_pairs.csv"});
  EXPECT_EQ(divergences(), expected);
  fit("named.csv", {"--id", "cup", "--pairs-file", "pairs.csv"});
  EXPECT_EQ(divergences(), expected) << "none of the items is a name";
}

TEST_F(Names, UnknownNamesAreRefusedWithTheClosestOne) {
  directory_.write("bad.csv", "i,j,s\nblue,stout,0\nblue,Pilsener,0\n");
  EXPECT_THAT(
      mistake({"fit", "named.csv", "--id", "cup", "--pairs-file", "bad.csv"}),
      HasSubstr("bad.csv: line 3, column j: found \"Pilsener\"; allowed: names of rows; did you mean \"pilsner\"?"));
  EXPECT_THAT(mistake({"fit", "cups.csv", "--pairs-file", "named_pairs.csv"}),
              AllOf(HasSubstr("line 2, column i: found \"blue\""), HasSubstr("--id")));
}

TEST_F(Names, BoundsReadsNamesAndTriplets) {
  directory_.write("n.csv", "anchor,near,far\nblue,\"white, old\",pilsner\npilsner,stout,lungo\nlungo,corto,blue\n");
  fit("named.csv", {"--id", "cup", "--comparisons-file", "n.csv", "--smoothing", "0"});
  const nlohmann::json bounds =
      json_of(bregmax({"bounds", "m.bregmax", "named.csv", "--id", "cup", "--comparisons-file", "n.csv", "--json"}));
  EXPECT_EQ(bounds["m"], 3);
}

// ---- Names and labels in outputs ----

class NamesInOutputs : public Names {
 protected:
  NamesInOutputs() { fit("named.csv", {"--id", "cup", "--pairs-file", "named_pairs.csv"}); }
};

TEST_F(NamesInOutputs, OfRank) {
  const Arguments rank = {"rank",      "m.bregmax", "--queries", "named.csv", "--pool",
                          "named.csv", "--top",     "2",         "--id",      "cup"};
  EXPECT_THAT(
      bregmax(rank).out,
      AllOf(StartsWith("query,rank,row,divergence,query_name,query_label,name,label\n0,1,0,0,blue,mug,blue,mug\n"),
            HasSubstr(",blue,mug,\"white, old\",mug\n")));
  Arguments as_json = rank;
  as_json.emplace_back("--json");
  const nlohmann::json found = json_of(bregmax(as_json));
  EXPECT_EQ(found["query_names"][1], "white, old");
  EXPECT_EQ(found["query_labels"][4], "espresso");
  EXPECT_EQ(found["rankings"][2][0]["row"], 2);
  EXPECT_EQ(found["rankings"][2][0]["name"], "pilsner");
  EXPECT_EQ(found["rankings"][2][0]["label"], "beaker");
}

TEST_F(NamesInOutputs, OfRowsWithoutAnyStayAsTheyWere) {
  EXPECT_THAT(bregmax({"rank", "m.bregmax", "--queries", "cups.csv", "--pool", "cups.csv"}).out,
              StartsWith("query,rank,row,divergence\n0,1,0,0\n"));
  EXPECT_THAT(bregmax({"cluster", "m.bregmax", "cups.csv", "-k", "2"}).out, StartsWith("row,cluster\n"));
  EXPECT_THAT(bregmax({"divergence", "m.bregmax", "cups.csv"}).out, StartsWith("0,"));
  const nlohmann::json found = json_of(bregmax({"divergence", "m.bregmax", "cups.csv", "--json"}));
  EXPECT_FALSE(found.contains("row_names"));
  EXPECT_FALSE(found.contains("row_labels"));
}

TEST_F(NamesInOutputs, OfClassifyAndCluster) {
  const Arguments classify = {"classify",  "m.bregmax", "--train", "named.csv", "--queries",
                              "named.csv", "-k",        "1",       "--id",      "cup"};
  EXPECT_THAT(bregmax(classify).out,
              StartsWith("row,predicted,share,name,label\n0,mug,1,blue,mug\n1,mug,1,\"white, old\",mug\n"));
  Arguments as_json = classify;
  as_json.emplace_back("--json");
  EXPECT_EQ(json_of(bregmax(as_json))["names"][5], "corto");
  EXPECT_EQ(json_of(bregmax(as_json))["labels"][5], "espresso");

  const Outcome clusters = bregmax({"cluster", "m.bregmax", "named.csv", "-k", "3", "--id", "cup"});
  EXPECT_THAT(clusters.out, AllOf(StartsWith("row,cluster,name,label\n0,"), HasSubstr(",stout,beaker\n")));
  const nlohmann::json found =
      json_of(bregmax({"cluster", "m.bregmax", "named.csv", "-k", "3", "--id", "cup", "--json"}));
  EXPECT_EQ(found["names"][3], "stout");
  EXPECT_EQ(found["labels"][3], "beaker");
}

TEST_F(NamesInOutputs, OfDivergence) {
  EXPECT_THAT(
      bregmax({"divergence", "m.bregmax", "named.csv", "--id", "cup"}).out,
      AllOf(StartsWith("name,blue,\"white, old\",pilsner,stout,lungo,corto\nblue,0,"), HasSubstr("\n\"white, old\",")));
  EXPECT_EQ(bregmax({"divergence", "m.bregmax", "named.csv", "--id", "cup", "--out", "d.csv"}).exit_code, 0);
  EXPECT_THAT(read_file(directory_ / "d.csv"), StartsWith("name,blue,"));
  EXPECT_EQ(bregmax({"divergence", "m.bregmax", "named.csv", "--id", "cup", "--out", "d.npy"}).exit_code, 0);
  const nlohmann::json found = json_of(bregmax({"divergence", "m.bregmax", "named.csv", "--id", "cup", "--json"}));
  EXPECT_EQ(found["row_names"][2], "pilsner");
  EXPECT_EQ(found["column_labels"][2], "beaker");
}

TEST_F(NamesInOutputs, OfEvaluate) {
  const Arguments evaluate = {"evaluate", "m.bregmax", "named.csv", "--id", "cup"};
  EXPECT_THAT(bregmax(evaluate).out, HasSubstr("classes                  3   mug, beaker, espresso (column kind)\n"));
  Arguments as_json = evaluate;
  as_json.emplace_back("--json");
  EXPECT_EQ(json_of(bregmax(as_json))["class_names"], nlohmann::json({"mug", "beaker", "espresso"}));
}

}  // namespace
}  // namespace bregmax::testing
