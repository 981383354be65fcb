#pragma once

#include <string>
#include <vector>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/matrix.hpp"

namespace bregmax {

// What the rows and columns of a matrix are called: one for each, or all empty.
struct MatrixNames {
  std::vector<std::string> rows, columns;

  bool empty() const { return rows.empty(); }
  std::string header() const;              // "name,plum,pear" with a line end; without names empty
  std::string row_field(Index row) const;  // "plum,"; without names empty
};

// Writes a matrix row block by row block, whole or not at all: the file appears under its name at commit().
// .npy (float64, C order) or .csv (17 digits) by the ending of the name. A .csv with names has a header and a first
// column of them, and else neither.
class MatrixWriter {
 public:
  MatrixWriter(const std::string& path, Index rows, Index cols, MatrixNames names = {});

  void append(const MatrixView& rows);
  void commit();

 private:
  std::string path_;
  Index rows_, cols_, rows_written_ = 0;
  MatrixNames names_;
  bool npy_, committed_ = false;
  AtomicFileWriter file_;
  std::string buffer_;
};

}  // namespace bregmax
