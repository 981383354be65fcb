#include "bregmax/supervision/files.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SupervisionFile : public ::testing::Test {
 protected:
  std::string file(std::string_view content) const { return directory_.write("f.csv", content); }
  std::string comparisons_error(std::string_view content) const {
    return error_of([&] { read_comparisons(file(content), {10}); });
  }
  std::string pairs_error(std::string_view content) const {
    return error_of([&] { read_pairs(file(content), {10}); });
  }
  std::string targets_error(std::string_view content) const {
    return error_of([&] { read_targets(file(content), {10}); });
  }
  std::string names_error(std::string_view content) const;
  // Of pairs.
  std::vector<std::string> notes_of(std::string_view content, const RowNames& rows) const {
    std::vector<std::string> notes;
    RunControl control;
    control.on_log = [&notes](std::string_view line) { notes.emplace_back(line); };
    read_pairs(file(content), rows, control);
    return notes;
  }
  bregmax::testing::TemporaryDirectory directory_;
};
using SupervisionFileBadInput = SupervisionFile;

TEST_F(SupervisionFile, ReadsComparisonsWithAndWithoutHeaderAndWeight) {
  for (const char* content :
       {"i,j,k,l\n1,2,1,3\n0,9,4,0\n", "1,2,1,3\n0,9,4,0\n", "anchor,near,again,far\n1,2,1,3\n0,9,4,0\n",
        "i,j,k,l,weight\r\n1,2,1,3,1\r\n0,9,4,0,1\r\n", "1,2,1,3,1\n0,9,4,0,1"}) {
    const Comparisons items = read_comparisons(file(content), {10});
    ASSERT_EQ(items.size(), 2u) << content;
    EXPECT_EQ(items[0].i, 1);
    EXPECT_EQ(items[0].j, 2);
    EXPECT_EQ(items[0].k, 1);
    EXPECT_EQ(items[0].l, 3);
    EXPECT_EQ(items[1].i, 0);
    EXPECT_EQ(items[1].j, 9);
    EXPECT_EQ(items[1].k, 4);
    EXPECT_EQ(items[1].l, 0);
    EXPECT_EQ(items[0].weight, 1);
    EXPECT_EQ(items[1].weight, 1);
  }
  EXPECT_EQ(read_comparisons(file("1,2,1,3,0.25\n"), {10})[0].weight, 0.25);
}

TEST_F(SupervisionFile, ReadsPairs) {
  const Pairs items = read_pairs(file("i,j,s,weight\n0,1,1,2\n3,2,0,0\n"), {10});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].i, 0);
  EXPECT_EQ(items[0].j, 1);
  EXPECT_TRUE(items[0].similar);
  EXPECT_EQ(items[0].weight, 2);
  EXPECT_EQ(items[1].i, 3);
  EXPECT_EQ(items[1].j, 2);
  EXPECT_FALSE(items[1].similar);
  EXPECT_EQ(items[1].weight, 0);
}

TEST_F(SupervisionFile, ReadsTargets) {
  const Targets items = read_targets(file("i,j,value\n0,1,2.5\n3,2,-1e-3\n"), {10});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].i, 0);
  EXPECT_EQ(items[0].j, 1);
  EXPECT_EQ(items[0].value, 2.5);
  EXPECT_EQ(items[1].i, 3);
  EXPECT_EQ(items[1].j, 2);
  EXPECT_EQ(items[1].value, -1e-3);
  EXPECT_EQ(items[1].weight, 1);
}

