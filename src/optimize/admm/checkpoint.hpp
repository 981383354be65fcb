#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/optimize/admm.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

// A number that identifies the problem, the options that change the iterations, and the engine.
std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options, std::string_view engine);

// The file: a mark with a version, the fingerprint, the numbers that the sizes of the parts follow from (the members of
// the set of constraints and the like; at least one), a checksum of all this, the parts, a checksum of everything.
// Written completely or not at all.
void write_checkpoint(const std::string& path, std::uint64_t fingerprint, const std::vector<Index>& members,
                      const RawParts& parts);

// Throws Error if there is a file that is not a checkpoint.
void check_checkpoint_target(const std::string& path);

// Reads in two steps, since the sizes of the parts depend on the members. Throws Error if the file is not a complete
// checkpoint of this problem. The parts may then have been overwritten, and must not be used.
class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, std::uint64_t fingerprint);
  const std::vector<Index>& members() const { return members_; }
  void read(const RawParts& parts);

 private:
  [[noreturn]] void refuse(const std::string& reason) const;
  void take(void* to, std::size_t size);
  void check_sum();

  std::string path_;
  std::ifstream file_;
  std::uint64_t sum_;  // of all that was taken
  std::vector<Index> members_;
};

}  // namespace bregmax::internal
