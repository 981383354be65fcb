#include "bregmax/data/matrix_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <limits>

#include "bregmax/core/random.hpp"
#include "bregmax/data/table.hpp"
#include "data/csv.hpp"
#include "data/expect_error.hpp"
#include "data/file.hpp"
#include "data/npy.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using internal::parse_npy;
using internal::read_whole_file;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

void write_matrix(const std::string& path, const Matrix& matrix, Index rows_at_once) {
  MatrixWriter writer(path, matrix.rows(), matrix.cols());
  for (Index row = 0; row < matrix.rows(); row += rows_at_once) {
    writer.append(matrix.middleRows(row, std::min(rows_at_once, matrix.rows() - row)));
  }
  writer.commit();
}

// Any bit pattern that is a finite number: tiny, huge, subnormal, negative zero.
Matrix any_matrix() {
  Matrix matrix(*rc::gen::inRange<Index>(1, 8), *rc::gen::inRange<Index>(1, 6));
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (double& value : matrix.reshaped()) {
    do value = std::bit_cast<double>(random.next_bits());
    while (!std::isfinite(value));
  }
  return matrix;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + a.size(), b.data(), [](double x, double y) {
           return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
         });
}

RC_GTEST_PROP(MatrixWriterProperty, WhatIsWrittenIsReadBackExactly, ()) {
  const TemporaryDirectory directory;
  const Matrix matrix = any_matrix();
  for (const char* name : {"m.npy", "m.csv", "M.CSV"}) {
    write_matrix(directory / name, matrix, *rc::gen::inRange<Index>(1, 9));
    RC_ASSERT(same_bits(read_table(directory / name).features, matrix));
  }
}

TEST(MatrixWriter, WritesSeventeenDigitsWithoutAHeader) {
  const TemporaryDirectory directory;
  write_matrix(directory / "m.csv",
               (Matrix(2, 2) << 0.1, -2, 1e100, std::numeric_limits<double>::infinity()).finished(), 1);
  EXPECT_EQ(read_whole_file(directory / "m.csv"), "0.10000000000000001,-2\n1e+100,inf\n");
}

TEST(MatrixWriter, WritesNamesIntoCsv) {
  const TemporaryDirectory directory;
  const MatrixNames names{{"a", "b, c"}, {"\"d\"", "e", " f"}};
  const Matrix matrix = (Matrix(2, 3) << 0, 1, 2, 3, 4, 5).finished();
  for (const char* file : {"m.csv", "m.npy"}) {
    MatrixWriter writer(directory / file, 2, 3, names);
    for (Index row = 0; row < 2; ++row) writer.append(matrix.middleRows(row, 1));
    writer.commit();
  }
  EXPECT_EQ(read_whole_file(directory / "m.csv"), "name,\"\"\"d\"\"\",e,\" f\"\na,0,1,2\n\"b, c\",3,4,5\n");
  const Table read = read_table(directory / "m.csv", {.id = "name"});
  EXPECT_EQ(read.features, matrix);
  EXPECT_THAT(read.names, ElementsAre("a", "b, c"));
  EXPECT_THAT(read.feature_names, ElementsAre("\"d\"", "e", " f"));
  EXPECT_EQ(read_table(directory / "m.npy").features, matrix);
  EXPECT_THAT(error_of([&] { MatrixWriter(directory / "m.csv", 3, 3, names); }),
              HasSubstr("2 and 3 names for 3 rows and 3 columns"));
}

TEST(MatrixWriter, AlignsTheNpyArrayAndWritesMoreThanItsBufferHolds) {
  const TemporaryDirectory directory;
  const Matrix matrix = Matrix::Random(3000, 100);
  write_matrix(directory / "m.npy", matrix, 700);
  const std::string bytes = read_whole_file(directory / "m.npy");
  EXPECT_EQ((bytes.size() - 3000 * 100 * 8) % 64, 0u);
  EXPECT_TRUE(same_bits(parse_npy(bytes, "m.npy"), matrix));
}

TEST(MatrixWriter, WritesRowsOfALargerMatrix) {
  const TemporaryDirectory directory;
  const Matrix matrix = Matrix::Random(4, 5);
  MatrixWriter writer(directory / "m.npy", 4, 2);
  writer.append(matrix.middleCols(1, 2));
  writer.commit();
  EXPECT_EQ(read_table(directory / "m.npy").features, matrix.middleCols(1, 2));
}

TEST(MatrixWriter, LeavesNothingBehindWithoutCommit) {
  const TemporaryDirectory directory;
  directory.write("m.csv", "before");
  {
    MatrixWriter writer(directory / "m.csv", 2, 1);
    writer.append(Matrix::Ones(2, 1));
  }
  EXPECT_EQ(read_whole_file(directory / "m.csv"), "before");
  EXPECT_EQ(directory.files(), 1u);
}

TEST(MatrixWriter, GivesTheOrdinaryPermissions) {
  const TemporaryDirectory directory;
  const mode_t mask = ::umask(022);
  write_matrix(directory / "m.csv", Matrix::Ones(1, 1), 1);
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat((directory / "m.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(MatrixWriterBadInput, DetectsAnUnknownEnding) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { MatrixWriter(directory / "m.txt", 1, 1); }), HasSubstr("must end with .npy or .csv"));
  EXPECT_THAT(error_of([&] { MatrixWriter(directory / "m", 1, 1); }), HasSubstr("must end with .npy or .csv"));
  EXPECT_EQ(directory.files(), 0u);
}

TEST(MatrixWriterBadInput, DetectsPlacesThatCannotBeWritten) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { MatrixWriter(directory / "none/m.csv", 1, 1); }), HasSubstr("No such file or directory"));
  std::filesystem::create_directory(directory / "d.csv");
  EXPECT_THAT(error_of([&] { MatrixWriter(directory / "d.csv", 1, 1); }), HasSubstr("not a regular file"));
}

TEST(MatrixWriterBadInput, DetectsWrongSizes) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { MatrixWriter(directory / "m.csv", 0, 1); }), HasSubstr("0 x 1"));
  MatrixWriter writer(directory / "m.csv", 2, 2);
  EXPECT_THAT(error_of([&] { writer.append(Matrix::Ones(1, 3)); }), HasSubstr("1 x 3"));
  EXPECT_THAT(error_of([&] { writer.append(Matrix::Ones(3, 2)); }), HasSubstr("3 x 2"));
  writer.append(Matrix::Ones(1, 2));
  EXPECT_THAT(error_of([&] { writer.commit(); }), HasSubstr("got 1 rows; expected 2"));
}

}  // namespace
}  // namespace bregmax
