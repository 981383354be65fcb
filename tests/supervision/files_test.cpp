#include "bregmax/supervision/files.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

class SupervisionFile : public ::testing::Test {
 protected:
  std::string file(std::string_view content) const { return directory_.write("f.csv", content); }
  std::string comparisons_error(std::string_view content) const {
    return error_of([&] { read_comparisons(file(content), 10); });
  }
  std::string pairs_error(std::string_view content) const {
    return error_of([&] { read_pairs(file(content), 10); });
  }
  std::string targets_error(std::string_view content) const {
    return error_of([&] { read_targets(file(content), 10); });
  }
  bregmax::testing::TemporaryDirectory directory_;
};
using SupervisionFileBadInput = SupervisionFile;

TEST_F(SupervisionFile, ReadsComparisonsWithAndWithoutHeaderAndWeight) {
  for (const char* content :
       {"i,j,k,l\n1,2,1,3\n0,9,4,0\n", "1,2,1,3\n0,9,4,0\n", "anchor,near,again,far\n1,2,1,3\n0,9,4,0\n",
        "i,j,k,l,weight\r\n1,2,1,3,1\r\n0,9,4,0,1\r\n", "1,2,1,3,1\n0,9,4,0,1"}) {
    const Comparisons items = read_comparisons(file(content), 10);
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
  EXPECT_EQ(read_comparisons(file("1,2,1,3,0.25\n"), 10)[0].weight, 0.25);
}

TEST_F(SupervisionFile, ReadsPairs) {
  const Pairs items = read_pairs(file("i,j,s,weight\n0,1,1,2\n3,2,0,0\n"), 10);
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
  const Targets items = read_targets(file("i,j,value\n0,1,2.5\n3,2,-1e-3\n"), 10);
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
  EXPECT_EQ(
      comparisons_error("i,j,k,l\n1,2,1,3\n1,2,1,10\n"),
      fmt::format("{}: line 3, column l: found 10; allowed: whole row numbers from 0 to 9", directory_ / "f.csv"));
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
  EXPECT_THAT(comparisons_error("1,2,3\n"), HasSubstr("found 3 columns; expected i,j,k,l and perhaps weight"));
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

TEST_F(SupervisionFileBadInput, DetectsEmptyAndMissingFiles) {
  EXPECT_THAT(comparisons_error(""), HasSubstr("the file is empty"));
  EXPECT_THAT(comparisons_error("i,j,k,l\n"), HasSubstr("no rows"));
  EXPECT_THAT(error_of([&] { read_pairs(directory_ / "none.csv", 10); }), HasSubstr("cannot open"));
}

}  // namespace
}  // namespace bregmax
