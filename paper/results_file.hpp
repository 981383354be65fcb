#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace bregmax {

// What a file of results is about: everything in it was computed with these.
struct ResultsFormat {
  std::string title;                // what is measured, without commas and semicolons
  std::vector<std::string> keys;    // columns that name a run
  std::vector<std::string> values;  // columns of numbers
  std::uint64_t seed = 0;
};

struct ResultsRecord {
  std::vector<std::string> key;  // none has a comma or a line end
  std::vector<double> values;
  std::string note;  // free text without line ends; commas become semicolons

  bool operator==(const ResultsRecord&) const = default;
};

// An append-only file of finished runs, one line each, so that a process that is killed loses the run under way and
// nothing else. A last line without its end, which a killed process may leave, is dropped when the file is opened.
class ResultsFile {
 public:
  // Makes the file, or continues one of the same format and seed. Throws Error when it holds something else, when
  // another process has it open, or when it cannot be written.
  ResultsFile(std::string path, ResultsFormat format);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  // The records that are there, by key; of equal keys the first.
  std::map<std::vector<std::string>, ResultsRecord> records() const;
  bool contains(const std::vector<std::string>& key) const;
  // Whole or not at all, and on the disk when it returns. May be called from several threads.
  void append(const ResultsRecord& record);

 private:
  std::string path_;
  ResultsFormat format_;
  int descriptor_ = -1;
  mutable std::mutex mutex_;
  std::map<std::vector<std::string>, ResultsRecord> records_;
};

// Reads without the wish to continue; a torn last line is left out. Throws Error when the file is missing or of another
// format or seed.
std::map<std::vector<std::string>, ResultsRecord> read_results(const std::string& path, const ResultsFormat& format);
// The seed that a file was made with. Throws Error where there is none.
std::uint64_t seed_of_results(const std::string& path);

}  // namespace bregmax
