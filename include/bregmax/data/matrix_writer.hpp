#pragma once

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/matrix.hpp"

namespace bregmax {

// Writes a matrix row block by row block, whole or not at all: the file appears under its name at commit().
// .npy (float64, C order) or header-less .csv (17 digits) by the ending of the name.
class MatrixWriter {
 public:
  MatrixWriter(const std::string& path, Index rows, Index cols);

  void append(const MatrixView& rows);
  void commit();

 private:
  std::string path_;
  Index rows_, cols_, rows_written_ = 0;
  bool npy_, committed_ = false;
  AtomicFileWriter file_;
  std::string buffer_;
};

}  // namespace bregmax
