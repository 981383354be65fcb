#pragma once

#include <array>
#include <cstddef>

namespace bregmax::internal {

// What the solver does where a plain interior point method would fail, in the order in which a run can need it. For
// each remedy, `count_unsolved` counts how often it is used and what is lost without it (docs/solver.md has the
// table).
enum class Remedy {
  kFreeBound,
  kWidenFreeBound,
  kRetryFactorization,
  kStrengthenProximal,
  kDenseFactorization,
  kRelaxPrimalProximal,
  kRelaxDualProximal,
  kDualProximalNearEnd,
  kRefineDual,
  kPolishMultipliers,
  kRelaxUnproved,
  kCenter,
  kMixConvex,
  kZeroModel,
};
inline constexpr std::size_t kRemedies = static_cast<std::size_t>(Remedy::kZeroModel) + 1;

// Which remedies a run may use, and how often it used each. Switching one off is for tests and measurements.
class Recovery {
 public:
  // Counts the remedy, unless it is switched off: then it must not be applied.
  bool use(Remedy remedy) {
    if (off_[index(remedy)]) return false;
    ++count_[index(remedy)];
    return true;
  }
  void switch_off(Remedy remedy) { off_[index(remedy)] = true; }
  int count(Remedy remedy) const { return count_[index(remedy)]; }

 private:
  static std::size_t index(Remedy remedy) { return static_cast<std::size_t>(remedy); }

  std::array<bool, kRemedies> off_{};
  std::array<int, kRemedies> count_{};
};

}  // namespace bregmax::internal
