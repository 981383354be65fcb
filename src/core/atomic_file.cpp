#include "bregmax/core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/checks.hpp"

namespace bregmax {
namespace {

void check_written(bool written, const std::string& path) {
  if (!written) internal::fail("cannot write {}: {}", path, std::generic_category().message(errno));
}

// The permissions of the existing file, or the usual ones of a new file: mkstemp would let only the owner read it.
mode_t permissions_of(const std::string& path) {
  struct stat existing {};
  if (::stat(path.c_str(), &existing) == 0) return existing.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFileWriter::AtomicFileWriter(const std::string& path) : path_(path), temporary_(path + ".XXXXXX") {
  std::error_code error;
  internal::require(!std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error),
                    "cannot write {}: it exists and is not a regular file", path);
  descriptor_ = ::mkstemp(temporary_.data());
  check_written(descriptor_ >= 0, path_);
}

AtomicFileWriter::~AtomicFileWriter() {
  ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFileWriter::write(std::string_view part) {
  while (!part.empty()) {
    const ssize_t written = ::write(descriptor_, part.data(), part.size());
    if (written < 0 && errno == EINTR) continue;
    check_written(written >= 0, path_);
    part.remove_prefix(written);
  }
}

void AtomicFileWriter::commit() {
  check_written(::fchmod(descriptor_, permissions_of(path_)) == 0 && ::fsync(descriptor_) == 0 &&
                    ::rename(temporary_.c_str(), path_.c_str()) == 0,
                path_);
  committed_ = true;
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFileWriter writer(path);
  writer.write(content);
  writer.commit();
}

}  // namespace bregmax