TEST_F(SupervisionFileBadInput, DetectsRowNumbersOutOfRange) {
  EXPECT_EQ(comparisons_error("i,j,k,l\n1,2,1,3\n1,2,1,10\n"),
            fmt::format("{}: line 3, column l: found 10; allowed: whole row numbers from 0 to 9; all would fit with "
                        "--first-row 1, which counts from 1",
                        directory_ / "f.csv"));
  EXPECT_THAT(comparisons_error("0,2,1,3\n1,2,1,10\n"), EndsWith("whole row numbers from 0 to 9"));
  EXPECT_THAT(comparisons_error("1,-1,1,3\n"), AllOf(HasSubstr("line 1, column j"), HasSubstr("found -1")));
  EXPECT_THAT(comparisons_error("1,2,1.5,3\n"), AllOf(HasSubstr("line 1, column k"), HasSubstr("found 1.5")));
  EXPECT_THAT(comparisons_error("1e300,2,1,3\n"), HasSubstr("line 1, column i"));
  EXPECT_THAT(pairs_error("0,1,1\n0,12,1\n"), HasSubstr("line 2, column j"));
  EXPECT_THAT(targets_error("0,1,1\n12,0,1\n"), HasSubstr("line 2, column i"));
}

TEST_F(SupervisionFileBadInput, DetectsASimilarityThatIsNeitherZeroNorOne) {
  for (const char* bad : {"-1", "2", "0.5"}) {
    EXPECT_THAT(pairs_error(fmt::format("i,j,s\n0,1,{}\n", bad)),
                AllOf(HasSubstr("line 2, column s"), HasSubstr("1 (similar) or 0 (dissimilar)")));
  }
}

TEST_F(SupervisionFileBadInput, DetectsNegativeWeights) {
  EXPECT_THAT(pairs_error("0,1,1,-0.5\n"), AllOf(HasSubstr("line 1, column weight"), HasSubstr("weights >= 0")));
}

TEST_F(SupervisionFileBadInput, DetectsTextNanAndMissingValues) {
  EXPECT_THAT(comparisons_error("i,j,k,l\n1,2,1,3\n1,x,1,3\n"),
              AllOf(HasSubstr("line 3, column j"), HasSubstr("\"x\"")));
  EXPECT_THAT(targets_error("i,j,value\n0,1,nan\n"), HasSubstr("line 2, column value"));
  EXPECT_THAT(targets_error("i,j,value\n0,1,\n"), HasSubstr("line 2, column value"));
  EXPECT_THAT(targets_error("i,j,value\n0,1,1e999\n"), HasSubstr("line 2, column value"));
}

TEST_F(SupervisionFileBadInput, DetectsAnotherNumberOfColumns) {
  EXPECT_THAT(comparisons_error("1,2\n"), HasSubstr("found 2 columns; expected i,j,k,l and perhaps weight"));
  EXPECT_THAT(comparisons_error("1,2,3,4,5,6\n"), HasSubstr("found 6 columns"));
  EXPECT_THAT(pairs_error("1,2\n"), HasSubstr("found 2 columns; expected i,j,s"));
  EXPECT_THAT(targets_error("i,j,value\n1,2\n"), HasSubstr("line 2"));
}

TEST_F(SupervisionFileBadInput, DetectsNamesInAnotherOrder) {
  EXPECT_THAT(comparisons_error("j,i,k,l\n1,2,1,3\n"),
              HasSubstr("line 1: found the columns j,i,k,l; expected i,j,k,l and perhaps weight, in this order"));
  EXPECT_THAT(pairs_error("weight,i,j,s\n1,2,1,1\n"), HasSubstr("found the columns weight,i,j,s"));
  EXPECT_THAT(pairs_error("i,j,s,note\n1,2,1,1\n"), HasSubstr("found the columns i,j,s,note"));
  EXPECT_THAT(pairs_error("a,b,c,note\n1,2,1,1\n"), HasSubstr("found the columns a,b,c,note"));
  EXPECT_THAT(targets_error("I,J,Weight\n1,2,1\n"), HasSubstr("found the columns I,J,Weight"));
}

// Without the check of the header, each of these would be read as something else.
TEST_F(SupervisionFileBadInput, DetectsAFileOfAnotherKind) {
  EXPECT_THAT(comparisons_error("i,j,s,weight\n1,2,1,1\n"),
              HasSubstr("found the columns i,j,s,weight; expected i,j,k,l and perhaps weight, in this order; those are "
                        "the columns of pairs"));
  EXPECT_THAT(comparisons_error("i,j,s\n1,2,1\n"), HasSubstr("found 3 columns i,j,s; expected i,j,k,l"));
  EXPECT_THAT(pairs_error("i,j,value\n1,2,1\n"), HasSubstr("those are the columns of targets"));
  EXPECT_THAT(targets_error("i,j,s\n1,2,1\n"), HasSubstr("those are the columns of pairs"));
  EXPECT_THAT(targets_error("i,j,k,l\n1,2,1,1\n"), HasSubstr("those are the columns of comparisons"));
  EXPECT_THAT(pairs_error("i,j,similar\n1,2,1\n"), HasSubstr("found the columns i,j,similar; expected i,j,s"));
}

