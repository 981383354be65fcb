#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "bregmax/core/error.hpp"
#include "bregmax/data/npy.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

// A file that grows piece by piece under a temporary name beside the final one, and is removed unless it is published.
// (core/atomic_file.hpp does the same for content that is already whole.)
class GrowingFile {
 public:
  explicit GrowingFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
    std::error_code ignored;
    if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored)) {
      throw Error(fmt::format("cannot write {}: it exists and is not a regular file", path_));
    }
    descriptor_ = ::mkstemp(temporary_.data());
    if (descriptor_ < 0) fail();
  }
  ~GrowingFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!published_) ::unlink(temporary_.c_str());
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void publish() {
    if (::fchmod(descriptor_, final_mode()) != 0 || ::fsync(descriptor_) != 0) fail();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    published_ = true;
  }

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail() const {
    throw Error(fmt::format("cannot write {}: {}", path_, std::generic_category().message(errno)));
  }

  // The permissions that the file had, or the ordinary ones; mkstemp gives only the owner access.
  mode_t final_mode() const {
    struct stat existing {};
    if (::stat(path_.c_str(), &existing) == 0) return existing.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
  }

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  bool published_ = false;
};

std::string npy_preamble(Index rows, Index cols) {
  const std::string_view descr = std::endian::native == std::endian::little ? "<f8" : ">f8";
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", descr, rows, cols);
  // The array begins at a multiple of 64 bytes, so that it can be mapped into memory.
  constexpr std::size_t kFixedBytes = 10, kAlignment = 64;
  const std::size_t unpadded = kFixedBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string preamble = "\x93NUMPY";
  preamble += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return preamble + dictionary;
}

bool wants_npy(const std::string& path) {
  const std::string lower = internal::lower_case(path);
  if (lower.ends_with(".npy")) return true;
  if (lower.ends_with(".csv")) return false;
  throw Error(fmt::format("cannot write {}: the name must end with .npy or .csv", path));
}

}  // namespace

struct MatrixWriter::Implementation {
  Implementation(const std::string& path, Index total_rows, Index columns)
      : npy(wants_npy(path)), rows(total_rows), cols(columns), file(path) {}

  void append_csv_row(const double* row) {
    constexpr int kDigits = 17;           // enough for a double to survive exactly
    constexpr std::size_t kLongest = 32;  // of a number with 17 digits, sign, point and exponent
    for (Index c = 0; c < cols; ++c) {
      char number[kLongest];
      const auto [end, error] = std::to_chars(number, number + kLongest, row[c], std::chars_format::general, kDigits);
      buffer.append(number, end);
      buffer += c + 1 < cols ? ',' : '\n';
    }
  }

  void flush() {
    file.write(buffer);
    buffer.clear();
  }

  bool npy;
  Index rows, cols;
  Index rows_written = 0;
  bool committed = false;
  GrowingFile file;
  std::string buffer;
};

MatrixWriter::MatrixWriter(const std::string& path, Index rows, Index cols) {
  if (rows < 1 || cols < 1) {
    throw Error(fmt::format("cannot write {}: the matrix is {} x {}; allowed: at least 1 x 1", path, rows, cols));
  }
  implementation_ = std::make_unique<Implementation>(path, rows, cols);
  if (implementation_->npy) implementation_->buffer = npy_preamble(rows, cols);
}

MatrixWriter::~MatrixWriter() = default;

void MatrixWriter::append(const MatrixView& rows) {
  Implementation& self = *implementation_;
  if (rows.cols() != self.cols || rows.rows() > self.rows - self.rows_written) {
    throw Error(fmt::format("cannot write {}: got {} x {} more values after {} rows; expected {} x {} in all",
                            self.file.path(), rows.rows(), rows.cols(), self.rows_written, self.rows, self.cols));
  }
  for (Index r = 0; r < rows.rows(); ++r) {
    const double* row = rows.data() + r * rows.outerStride();
    if (self.npy) {
      self.buffer.append(reinterpret_cast<const char*>(row), static_cast<std::size_t>(self.cols) * sizeof(double));
    } else {
      self.append_csv_row(row);
    }
    if (self.buffer.size() >= kBufferBytes) self.flush();
  }
  self.rows_written += rows.rows();
}

void MatrixWriter::commit() {
  Implementation& self = *implementation_;
  if (self.committed) return;
  if (self.rows_written != self.rows) {
    throw Error(
        fmt::format("cannot write {}: got {} rows; expected {}", self.file.path(), self.rows_written, self.rows));
  }
  self.flush();
  self.file.publish();
  self.committed = true;
}

}  // namespace bregmax
