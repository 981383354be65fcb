#include "bregmax/data/matrix_writer.hpp"

#include <bit>
#include <utility>

#include "core/checks.hpp"
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
  std::string preamble(internal::kNpyMagic);
  preamble += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return preamble + dictionary;
}

bool wants_npy(const std::string& path, Index rows, Index cols) {
  internal::require(rows >= 1 && cols >= 1, "cannot write {}: the matrix is {} x {}; allowed: at least 1 x 1", path,
                    rows, cols);
  const std::string lower = internal::lower_case(path);
  internal::require(lower.ends_with(".npy") || lower.ends_with(".csv"),
                    "cannot write {}: the name must end with .npy or .csv", path);
  return lower.ends_with(".npy");
}

}  // namespace

std::string MatrixNames::header() const {
  if (empty()) return "";
  std::string line = "name";
  for (const std::string& column : columns) line += fmt::format(",{}", internal::csv_field(column));
  return line + "\n";
}

std::string MatrixNames::row_field(Index row) const {
  return empty() ? "" : fmt::format("{},", internal::csv_field(rows[row]));
}

MatrixWriter::MatrixWriter(const std::string& path, Index rows, Index cols, MatrixNames names)
    : path_(path), rows_(rows), cols_(cols), names_(std::move(names)), npy_(wants_npy(path, rows, cols)), file_(path) {
  const bool fit = std::ssize(names_.rows) == rows && std::ssize(names_.columns) == cols;
  internal::require(names_.empty() || fit, "cannot write {}: there are {} and {} names for {} rows and {} columns",
                    path, names_.rows.size(), names_.columns.size(), rows, cols);
  buffer_ = npy_ ? npy_preamble(rows, cols) : names_.header();
}

void MatrixWriter::append(const MatrixView& rows) {
  internal::require(rows.cols() == cols_ && rows.rows() <= rows_ - rows_written_,
                    "cannot write {}: got {} x {} more values after {} rows; expected {} x {} in all", path_,
                    rows.rows(), rows.cols(), rows_written_, rows_, cols_);
  for (Index r = 0; r < rows.rows(); ++r) {
    const double* row = rows.data() + r * rows.outerStride();
    if (npy_) {
      buffer_.append(reinterpret_cast<const char*>(row), cols_ * sizeof(double));
    } else {
      buffer_ += names_.row_field(rows_written_ + r);
      internal::append_csv_row(buffer_, {row, static_cast<std::size_t>(cols_)});
    }
    if (buffer_.size() < kBufferBytes) continue;
    file_.write(buffer_);
    buffer_.clear();
  }
  rows_written_ += rows.rows();
}

void MatrixWriter::commit() {
  if (committed_) return;
  internal::require(rows_written_ == rows_, "cannot write {}: got {} rows; expected {}", path_, rows_written_, rows_);
  file_.write(buffer_);
  file_.commit();
  committed_ = true;
}

}  // namespace bregmax
