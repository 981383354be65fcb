#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optimize/admm/multiplier_correction.hpp"
#include "optimize/admm/norm.hpp"
#include "optimize/admm/space.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

// The alternating direction method of multipliers on a set of entries of the divergence grid.
//
// Block one, x = (z, a), is a least squares problem: the copies that block two holds of linear functions of x, and the
// squared losses. Block two holds copies of
//   D of each entry of the set, for D >= 0, its linear cost and its hinge;
//   both D of each coupled hinge, so that the normal equations of block one keep their structure;
//   the slopes, for the norms and L.
// Each has a closed form. A copy is one number: its slack plus its multiplier over its penalty.
//
// Penalties have levels, chosen by how near a copy is to a kink. Away from kinks a low penalty lets x move freely; on a
// kink a high one finds the multiplier quickly. Levels, the common penalty and the set change less and less often, and
// finally not at all, so that the iterations converge.
class AdmmEntries {
 public:
  explicit AdmmEntries(AdmmSpace& space);

  void start();  // from the zero model
  // Allocates only when penalties change. False: the normal equations cannot be factored, and nothing has changed.
  bool iterate();

  int iteration() const { return numbers_.iteration; }
  const AdmmResiduals& residuals() const { return numbers_.residuals; }
  PrimalPoint primal_point() const;
  EntryMultipliers multipliers();
  // True if a correction was stopped, or if there were enough iterations since the last one.
  bool correction_is_due() const;
  // The multipliers, moved until the Lagrangian is nearly stationary, with `part` of lambda left for the residual: see
  // MultiplierCorrection. nullopt: stop() became true; the next call continues.
  std::optional<EntryMultipliers> corrected_multipliers(double part, const std::function<bool()>& stop);
  // Averages over the iterations since the penalties changed or clear_average() was called: oscillations cancel.
  int averaged() const { return averaged_; }
  PrimalPoint average_primal() const;
  EntryMultipliers average_multipliers();
  void clear_average();

  // The state of the iterations, without the members of the set.
  void set_members(const std::vector<Index>& members);
  RawParts raw_state();
  void after_restore() { factor(); }

 private:
  // One of the two entries of each coupled hinge.
  struct Half {
    Index HingeItem::*position;
    Vector copy = {}, slack = {}, old_slack = {};
  };

  double penalty(Index position) const { return numbers_.penalty * level_(position); }
  int correction_steps() const;
  double slack_of(Index position, double copy) const;
  void resize_to_set();
  void set_slacks();
  void set_right_side();
  void move_copies();
  void measure();
  void adapt();
  void grow();
  void choose_levels();
  void to_multipliers();
  void to_copies();
  Index hinges() const { return std::ssize(space_.coupled()); }
  const HingeItem& hinge(Index t) const { return space_.coupled()[t]; }
  bool factor();
  void add_to_average();
  PrimalPoint primal_at(const Vector& x) const;
  EntryMultipliers multipliers_at(const Vector& x, const Vector& entry_multiplier, const Vector& coupled);
  Eigen::Map<const Matrix> slopes() const { return {x_.data() + z_, pieces_, features_}; }

  AdmmSpace& space_;
  bool factored_ = false;  // with the penalties
  Index z_ = space_.offsets(), pieces_ = space_.units().pieces, features_ = space_.units().features;
  LipschitzProx prox_;
  MultiplierCorrection correction_;
  AdmmNumbers numbers_;
  int averaged_ = 0, corrected_ = 0;  // iterations of the average; steps of corrections

  Vector x_, right_;                                        // offsets, slopes
  Vector divergence_, wanted_;                              // of the set; wanted: also the weights of block one
  Vector copy_, slack_, old_slack_, level_;                 // of the set
  Half plus_{&HingeItem::plus}, minus_{&HingeItem::minus};  // of the coupled hinges
  Vector item_level_, item_penalty_;                        // of the coupled hinges
  Matrix slope_copy_, slope_slack_, old_slope_;             // pieces x features
  Vector norm_level_, norm_penalty_;                        // of the pieces
  Vector x_sum_, entry_sum_, coupled_sum_;                  // of the average
};

}  // namespace bregmax::internal
