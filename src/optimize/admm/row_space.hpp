#pragma once

#include <vector>

#include "optimize/admm/row_entries.hpp"
#include "optimize/admm/space.hpp"
#include "optimize/proof/piece_borders.hpp"

namespace bregmax::internal {

// The method of multipliers with fewer pieces than rows. The unknowns are few, K (d + 1), and the rows are many, so the
// set of entries is held compressed, with a copy of the rows that it touches, and all other rows are only looked at in
// blocks when the set may grow (PieceBorders). Rows that coincide are left apart: that they make pieces equal is
// two inequalities, which this method, unlike an interior point, does not mind.
//
// Every sum is made in chunks of entries that the threads do not change.
class RowSpace final : public AdmmSpace {
 public:
  explicit RowSpace(const LearningProblem& problem);

  const CanonicalProblem& canonical() const override { return units_; }
  Index unknowns() const override { return units_.pieces * width_; }
  Index size() const override { return entries_.size(); }
  const EntryCosts& costs() const override { return costs_; }
  const std::vector<HingeItem>& coupled() const override { return coupled_; }
  void apply(const double* x, double* values) override;
  void adjoint(const double* values, double* x) override;
  bool factor(const Vector& weight, const Vector& slope_weight, double proximal) override;
  void solve(const double* right, double* x) override;
  std::vector<Index> grow(const double* x, double limit) override;
  DualSolution dual_solution(const EntryMultipliers& multipliers) const override;
  std::vector<Index> members() const override;
  void set_members(const std::vector<Index>& members) override;

 private:
  friend class RowSink;
  void place_items();
  std::vector<Index> add(const std::vector<RowEntries::Entry>& entries);
  void copy_rows();
  const double* row_at(Index position) const {
    return rows_.data() + slot_[static_cast<std::size_t>(position)] * width_;
  }
  Matrix gram(const RowEntries::Chunk& chunk, const Vector& weight) const;
  void add_block(Index a, Index b, double sign, const Matrix& block);

  const LearningProblem& problem_;
  CanonicalProblem units_;
  Index width_;  // features + 1
  RowEntries entries_;
  PieceBorders borders_;
  EntryCosts costs_;
  std::vector<HingeItem> coupled_;
  std::vector<ItemPlace> item_place_;  // index: position, or coupled hinge

  Matrix rows_;              // of the set, in canonical units, each followed by a 1
  std::vector<Index> slot_;  // of each entry in rows_
  Matrix chunk_vector_;      // width_ numbers a chunk
  Matrix matrix_;            // its lower triangle: block one, then its Cholesky factor
};

}  // namespace bregmax::internal
