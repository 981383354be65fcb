#include "bregmax/core/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& path, int error) {
  throw Error(fmt::format("cannot write {}: {}", path.string(), std::generic_category().message(error)));
}

}  // namespace

// The temporary file; removed unless it was renamed into place.
class AtomicFileWriter::TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : name_(target.string() + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) fail_to_write(target, errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!kept_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  // mkstemp makes files that only the owner can read; an output file gets the permissions that it had, or the
  // ordinary ones.
  bool finish(const std::filesystem::path& target) {
    struct stat existing {};
    mode_t mode = 0;
    if (::stat(target.c_str(), &existing) == 0) {
      mode = existing.st_mode & 07777;
    } else {
      const mode_t mask = ::umask(0);
      ::umask(mask);
      mode = 0666 & ~mask;
    }
    if (::fchmod(descriptor_, mode) != 0 || ::fsync(descriptor_) != 0) return false;
    if (::rename(name_.c_str(), target.c_str()) != 0) return false;
    kept_ = true;
    return true;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool kept_ = false;
};

AtomicFileWriter::AtomicFileWriter(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw Error(fmt::format("cannot write {}: it exists and is not a regular file", path.string()));
  }
  file_ = std::make_unique<TemporaryFile>(path);
}

AtomicFileWriter::~AtomicFileWriter() = default;

void AtomicFileWriter::write(std::string_view part) {
  if (!file_->write(part)) fail_to_write(path_, errno);
}

void AtomicFileWriter::commit() {
  if (!file_->finish(path_)) fail_to_write(path_, errno);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFileWriter writer(path);
  writer.write(content);
  writer.commit();
}

}  // namespace bregmax
