#include "optimize/admm/checkpoint.hpp"

#include <cstring>
#include <filesystem>

#include "bregmax/core/atomic_file.hpp"
#include "core/checks.hpp"

namespace bregmax::internal {
namespace {

constexpr std::string_view kMark = "bregmax-admm-checkpoint 6\n";
constexpr std::uint64_t kFirstSum = 0xCBF29CE484222325ULL;

// Extends a checksum by some bytes.
void extend(std::uint64_t& sum, const void* data, std::size_t size) {
  const auto mix = [&sum](std::uint64_t word) {
    sum = (sum ^ word) * 0x9E3779B97F4A7C15ULL;
    sum ^= sum >> 29U;
  };
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::size_t done = 0;
  for (; done + 8 <= size; done += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + done, 8);
    mix(word);
  }
  for (; done < size; ++done) mix(bytes[done]);
}

}  // namespace

std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options, std::string_view engine) {
  std::uint64_t sum = kFirstSum;
  const auto add_all = [&](const auto& items) {
    const auto count = static_cast<std::uint64_t>(items.size());
    extend(sum, &count, sizeof(count));
    extend(sum, items.data(), items.size() * sizeof(*items.data()));
  };
  // Number by number: structs have padding.
  const auto add = [&](auto... numbers) { (extend(sum, &numbers, sizeof(numbers)), ...); };
  add_all(engine);
  add_all(problem.points);
  add_all(problem.piece_of);
  add_all(problem.centres);
  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (const Comparison& c : *comparisons) add(c.i, c.j, c.k, c.l, c.weight);
  } else if (const auto* labels = std::get_if<LabelPairs>(&problem.supervision)) {
    add_all(labels->class_of_row);
    add(labels->similar_weight, labels->dissimilar_weight);
  } else if (const auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (const Pair& p : *pairs) add(p.i, p.j, p.similar, p.weight);
  } else {
    for (const Target& t : std::get<Targets>(problem.supervision)) add(t.i, t.j, t.value, t.weight);
  }
  add(problem.lambda, problem.lipschitz_bound, kOverRelaxation, kCheckEvery, kPatience,
      static_cast<bool>(options.validation));
  return sum;
}

void write_checkpoint(const std::string& path, std::uint64_t fingerprint, const std::vector<Index>& members,
                      const RawParts& parts) {
  AtomicFileWriter file(path);
  std::uint64_t sum = kFirstSum;
  const auto put = [&](const void* data, std::size_t size) {
    extend(sum, data, size);
    file.write({static_cast<const char*>(data), size});
  };
  const auto put_sum = [&] {
    const std::uint64_t so_far = sum;
    put(&so_far, sizeof(so_far));
  };
  put(kMark.data(), kMark.size());
  put(&fingerprint, sizeof(fingerprint));
  const std::uint64_t count = members.size();
  put(&count, sizeof(count));
  put(members.data(), members.size() * sizeof(Index));
  put_sum();
  for (const auto& [data, size] : parts) put(data, size);
  put_sum();
  file.commit();
}

void check_checkpoint_target(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  const std::string_view kind = kMark.substr(0, kMark.rfind(' '));
  std::string mark(kind.size(), ' ');
  file.read(mark.data(), static_cast<std::streamsize>(mark.size()));
  require(mark == kind, "checkpoint: {} is another file, which would be lost", path);
}

void CheckpointReader::refuse(const std::string& reason) const { fail("cannot resume from {}: {}", path_, reason); }

CheckpointReader::CheckpointReader(const std::string& path, std::uint64_t fingerprint)
    : path_(path), file_(path, std::ios::binary), sum_(kFirstSum) {
  if (!file_) refuse("it cannot be read");
  std::string mark(kMark.size(), ' ');
  take(mark.data(), mark.size());
  if (mark != kMark) refuse("it is not a checkpoint of this version");
  std::uint64_t found = 0, count = 0;
  take(&found, sizeof(found));
  if (found != fingerprint) refuse("it belongs to other data, supervision or options");
  take(&count, sizeof(count));
  if (count == 0 || count > std::filesystem::file_size(path) / sizeof(Index)) refuse("it is damaged");
  members_.resize(count);
  take(members_.data(), count * sizeof(Index));
  check_sum();
}

void CheckpointReader::take(void* to, std::size_t size) {
  file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  if (!file_) refuse("it is cut off");
  extend(sum_, to, size);
}

void CheckpointReader::check_sum() {
  const std::uint64_t expected = sum_;
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
