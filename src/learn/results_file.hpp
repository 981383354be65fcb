#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace bregmax {

// What a file of results holds.
struct ResultsFormat {
  std::string title;                // what is measured, without commas and semicolons
  std::vector<std::string> keys;    // columns that name a run; the last is its number
  std::vector<std::string> values;  // columns of numbers
  std::uint64_t seed = 0;
  // false: a record is with the operating system when append() returns, but perhaps not yet on the disk. Then a kill
  // loses nothing, a power cut may; for results that are cheap and many.
  bool to_disk = true;
};

struct ResultsRecord {
  std::vector<std::string> key;  // none has a comma or a line end
  std::vector<double> values;
  std::string note;  // free text without line ends; commas become semicolons

  bool operator==(const ResultsRecord&) const = default;
};

using Records = std::map<std::vector<std::string>, ResultsRecord>;  // by key

// An append-only file of finished runs, one line each: a process that is killed loses only the run under way. It may
// leave an incomplete last line, which is dropped when the file is opened.
class ResultsFile {
 public:
  // What is done with results of another title or seed. They may be of no use any more, and are then dropped.
  enum class Others { kRefuse, kDrop };

  // Makes the file, or continues one of the same format and seed. Throws Error when it holds something else, when
  // another process has it open, or when it cannot be written.
  ResultsFile(std::string path, ResultsFormat format, Others others = Others::kRefuse);

  bool contains(const std::vector<std::string>& key) const;
  // The record is written when this returns. May be called from several threads.
  void append(const ResultsRecord& record);

 private:
  std::string path_;
  ResultsFormat format_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  mutable std::mutex mutex_;
  std::set<std::vector<std::string>> keys_;
};

// The line that a file of this format begins with.
std::string first_line_of(const ResultsFormat& format);

// Reads a file without locking or changing it; an incomplete last line is left out, and of several records with the
// same key all but the last. Throws Error when the file is missing or of another format or seed.
Records read_results(const std::string& path, const ResultsFormat& format);

}  // namespace bregmax
