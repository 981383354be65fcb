#include "bregmax/data/matrix_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/error.hpp"
#include "data/npy.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

std::string npy_preamble(Index rows, Index cols) {
  const std::string_view descr = std::endian::native == std::endian::little ? "<f8" : ">f8";
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", descr, rows, cols);
  // The array begins at a multiple of 64 bytes, so that it can be mapped into memory.
  constexpr std::size_t kFixedBytes = 10, kAlignment = 64;
  const std::size_t unpadded = kFixedBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string preamble(kNpyMagic);
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
  Implementation(const std::string& name, Index total_rows, Index columns)
      : path(name), npy(wants_npy(name)), rows(total_rows), cols(columns), file(name) {}

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

  std::string path;
  bool npy;
  Index rows, cols;
  Index rows_written = 0;
  bool committed = false;
  AtomicFileWriter file;
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
                            self.path, rows.rows(), rows.cols(), self.rows_written, self.rows, self.cols));
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
    throw Error(fmt::format("cannot write {}: got {} rows; expected {}", self.path, self.rows_written, self.rows));
  }
  self.flush();
  self.file.commit();
  self.committed = true;
}

}  // namespace bregmax