TEST_F(SupervisionFile, ReadsTriplets) {
  for (const char* content : {"anchor,near,far\n1,2,3\n0,9,4\n", "1,2,3\n0,9,4\n", "a,b,c\n1,2,3\n0,9,4\n",
                              "Anchor,near,far,weight\n1,2,3,1\n0,9,4,1\n"}) {
    const Comparisons items = read_comparisons(file(content), {10});
    ASSERT_EQ(items.size(), 2u) << content;
    EXPECT_THAT((std::vector{items[0].i, items[0].j, items[0].k, items[0].l}), ElementsAre(1, 2, 1, 3));
    EXPECT_THAT((std::vector{items[1].i, items[1].j, items[1].k, items[1].l}), ElementsAre(0, 9, 0, 4));
    EXPECT_EQ(items[0].weight, 1);
  }
  EXPECT_EQ(read_comparisons(file("anchor,near,far,weight\n1,2,3,0.25\n"), {10})[0].weight, 0.25);
}

TEST_F(SupervisionFileBadInput, DetectsColumnsOfTripletsInAnotherOrder) {
  EXPECT_THAT(comparisons_error("near,anchor,far\n1,2,3\n"),
              HasSubstr("found the columns near,anchor,far; expected anchor,near,far and perhaps weight"));
  EXPECT_THAT(pairs_error("anchor,near,far\n1,2,3\n"), HasSubstr("those are the columns of triplets"));
  EXPECT_THAT(comparisons_error("1,2\n"), HasSubstr("triplets are anchor,near,far"));
  EXPECT_THAT(comparisons_error("1,2,3,0.5\n"),
              HasSubstr("weights of triplets need the header anchor,near,far,weight"));
}

// ---- The first row ----

TEST_F(SupervisionFile, CountsFromOneIfAsked) {
  const RowNames from_one{.rows = 10, .first_row = 1};
  const Pairs items = read_pairs(file("1,10,1\n"), from_one);
  EXPECT_EQ(items[0].i, 0);
  EXPECT_EQ(items[0].j, 9);
  EXPECT_THAT(error_of([&] { read_pairs(file("1,11,1\n"), from_one); }),
              HasSubstr("column j: found 11; allowed: whole row numbers from 1 to 10"));
  EXPECT_THAT(error_of([&] { read_pairs(file("0,1,1\n"), from_one); }),
              HasSubstr("from 1 to 10, since --first-row 1 counts from 1"));
}

TEST_F(SupervisionFile, RemarksThatNoItemNamesRowZero) {
  EXPECT_THAT(notes_of("1,2,1\n", {10}), ElementsAre(HasSubstr("f.csv: no item names row 0; rows are counted from 0 "
                                                               "(--first-row 1 counts from 1")));
  EXPECT_THAT(notes_of("0,2,1\n", {10}), IsEmpty());
  EXPECT_THAT(notes_of("1,2,1\n", {.rows = 10, .first_row = 0}), IsEmpty()) << "it was said";
  EXPECT_THAT(notes_of("1,2,1\n", {.rows = 10, .first_row = 1}), IsEmpty());
}

// ---- Names of rows ----

const RowNames kFruit{.rows = 4, .names = {"apple", "Quince, ripe", "7", "plum"}};

std::string SupervisionFile::names_error(std::string_view content) const {
  return error_of([&] { read_pairs(file(content), kFruit); });
}

