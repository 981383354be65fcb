#include "bregmax/core/atomic_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST(AtomicFile, WritesAndReplacesWholeFiles) {
  const TemporaryDirectory directory;
  const std::string content("a\0b\n", 4);
  write_file_atomically(directory / "f", content);
  EXPECT_EQ(content_of(directory / "f"), content);
  write_file_atomically(directory / "f", "");
  EXPECT_EQ(content_of(directory / "f"), "");
  EXPECT_EQ(directory.files(), 1u) << "no temporary file is left";
}

TEST(AtomicFile, GivesOrdinaryPermissionsAndKeepsThoseOfAnExistingFile) {
  const TemporaryDirectory directory;
  const mode_t mask = ::umask(022);
  write_file_atomically(directory / "f", "x");
  ::umask(mask);
  EXPECT_EQ(mode_of(directory / "f"), 0644u);
  ASSERT_EQ(::chmod((directory / "f").c_str(), 0600), 0);
  write_file_atomically(directory / "f", "y");
  EXPECT_EQ(mode_of(directory / "f"), 0600u);
}

TEST(AtomicFile, KeepsTheContentOfAPrivateFilePrivateWhileItIsWritten) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "f", "x");
  ASSERT_EQ(::chmod((directory / "f").c_str(), 0400), 0);
  AtomicFileWriter writer(directory / "f"), other(directory / "f");
  writer.write("secret");
  EXPECT_EQ(directory.files(), 3u) << "two writers of one file have a temporary file each";
  for (const auto& file : std::filesystem::directory_iterator(directory / "")) {
    EXPECT_EQ(mode_of(file.path().string()) & 0077, 0u) << file.path();
  }
  writer.commit();
  EXPECT_EQ(mode_of(directory / "f"), 0400u);
  EXPECT_EQ(content_of(directory / "f"), "secret");
}

TEST(AtomicFileBadInput, DetectsPlacesThatCannotBeWritten) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { write_file_atomically(directory / "none/f", "x"); }),
              HasSubstr("No such file or directory"));
  std::filesystem::create_directory(directory / "d");
  EXPECT_THAT(error_of([&] { write_file_atomically(directory / "d", "x"); }), HasSubstr("not a regular file"));
  EXPECT_EQ(directory.files(), 1u);
}

}  // namespace
}  // namespace bregmax
