#pragma once

#include <memory>
#include <string>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// Writes a matrix row block by row block, whole or not at all: the file appears under its name at commit().
// .npy (float64, C order) or header-less .csv (17 digits) by the ending of the name.
class MatrixWriter {
 public:
  MatrixWriter(const std::string& path, Index rows, Index cols);
  ~MatrixWriter();
  MatrixWriter(const MatrixWriter&) = delete;
  MatrixWriter& operator=(const MatrixWriter&) = delete;

  void append(const MatrixView& rows);
  void commit();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bregmax
