#include "data/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(fmt::format("cannot open {}: {}", path, std::generic_category().message(errno)));
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::string read_whole_file(const std::string& path) {
  if (path.empty()) throw Error("the name of the file to read is empty");
  const OpenFile file(path);
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) {
    throw Error(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw Error(fmt::format("cannot read {}: it is a directory; expected a file", path));

  // The size is only a first guess: a pipe says 0, and a file may grow.
  constexpr std::size_t kSmallest = 1 << 16;
  std::string content(std::max(kSmallest, static_cast<std::size_t>(status.st_size) + 1), '\0');
  std::size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(2 * content.size());
    const ssize_t got = ::read(file.descriptor(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  content.resize(used);
  return content;
}

}  // namespace bregmax