TEST_F(SupervisionFile, ReadsNamesOfRows) {
  for (const char* content : {"i,j,s\nplum,\"Quince, ripe\",1\n7,apple,0\n", "plum,\"Quince, ripe\",1\n7,apple,0\n"}) {
    const Pairs items = read_pairs(file(content), kFruit);
    ASSERT_EQ(items.size(), 2u) << content;
    EXPECT_EQ(items[0].i, 3);
    EXPECT_EQ(items[0].j, 1);
    EXPECT_TRUE(items[0].similar);
    EXPECT_EQ(items[1].i, 2) << "the row that is named so";
    EXPECT_EQ(items[1].j, 0);
  }
  const Comparisons triplets = read_comparisons(file("apple,plum,7\n7,plum,apple\n"), kFruit);
  ASSERT_EQ(triplets.size(), 2u) << "the first line has names of rows, so it is no header";
  EXPECT_THAT((std::vector{triplets[0].i, triplets[0].j, triplets[0].k, triplets[0].l}), ElementsAre(0, 3, 0, 2));
  const Comparisons all = read_comparisons(file("apple,plum,apple,7\n"), kFruit);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].l, 2);
  EXPECT_EQ(read_targets(file("i,j,value,weight\napple,plum,2.5,3\n"), kFruit)[0].weight, 3);
  EXPECT_THAT(notes_of("apple,plum,1\n", kFruit), IsEmpty());
}

TEST_F(SupervisionFile, TakesNumbersWhereNoItemIsAName) {
  const Pairs items = read_pairs(file("0,3,1\n1,2,0\n"), kFruit);
  EXPECT_EQ(items[0].j, 3);
  EXPECT_THAT(notes_of("0,3,1\n", kFruit), ElementsAre(HasSubstr("none of its items is the name of a row")));
  EXPECT_THAT(names_error("0,4,1\n"), HasSubstr("column j: found 4; allowed: whole row numbers from 0 to 3"));
}

TEST_F(SupervisionFile, SaysWhatItTakesForAHeaderAmongNames) {
  EXPECT_THAT(notes_of("left,right,alike\napple,plum,1\n", kFruit),
              ElementsAre(HasSubstr("line 1 (left,right,alike) is taken as the header")));
  const RowNames letters{.rows = 4, .names = {"i", "j", "k", "l"}};
  EXPECT_EQ(read_comparisons(file("i,j,k,l\nj,i,k,l\n"), letters).size(), 1u);
  EXPECT_THAT(names_error("i,j,s\n"), HasSubstr("a header line and no rows"));
  EXPECT_THAT(names_error("j,i,s\napple,plum,1\n"), HasSubstr("found the columns j,i,s; expected i,j,s"));
}

TEST_F(SupervisionFileBadInput, DetectsUnknownNames) {
  EXPECT_EQ(names_error("i,j,s\napple,plum,1\nAple,plum,0\n"),
            fmt::format("{}: line 3, column i: found \"Aple\"; allowed: names of rows; did you mean \"apple\"?",
                        directory_ / "f.csv"));
  EXPECT_THAT(names_error("apple,banana,1\n"), EndsWith("line 1, column j: found \"banana\"; allowed: names of rows"));
  EXPECT_THAT(names_error("apple,plum,1\napple,3,1\n"), HasSubstr("line 2, column j: found \"3\"; allowed: names"))
      << "names and numbers are not mixed";
  EXPECT_THAT(names_error("apple,plum,yes\n"), HasSubstr("line 1, column s: found \"yes\"; allowed: a finite number"));
  EXPECT_THAT(pairs_error("i,j,s\napple,plum,1\n"),
              HasSubstr("line 2, column i: found \"apple\"; allowed: a row number; names of rows need --id"));
}

TEST_F(SupervisionFileBadInput, DetectsEmptyAndMissingFiles) {
  EXPECT_THAT(comparisons_error(""), HasSubstr("the file is empty"));
  EXPECT_THAT(comparisons_error("i,j,k,l\n"), HasSubstr("no rows"));
  EXPECT_THAT(error_of([&] { read_pairs(directory_ / "none.csv", {10}); }), HasSubstr("cannot open"));
}

}  // namespace
}  // namespace bregmax
