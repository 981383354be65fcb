#include "learn/results_file.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "core/checks.hpp"
#include "core/text.hpp"
#include "data/file.hpp"

namespace bregmax {

using internal::require;

namespace {

constexpr const char* kMark = "# bregmax results 1; ";

std::string second_line(const ResultsFormat& format) {
  return fmt::format("{},{},note", internal::joined(format.keys, ","), internal::joined(format.values, ","));
}

ResultsRecord parse_line(const std::string& line, const ResultsFormat& format, const std::string& where) {
  const std::vector<std::string> fields = internal::split_at_commas(line);
  const std::size_t keys = format.keys.size(), values = format.values.size();
  require(fields.size() == keys + values + 1, "{}: there are {} fields; allowed: {}", where, fields.size(),
          keys + values + 1);
  ResultsRecord record;
  record.key.assign(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(keys));
  require(internal::number_in<int>(record.key.back()).has_value(), "{}: {} is '{}'; allowed: a whole number", where,
          format.keys.back(), record.key.back());
  for (std::size_t v = 0; v < values; ++v) {
    const auto value = internal::number_in<double>(fields[keys + v]);
    require(value.has_value(), "{}: {} is '{}'; allowed: a number", where, format.values[v], fields[keys + v]);
    record.values.push_back(*value);
  }
  record.note = fields.back();
  return record;
}

std::string line_of(const ResultsRecord& record) {
  std::string note = record.note;
  std::replace(note.begin(), note.end(), ',', ';');
  std::replace(note.begin(), note.end(), '\n', ' ');
  return fmt::format("{},{},{}\n", internal::joined(record.key, ","), internal::joined(record.values, ","), note);
}

// The lines that have a line end; `used` is where the last one ends.
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
  require(lines[0] == first_line_of(format),
          "{}: the first line is '{}'; to continue it must be '{}' (another file, or another --seed?)", path, lines[0],
          first_line_of(format));
  if (lines.size() < 2) return;
  require(lines[1] == second_line(format), "{}: the columns are {}; allowed: {}", path, lines[1], second_line(format));
}

// Of another title or seed; a kill may have cut the first lines off. Throws Error if the file holds anything else.
bool has_results_of_others(const std::vector<std::string>& lines, const std::string& text, const ResultsFormat& format,
                           const std::string& path) {
  if (text.empty()) return false;
  const bool begins_so = text.starts_with(kMark) || std::string_view(kMark).starts_with(text);
  const bool of_this_kind = lines.size() < 2 || lines[1] == second_line(format);
  require(begins_so && of_this_kind, "{}: this is not a file of such results", path);
  return lines.empty() || lines[0] != first_line_of(format);
}

Records parse_lines(const std::vector<std::string>& lines, const ResultsFormat& format, const std::string& path) {
  Records records;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    ResultsRecord record = parse_line(lines[i], format, fmt::format("{}: line {}", path, i + 1));
    std::vector<std::string> key = record.key;
    records.insert_or_assign(std::move(key), std::move(record));
  }
  return records;
}

[[noreturn]] void refuse(const std::string& path) {
  internal::fail("cannot write {}: {}", path, std::generic_category().message(errno));
}

void write(std::FILE* file, const std::string& text, bool to_disk, const std::string& path) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  if (!written || (to_disk && ::fdatasync(::fileno(file)) != 0)) refuse(path);
}

}  // namespace

std::string first_line_of(const ResultsFormat& format) {
  return fmt::format("{}seed {}; {}", kMark, format.seed, format.title);
}

ResultsFile::ResultsFile(std::string path, ResultsFormat format, Others others)
    : path_(std::move(path)), format_(std::move(format)), file_(std::fopen(path_.c_str(), "ae"), &std::fclose) {
  if (!file_) refuse(path_);
  require(::flock(::fileno(file_.get()), LOCK_EX | LOCK_NB) == 0, "{} is in use by another process that appends to it",
          path_);
  std::string text = internal::read_whole_file(path_);
  std::size_t used = 0;
  std::vector<std::string> lines = whole_lines(text, used);
  if (others == Others::kDrop && has_results_of_others(lines, text, format_, path_)) {
    if (::ftruncate(::fileno(file_.get()), 0) != 0) refuse(path_);
    text.clear();
    lines.clear();
    used = 0;
  }
  // A file of another program must not be cut: an incomplete first line is ours only if it begins like ours.
  require(!lines.empty() || first_line_of(format_).starts_with(text), "{}: this is not a file of results", path_);
  if (!lines.empty()) check_header(lines, format_, path_);
  for (const auto& [key, record] : parse_lines(lines, format_, path_)) keys_.insert(key);
  if (used < text.size() && ::ftruncate(::fileno(file_.get()), static_cast<off_t>(used)) != 0) refuse(path_);
  std::string header;
  if (lines.empty()) header += first_line_of(format_) + "\n";
  if (lines.size() < 2) header += second_line(format_) + "\n";
  if (!header.empty()) write(file_.get(), header, format_.to_disk, path_);
}

bool ResultsFile::contains(const std::vector<std::string>& key) const {
  const std::lock_guard lock(mutex_);
  return keys_.contains(key);
}

void ResultsFile::append(const ResultsRecord& record) {
  const std::string line = line_of(record);
  const std::vector<std::string> key = parse_line(line.substr(0, line.size() - 1), format_, path_).key;
  const std::lock_guard lock(mutex_);
  write(file_.get(), line, format_.to_disk, path_);
  keys_.insert(key);
}

Records read_results(const std::string& path, const ResultsFormat& format) {
  std::size_t used = 0;
  const std::vector<std::string> lines = whole_lines(internal::read_whole_file(path), used);
  require(!lines.empty(), "{}: this is not a file of results", path);
  check_header(lines, format, path);
  return parse_lines(lines, format, path);
}

}  // namespace bregmax
