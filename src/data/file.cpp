#include "data/file.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/checks.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

constexpr std::string_view kPacked = ".gz";

// A quarter of the memory, since a growing text is copied and a table is made of it.
std::size_t largest_content() {
  const auto pages = static_cast<std::size_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L << 16));
  return pages * static_cast<std::size_t>(std::max(::sysconf(_SC_PAGESIZE), 1L << 12)) / 4;
}

// read(where, how many at most) gives how many bytes came, 0 at the end. `guess` is the expected size.
template <class Read>
std::string read_all(const std::string& name, std::size_t guess, const Read& read) {
  const std::size_t limit = largest_content();
  std::string content(std::min(guess, limit) + 1, '\0');
  std::size_t used = 0;
  while (const std::size_t got = read(content.data() + used, content.size() - used)) {
    used += got;
    if (used < content.size()) continue;
    require(used <= limit, "cannot read {}: found more than {} bytes, a quarter of the machine's memory", name, limit);
    content.resize(std::min(2 * used, limit + 1));
  }
  content.resize(used);
  return content;
}

std::string read_stream(std::FILE* file, const std::string& name, std::size_t guess) {
  std::string content =
      read_all(name, guess, [&](char* where, std::size_t most) { return std::fread(where, 1, most, file); });
  if (std::ferror(file) != 0) fail("cannot read {}: {}", name, std::generic_category().message(errno));
  return content;
}

std::string read_packed(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rbe"), gzclose);
  if (!file) fail("cannot open {}: {}", path, std::generic_category().message(errno));
  constexpr std::size_t kFirst = 1 << 16, kMost = 1 << 30;
  const auto read = [&](char* where, std::size_t most) -> std::size_t {
    const int got = gzread(file.get(), where, static_cast<unsigned>(std::min(most, kMost)));
    int error = Z_OK;
    const char* reason = gzerror(file.get(), &error);
    // A file that ends early is reported with the last bytes that it gave.
    require(got >= 0 && (error == Z_OK || error == Z_STREAM_END), "cannot read {}: it is not a whole gzip file ({})",
            path, error == Z_ERRNO ? "the system cannot read it" : reason);
    require(got == 0 || gzdirect(file.get()) == 0, "cannot read {}: it is not a gzip file, as its name says", path);
    return static_cast<std::size_t>(got);
  };
  return read_all(path, kFirst, read);
}

}  // namespace

std::string unpacked_name(const std::string& path) {
  const bool packed = lower_case(path).ends_with(kPacked);
  return packed ? path.substr(0, path.size() - kPacked.size()) : path;
}

std::string read_whole_file(const std::string& path) {
  require(!path.empty(), "the name of the file to read is empty");
  if (path == "-") {
    std::string content = read_stream(stdin, "standard input", 1 << 16);
    require(!content.empty(), "standard input is empty; - stands for it, and can be given once");
    return content;
  }
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "cannot read {}: it is a directory; expected a file", path);
  if (unpacked_name(path) != path) return read_packed(path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) fail("cannot open {}: {}", path, std::generic_category().message(errno));
  // The size is only a first guess: a pipe has none, and a file may grow.
  const auto size = std::filesystem::file_size(path, ignored);
  return read_stream(file.get(), path, ignored ? 1 << 16 : size);
}

}  // namespace bregmax::internal
