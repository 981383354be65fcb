#include "optimize/admm/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

constexpr std::string_view kMark = "bregmax-admm-checkpoint 4\n";

class Checksum {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    std::size_t done = 0;
    for (; done + 8 <= size; done += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + done, 8);
      mix(word);
    }
    for (; done < size; ++done) mix(bytes[done]);
  }
  template <class T>
  void add_all(const std::vector<T>& items) {
    mix(items.size());
    add(items.data(), items.size() * sizeof(T));
  }
  void add_number(double number) { add(&number, sizeof(number)); }
  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ULL;
    value_ ^= value_ >> 29U;
  }
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

std::string_view bytes_of(const void* data, std::size_t size) { return {static_cast<const char*>(data), size}; }

}  // namespace

std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options, std::string_view engine) {
  Checksum sum;
  sum.add(engine.data(), engine.size());
  sum.add(problem.points.data(), static_cast<std::size_t>(problem.points.size()) * sizeof(double));
  sum.add_all(problem.piece_of);
  sum.add_all(problem.centres);
  // Field by field: structs have padding.
  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (const Comparison& c : *comparisons) {
      for (const Index row : {c.i, c.j, c.k, c.l}) sum.add(&row, sizeof(row));
      sum.add_number(c.weight);
    }
  } else if (const auto* labels = std::get_if<LabelPairs>(&problem.supervision)) {
    sum.add_all(labels->class_of_row);
    sum.add_number(labels->similar_weight);
    sum.add_number(labels->dissimilar_weight);
  } else if (const auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (const Pair& p : *pairs) {
      for (const Index row : {p.i, p.j}) sum.add(&row, sizeof(row));
      sum.add_number(p.similar ? p.weight : -1 - p.weight);
    }
  } else {
    for (const Target& t : std::get<Targets>(problem.supervision)) {
      for (const Index row : {t.i, t.j}) sum.add(&row, sizeof(row));
      sum.add_number(t.value);
      sum.add_number(t.weight);
    }
  }
  for (const double x :
       {problem.lambda, problem.lipschitz_bound, options.over_relaxation, static_cast<double>(options.check_every),
        static_cast<double>(options.patience), options.validation ? 1.0 : 0.0}) {
    sum.add_number(x);
  }
  return sum.value();
}

void write_checkpoint(const std::string& path, std::uint64_t fingerprint, const std::vector<Index>& members,
                      const RawParts& parts) {
  AtomicFileWriter file(path);
  Checksum sum;
  const auto put = [&](const void* data, std::size_t size) {
    file.write(bytes_of(data, size));
    sum.add(data, size);
  };
  put(kMark.data(), kMark.size());
  put(&fingerprint, sizeof(fingerprint));
  const std::uint64_t count = members.size();
  put(&count, sizeof(count));
  put(members.data(), members.size() * sizeof(Index));
  const std::uint64_t so_far = sum.value();
  put(&so_far, sizeof(so_far));
  for (const auto& [data, size] : parts) put(data, size);
  const std::uint64_t value = sum.value();
  file.write(bytes_of(&value, sizeof(value)));
  file.commit();
}

void check_checkpoint_target(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  const std::string_view kind = kMark.substr(0, kMark.rfind(' '));
  std::string mark(kind.size(), ' ');
  file.read(mark.data(), static_cast<std::streamsize>(mark.size()));
  if (mark != kind) throw Error(fmt::format("checkpoint: {} is another file, which would be lost", path));
}

void CheckpointReader::refuse(const std::string& reason) const {
  throw Error(fmt::format("cannot resume from {}: {}", path_, reason));
}

CheckpointReader::CheckpointReader(const std::string& path, std::uint64_t fingerprint)
    : path_(path), file_(path, std::ios::binary) {
  if (!file_) refuse("it cannot be read");
  std::string mark(kMark.size(), ' ');
  file_.read(mark.data(), static_cast<std::streamsize>(mark.size()));
  if (!file_ || mark != kMark) refuse("it is not a checkpoint of this version");
  std::uint64_t found = 0, count = 0;
  take(&found, sizeof(found));
  if (found != fingerprint) refuse("it belongs to other data, supervision or options");
  take(&count, sizeof(count));
  place_ = static_cast<std::size_t>(file_.tellg());
  file_.seekg(0, std::ios::end);
  size_ = static_cast<std::size_t>(file_.tellg());
  if (count == 0 || count > size_ / sizeof(Index)) refuse("it is damaged");
  file_.seekg(static_cast<std::streamoff>(place_));
  members_.resize(count);
  take(members_.data(), count * sizeof(Index));
  Checksum sum;
  sum.add(mark.data(), mark.size());
  sum.add(&found, sizeof(found));
  sum.add(&count, sizeof(count));
  sum.add(members_.data(), count * sizeof(Index));
  std::uint64_t so_far = 0;
  take(&so_far, sizeof(so_far));
  if (so_far != sum.value()) refuse("its checksum is wrong");
  place_ += count * sizeof(Index) + sizeof(so_far);
}

void CheckpointReader::take(void* to, std::size_t size) {
  file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  if (!file_) refuse("it is cut off");
}

// The parts are filled only from a file that is whole, so it is read twice; it may be as large as all the memory.
void CheckpointReader::read(const RawParts& parts) {
  std::size_t size = place_ + sizeof(std::uint64_t);
  for (const auto& part : parts) size += part.second;
  if (size != size_) refuse("it is cut off or damaged");
  check_sum(parts);
  file_.seekg(static_cast<std::streamoff>(place_));
  for (const auto& [data, bytes] : parts) take(data, bytes);
}

void CheckpointReader::check_sum(const RawParts& parts) {
  Checksum sum;
  std::vector<char> buffer(1U << 20U);
  // In the same portions as in writing, but for cuts at whole words, so that the sums agree.
  const auto count = [&](std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += buffer.size()) {
      const std::size_t portion = std::min(buffer.size(), bytes - done);
      take(buffer.data(), portion);
      sum.add(buffer.data(), portion);
    }
  };
  file_.seekg(0);
  for (const std::size_t bytes : {kMark.size(), sizeof(std::uint64_t), sizeof(std::uint64_t),
                                  members_.size() * sizeof(Index), sizeof(std::uint64_t)}) {
    count(bytes);
  }
  for (const auto& part : parts) count(part.second);
  std::uint64_t written = 0;
  take(&written, sizeof(written));
  if (written != sum.value()) refuse("its checksum is wrong");
}

}  // namespace bregmax::internal
