#pragma once

#include <string>
#include <string_view>

namespace bregmax {

// Writes the whole file or leaves the old one: a temporary file next to it is written, flushed to disk and renamed.
void write_file_atomically(const std::string& path, std::string_view content);

// The same in parts, for content that should not be in memory twice: nothing changes until `commit`.
class AtomicFileWriter {
 public:
  explicit AtomicFileWriter(const std::string& path);
  ~AtomicFileWriter();
  AtomicFileWriter(const AtomicFileWriter&) = delete;
  AtomicFileWriter& operator=(const AtomicFileWriter&) = delete;

  void write(std::string_view part);
  void commit();

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace bregmax
