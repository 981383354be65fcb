#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bregmax/optimize/admm.hpp"
#include "optimize/admm_state.hpp"

namespace bregmax::internal {

// A number that is the same for the same problem and options only.
std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options);

// The file: a mark with a version, the fingerprint, what the sizes of the parts follow from (the members of the set of
// constraints and the like; at least one number), the parts, a checksum.
// Written whole or not at all.
void write_checkpoint(const std::string& path, std::uint64_t fingerprint, const std::vector<Index>& members,
                      const RawParts& parts);

// Two steps, since the sizes of the parts depend on the members. Throw Error when the file is not a whole checkpoint of
// this problem.
class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, std::uint64_t fingerprint);
  const std::vector<Index>& members() const { return members_; }
  void read(const RawParts& parts);

 private:
  [[noreturn]] void refuse(const std::string& reason) const;
  std::string path_, content_;
  std::size_t place_ = 0;
  std::vector<Index> members_;
};

}  // namespace bregmax::internal
