#include "bregmax/core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/checks.hpp"

namespace bregmax {
namespace {

void check_written(bool written, const std::string& path) {
  if (!written) internal::fail("cannot write {}: {}", path, std::generic_category().message(errno));
}

std::optional<mode_t> permissions_of(const std::string& path) {
  struct stat existing {};
  if (::stat(path.c_str(), &existing) != 0) return std::nullopt;
  return existing.st_mode & 07777;
}

// Creates a file with an unused name that begins with `path`. mkstemp would let only the owner read it.
int create_beside(const std::string& path, mode_t mode, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = fmt::format("{}.{}-{}", path, ::getpid(), attempt);
    const int descriptor = ::open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

}  // namespace

// The file gets the permissions of the one that it replaces; nobody else may read it before.
AtomicFileWriter::AtomicFileWriter(const std::string& path) : path_(path) {
  std::error_code error;
  internal::require(!std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error),
                    "cannot write {}: it exists and is not a regular file", path);
  descriptor_ = create_beside(path, permissions_of(path) ? 0600 : 0666, temporary_);
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
  const auto permissions = permissions_of(path_);
  check_written(!permissions || ::fchmod(descriptor_, *permissions) == 0, path_);
  check_written(::fsync(descriptor_) == 0 && ::rename(temporary_.c_str(), path_.c_str()) == 0, path_);
  committed_ = true;
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFileWriter writer(path);
  writer.write(content);
  writer.commit();
}

}  // namespace bregmax
