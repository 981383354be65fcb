#include "data/file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/checks.hpp"

namespace bregmax::internal {

std::string read_whole_file(const std::string& path) {
  require(!path.empty(), "the name of the file to read is empty");
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "cannot read {}: it is a directory; expected a file", path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) fail("cannot open {}: {}", path, std::generic_category().message(errno));
  // The size is only a first guess: a pipe has none, and a file may grow.
  const auto size = std::filesystem::file_size(path, ignored);
  std::string content(ignored ? 1 << 16 : size + 1, '\0');
  std::size_t used = 0;
  while (const std::size_t got = std::fread(content.data() + used, 1, content.size() - used, file.get())) {
    used += got;
    if (used == content.size()) content.resize(2 * content.size());
  }
  if (std::ferror(file.get()) != 0) fail("cannot read {}: {}", path, std::generic_category().message(errno));
  content.resize(used);
  return content;
}

}  // namespace bregmax::internal
