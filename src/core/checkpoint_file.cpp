#include "core/checkpoint_file.hpp"

#include <cstring>
#include <filesystem>

#include "bregmax/core/atomic_file.hpp"
#include "core/checks.hpp"

namespace bregmax::internal {

void Checksum::mix(std::uint64_t word) {
  sum_ = (sum_ ^ word) * 0x9E3779B97F4A7C15ULL;
  sum_ ^= sum_ >> 29U;
}

void Checksum::add_bytes(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::size_t done = 0;
  for (; done + 8 <= size; done += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + done, 8);
    mix(word);
  }
  for (; done < size; ++done) mix(bytes[done]);
}

void write_checkpoint(const std::string& path, std::string_view mark, std::uint64_t fingerprint,
                      const std::vector<Index>& shape, const RawParts& parts) {
  AtomicFileWriter file(path);
  Checksum sum;
  const auto put = [&](const void* data, std::size_t size) {
    sum.add_bytes(data, size);
    file.write({static_cast<const char*>(data), size});
  };
  const auto put_sum = [&] {
    const std::uint64_t so_far = sum.value();
    put(&so_far, sizeof(so_far));
  };
  put(mark.data(), mark.size());
  put(&fingerprint, sizeof(fingerprint));
  const std::uint64_t count = shape.size();
  put(&count, sizeof(count));
  put(shape.data(), shape.size() * sizeof(Index));
  put_sum();
  for (const auto& [data, size] : parts) put(data, size);
  put_sum();
  file.commit();
}

namespace {

// The first bytes of a file; shorter where the file is.
std::string beginning(std::ifstream& file, std::size_t size) {
  std::string bytes(size, ' ');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

[[noreturn]] void refuse_target(const std::string& path) {
  fail("checkpoint: {} is another file, which would be lost", path);
}

bool is_checkpoint(std::ifstream& file) {
  constexpr std::size_t kLongestMark = 64;
  const std::string first = beginning(file, kLongestMark);
  return first.starts_with("bregmax-") && first.substr(0, first.find('\n')).find("-checkpoint ") != std::string::npos;
}

}  // namespace

void check_checkpoint_target(const std::string& path, std::string_view mark) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  const std::string_view kind = mark.substr(0, mark.rfind(' '));
  if (beginning(file, kind.size()) != kind) refuse_target(path);
}

void check_checkpoint_files(const std::string& checkpoint, const std::string& resume) {
  if (!checkpoint.empty()) {
    const AtomicFileWriter trial(checkpoint);  // throws Error if it cannot be written, and leaves nothing behind
    std::ifstream file(checkpoint, std::ios::binary);
    if (file && !is_checkpoint(file)) refuse_target(checkpoint);
  }
  if (resume.empty()) return;
  std::ifstream file(resume, std::ios::binary);
  require(file.good(), "cannot resume from {}: it cannot be read", resume);
  require(is_checkpoint(file), "cannot resume from {}: it is not a checkpoint of this version", resume);
}

void CheckpointReader::refuse(const std::string& reason) const { fail("cannot resume from {}: {}", path_, reason); }

CheckpointReader::CheckpointReader(const std::string& path, std::string_view mark, std::uint64_t fingerprint)
    : path_(path), file_(path, std::ios::binary) {
  if (!file_) refuse("it cannot be read");
  std::string first(mark.size(), ' ');
  take(first.data(), first.size());
  if (first != mark) refuse("it is not a checkpoint of this version");
  std::uint64_t found = 0, count = 0;
  take(&found, sizeof(found));
  if (found != fingerprint) refuse("it belongs to other data, supervision or options");
  take(&count, sizeof(count));
  if (count == 0 || count > std::filesystem::file_size(path) / sizeof(Index)) refuse("it is damaged");
  shape_.resize(count);
  take(shape_.data(), count * sizeof(Index));
  check_sum();
}

void CheckpointReader::take(void* to, std::size_t size) {
  file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  if (!file_) refuse("it is cut off");
  sum_.add_bytes(to, size);
}

void CheckpointReader::check_sum() {
  const std::uint64_t expected = sum_.value();
  std::uint64_t written = 0;
  take(&written, sizeof(written));
  if (written != expected) refuse("its checksum is wrong");
}

void CheckpointReader::read(const RawParts& parts) {
  for (const auto& [data, size] : parts) take(data, size);
  check_sum();
  if (file_.peek() != std::ifstream::traits_type::eof()) refuse("it is damaged");
}

}  // namespace bregmax::internal
