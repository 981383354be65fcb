#include "data/npy.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "data/expect_error.hpp"

namespace bregmax {
namespace {

using internal::parse_npy;
using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i) bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  return bytes + dictionary + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran_order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}   \n", descr, fortran_order, shape);
}

template <class Number>
std::string data_of(std::initializer_list<Number> numbers, bool swap = false) {
  std::string data;
  for (const Number number : numbers) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    if (swap) std::reverse(bytes.begin(), bytes.end());
    data += bytes;
  }
  return data;
}

std::string parse_error(const std::string& bytes) {
  return error_of([&] { parse_npy(bytes, "f.npy"); });
}

const Matrix kMatrix = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6.5).finished();

TEST(Npy, ReadsBothOrdersSizesAndByteOrders) {
  const auto c_double = data_of<double>({1, 2, 3, 4, 5, 6.5});
  EXPECT_EQ(parse_npy(npy(header("<f8", "(2, 3)"), c_double), "f.npy"), kMatrix);
  EXPECT_EQ(parse_npy(npy(header(">f8", "(2, 3)"), data_of<double>({1, 2, 3, 4, 5, 6.5}, true)), "f.npy"), kMatrix);
  EXPECT_EQ(parse_npy(npy(header("<f4", "(2, 3)"), data_of<float>({1, 2, 3, 4, 5, 6.5f})), "f.npy"), kMatrix);
  EXPECT_EQ(parse_npy(npy(header(">f4", "(2, 3)"), data_of<float>({1, 2, 3, 4, 5, 6.5f}, true)), "f.npy"), kMatrix);
  EXPECT_EQ(parse_npy(npy(header("<f8", "(2, 3)", "True"), data_of<double>({1, 4, 2, 5, 3, 6.5})), "f.npy"), kMatrix);
  EXPECT_EQ(parse_npy(npy(header(">f4", "(2, 3)", "True"), data_of<float>({1, 4, 2, 5, 3, 6.5f}, true)), "f.npy"),
            kMatrix);
}

TEST(Npy, ReadsVersionsOneToThreeAndOtherSpellingsOfTheHeader) {
  const auto data = data_of<double>({1, 2, 3, 4, 5, 6.5});
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(parse_npy(npy(header("<f8", "(2, 3)"), data, version), "f.npy"), kMatrix) << version;
  }
  EXPECT_EQ(parse_npy(npy("{\"shape\":(2L,3L,),'fortran_order':False,'descr':'<f8'}", data), "f.npy"), kMatrix);
}

TEST(Npy, ReadsIntegersAndBool) {
  const Matrix expected = (Matrix(1, 3) << 1, -2, 100).finished();
  EXPECT_EQ(parse_npy(npy(header("<i8", "(1, 3)"), data_of<std::int64_t>({1, -2, 100})), "f.npy"), expected);
  EXPECT_EQ(parse_npy(npy(header(">i8", "(1, 3)"), data_of<std::int64_t>({1, -2, 100}, true)), "f.npy"), expected);
  EXPECT_EQ(parse_npy(npy(header("<i4", "(1, 3)"), data_of<std::int32_t>({1, -2, 100})), "f.npy"), expected);
  EXPECT_EQ(parse_npy(npy(header(">i2", "(1, 3)"), data_of<std::int16_t>({1, -2, 100}, true)), "f.npy"), expected);
  EXPECT_EQ(parse_npy(npy(header("|i1", "(1, 3)"), data_of<std::int8_t>({1, -2, 100})), "f.npy"), expected);
  const Matrix positive = (Matrix(1, 2) << 200, 0).finished();
  EXPECT_EQ(parse_npy(npy(header("|u1", "(1, 2)"), data_of<std::uint8_t>({200, 0})), "f.npy"), positive);
  EXPECT_EQ(parse_npy(npy(header("<u2", "(1, 2)"), data_of<std::uint16_t>({200, 0})), "f.npy"), positive);
  EXPECT_EQ(parse_npy(npy(header("<u4", "(1, 2)"), data_of<std::uint32_t>({200, 0})), "f.npy"), positive);
  EXPECT_EQ(parse_npy(npy(header("<u8", "(1, 2)"), data_of<std::uint64_t>({200, 0})), "f.npy"), positive);
  EXPECT_EQ(parse_npy(npy(header("|b1", "(1, 2)"), data_of<std::uint8_t>({1, 0})), "f.npy"),
            (Matrix(1, 2) << 1, 0).finished());
}

