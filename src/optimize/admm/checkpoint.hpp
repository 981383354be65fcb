#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/optimize/admm.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

// A number that is the same for the same problem, options and engine only.
std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options, std::string_view engine);

// The file: a mark with a version, the fingerprint, what the sizes of the parts follow from (the members of the set of
// constraints and the like; at least one number), a checksum of all this, the parts, a checksum of everything.
// Written whole or not at all.
void write_checkpoint(const std::string& path, std::uint64_t fingerprint, const std::vector<Index>& members,
                      const RawParts& parts);

// Throws Error where there is a file that is not a checkpoint.
void check_checkpoint_target(const std::string& path);

// Two steps, since the sizes of the parts depend on the members. Throw Error when the file is not a whole checkpoint of
// this problem.
class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, std::uint64_t fingerprint);
  const std::vector<Index>& members() const { return members_; }
  void read(const RawParts& parts);

 private:
  [[noreturn]] void refuse(const std::string& reason) const;
  void take(void* to, std::size_t size);
  void check_sum(const RawParts& parts);
  std::string path_;
  std::ifstream file_;
  std::size_t place_ = 0, size_ = 0;  // where the parts begin, where the file ends
  std::vector<Index> members_;
};

}  // namespace bregmax::internal
