#include "paper/results_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

using Records = std::map<std::vector<std::string>, ResultsRecord>;

constexpr std::string_view kMark = "# bregmax results 1; seed ";

std::string first_line(const ResultsFormat& format) {
  return fmt::format("{}{}; {}", kMark, format.seed, format.title);
}

std::string second_line(const ResultsFormat& format) {
  return fmt::format("{},{},note", fmt::join(format.keys, ","), fmt::join(format.values, ","));
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

bool read_double(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

ResultsRecord parse_line(const std::string& line, const ResultsFormat& format, const std::string& where) {
  const std::vector<std::string> fields = fields_of(line);
  const std::size_t keys = format.keys.size(), values = format.values.size();
  if (fields.size() != keys + values + 1) {
    throw Error(fmt::format("{}: there are {} fields; allowed: {}", where, fields.size(), keys + values + 1));
  }
  ResultsRecord record;
  record.key.assign(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(keys));
  for (std::size_t v = 0; v < values; ++v) {
    record.values.push_back(0);
    if (!read_double(fields[keys + v], record.values.back())) {
      throw Error(fmt::format("{}: {} is '{}'; allowed: a number", where, format.values[v], fields[keys + v]));
    }
  }
  record.note = fields.back();
  return record;
}

std::string line_of(const ResultsRecord& record) {
  std::string note = record.note;
  std::replace(note.begin(), note.end(), ',', ';');
  std::replace(note.begin(), note.end(), '\n', ' ');
  return fmt::format("{},{},{}\n", fmt::join(record.key, ","), fmt::join(record.values, ","), note);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("cannot open {}", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Whole lines; `used` is where they end.
std::vector<std::string> whole_lines(const std::string& text, std::size_t& used) {
  std::vector<std::string> lines;
  used = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', used)) {
    lines.push_back(text.substr(used, end - used));
    used = end + 1;
  }
  return lines;
}

void check_header(const std::vector<std::string>& lines, const ResultsFormat& format, const std::string& path) {
  if (lines[0] != first_line(format)) {
    throw Error(fmt::format("{}: the first line is '{}'; to continue it must be '{}' (another file or --seed?)", path,
                            lines[0], first_line(format)));
  }
  if (lines.size() > 1 && lines[1] != second_line(format)) {
    throw Error(fmt::format("{}: the columns are {}; allowed: {}", path, lines[1], second_line(format)));
  }
}

Records parse_lines(const std::vector<std::string>& lines, const ResultsFormat& format, const std::string& path) {
  Records records;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    ResultsRecord record = parse_line(lines[i], format, fmt::format("{}: line {}", path, i + 1));
    records.emplace(record.key, std::move(record));
  }
  return records;
}

[[noreturn]] void refuse(const std::string& path) {
  throw Error(fmt::format("cannot write {}: {}", path, std::generic_category().message(errno)));
}

void write_whole(int descriptor, const std::string& text, const std::string& path) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path);
    written += static_cast<std::size_t>(count);
  }
  if (::fdatasync(descriptor) != 0) refuse(path);
}

}  // namespace

ResultsFile::ResultsFile(std::string path, ResultsFormat format) : path_(std::move(path)), format_(std::move(format)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) refuse(path_);
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      throw Error(fmt::format("{} is in use by another process that appends to it", path_));
    }
    const std::string text = content_of(path_);
    std::size_t used = 0;
    const std::vector<std::string> lines = whole_lines(text, used);
    // Nothing of a file that is not ours is cut off: a torn first line is taken for ours only if it begins like it.
    if (lines.empty() && first_line(format_).rfind(text, 0) != 0) {
      throw Error(fmt::format("{}: this is not a file of results", path_));
    }
    if (!lines.empty()) check_header(lines, format_, path_);
    records_ = parse_lines(lines, format_, path_);
    if (used < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(used)) != 0) refuse(path_);
    std::string header;
    if (lines.empty()) header += first_line(format_) + "\n";
    if (lines.size() < 2) header += second_line(format_) + "\n";
    if (!header.empty()) write_whole(descriptor_, header, path_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ResultsFile::~ResultsFile() { ::close(descriptor_); }

Records ResultsFile::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

bool ResultsFile::contains(const std::vector<std::string>& key) const {
  const std::lock_guard lock(mutex_);
  return records_.contains(key);
}

void ResultsFile::append(const ResultsRecord& record) {
  const std::string line = line_of(record);
  // What is kept in memory is what a resumed process would read.
  ResultsRecord kept = parse_line(line.substr(0, line.size() - 1), format_, path_);
  const std::lock_guard lock(mutex_);
  write_whole(descriptor_, line, path_);
  records_.emplace(kept.key, std::move(kept));
}

Records read_results(const std::string& path, const ResultsFormat& format) {
  std::size_t used = 0;
  const std::vector<std::string> lines = whole_lines(content_of(path), used);
  if (lines.empty()) throw Error(fmt::format("{}: this is not a file of results", path));
  check_header(lines, format, path);
  return parse_lines(lines, format, path);
}

std::uint64_t seed_of_results(const std::string& path) {
  const std::string text = content_of(path);
  std::uint64_t seed = 0;
  if (text.rfind(kMark, 0) != 0) throw Error(fmt::format("{}: this is not a file of results", path));
  const auto [end, error] = std::from_chars(text.data() + kMark.size(), text.data() + text.size(), seed);
  if (error != std::errc{}) throw Error(fmt::format("{}: the first line names no seed", path));
  return seed;
}

}  // namespace bregmax