TEST(NpyBadInput, DetectsIntegersThatDoublesRound) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_THAT(parse_error(npy(header("<i8", "(1, 2)"), data_of<std::int64_t>({1, large}))),
              AllOf(HasSubstr("row 0, column 1"), HasSubstr("2^53")));
}

TEST(NpyBadInput, DetectsOtherTypes) {
  EXPECT_THAT(parse_error(npy(header("<c8", "(1, 1)"), std::string(8, '\0'))),
              AllOf(HasSubstr("f.npy"), HasSubstr("\"<c8\""), HasSubstr("float32, float64, integers")));
  EXPECT_THAT(parse_error(npy(header("|i4", "(1, 1)"), std::string(4, '\0'))), HasSubstr("\"|i4\""));
  EXPECT_THAT(parse_error(npy(header("|O", "(1, 1)"), "x")), HasSubstr("\"|O\""));
  EXPECT_THAT(parse_error(npy(header("<f2", "(1, 1)"), "xx")), HasSubstr("<f2"));
  EXPECT_THAT(parse_error(npy("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1, 1), }", "x")),
              HasSubstr("structured array"));
}

TEST(NpyBadInput, DetectsOtherDimensionsAndEmptyArrays) {
  EXPECT_THAT(parse_error(npy(header("<f8", "()"), std::string(8, '\0'))), HasSubstr("0-dimensional"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(1,)"), std::string(8, '\0'))), HasSubstr("1-dimensional"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(1, 1, 1)"), std::string(8, '\0'))), HasSubstr("3-dimensional"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(0, 4)"), "")), HasSubstr("empty array"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(4, 0)"), "")), HasSubstr("empty array"));
}

TEST(NpyBadInput, DetectsTruncationAtEveryByte) {
  const std::string whole = npy(header("<f8", "(2, 3)"), data_of<double>({1, 2, 3, 4, 5, 6.5}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_npy(whole.substr(0, length), "f.npy"), Error) << length;
  }
  EXPECT_THAT(parse_error(whole.substr(0, whole.size() - 1)), HasSubstr("truncated .npy file: found 47 bytes"));
  EXPECT_THAT(parse_error(whole + "x"), HasSubstr("goes on after its array"));
}

TEST(NpyBadInput, DetectsShapesThatOverflow) {
  for (const char* shape : {"(4611686018427387904, 2)", "(9223372036854775807, 9223372036854775807)",
                            "(2305843009213693952, 1)", "(1, 1000000000000)"}) {
    EXPECT_THAT(parse_error(npy(header("<f8", shape), std::string(16, '\0'))), HasSubstr("truncated")) << shape;
  }
  EXPECT_THAT(parse_error(npy(header("<f8", "(99999999999999999999, 1)"), "x")), HasSubstr("63 bits"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(-1, 1)"), "x")), HasSubstr("'shape'"));
}

TEST(NpyBadInput, DetectsForeignFilesAndVersions) {
  EXPECT_THAT(parse_error("1,2\n3,4\n"), HasSubstr("not an .npy file"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(1, 1)"), std::string(8, '\0'), 4)), HasSubstr("version 4.0"));
  EXPECT_THAT(parse_error(npy(header("<f8", "(1, 1)"), std::string(8, '\0'), 0)), HasSubstr("version 0.0"));
}

TEST(NpyBadInput, DetectsMalformedHeaders) {
  for (const char* dictionary :
       {"", "{", "}", "{}", "[]", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1, 1)}", "{'descr': '<f8, 'fortran_order': False}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (1, 1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), 'more': '1'}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)} more",
        "{'descr': 5, 'fortran_order': False, 'shape': (1, 1)}"}) {
    EXPECT_THAT(parse_error(npy(dictionary, std::string(8, '\0'))), HasSubstr("malformed .npy header")) << dictionary;
  }
}

}  // namespace
}  // namespace bregmax
