#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bregmax/optimize/admm.hpp"
#include "optimize/admm/state.hpp"
#include "optimize/proof/convex_repair.hpp"
#include "optimize/proof/zero_model.hpp"

namespace bregmax::internal {

// The iterations on one form of the problem, and what they prove.
//
// `best` is always the best that the run has proved so far: the feasible model with the lowest objective, and the dual
// variables with the highest lower bound. They need not belong to the same iterate.
class AdmmEngine {
 public:
  explicit AdmmEngine(const LearningProblem& problem) : problem_(problem), repair_(problem) {}
  virtual ~AdmmEngine() = default;

  virtual std::string_view name() const = 0;
  virtual void start() = 0;    // from the zero model
  virtual bool iterate() = 0;  // false: the normal equations cannot be factored
  virtual int iteration() const = 0;
  virtual AdmmResiduals residuals() const = 0;

  // The zero model with its bound, which every run begins with.
  virtual Solution zero_solution() = 0;
  // Improves `best` with the current iterate.
  virtual void prove(Solution& best) = 0;
  // The same with more work, if that promises a gap of at most `allowed`. Returns false if stop() became true; the next
  // call then continues.
  virtual bool prove_by_correction(double /*allowed*/, const std::function<bool()>& /*stop*/, Solution& /*best*/) {
    return true;
  }
  // Called after each proof that did not end the run.
  virtual void after_proof() {}
  // Makes the piece of each row the largest there by more than rounding, if the objective stays at or below `most`.
  virtual void separate_pieces(double /*most*/, Solution& /*best*/) {}
  // Puts the given feasible model into `best`, even if its objective is higher.
  void choose_model(const AffinePieces& model, Solution& best) const;

  // The state of the iterations, for checkpoints. To restore it: set_members(), fill raw_state(), after_restore().
  virtual std::vector<Index> members() const { return {}; }
  virtual void set_members(const std::vector<Index>& /*members*/) {}
  virtual RawParts raw_state() = 0;
  virtual void after_restore() = 0;

 protected:
  Solution certified_zero_model(DualForm form) const;
  // Keeps a feasible model if it is better than the one in `best`.
  void keep_if_better(AffinePieces candidate, Solution& best) const;
  // The lower bound that the dual variables of `solution` prove; `best` says for which models it must hold.
  double bound_of(const Solution& solution, const Solution& best) const;

  const LearningProblem& problem_;
  ConvexRepair repair_;
};

// On a set of entries of the divergence grid, with penalties of several levels: for all problems.
std::unique_ptr<AdmmEngine> make_entry_engine(const LearningProblem& problem);
double predict_entry_memory(const LearningProblem& problem);

// On the whole grid, with one penalty, in a fraction of the memory and of the time per iteration.
bool grid_engine_applies(const LearningProblem& problem);
std::unique_ptr<AdmmEngine> make_grid_engine(const LearningProblem& problem, const AdmmOptions& options);
double predict_grid_memory(const LearningProblem& problem, const AdmmOptions& options);

// Runs an engine to the end: what solve_admm() does once it has chosen one.
Solution run_admm(AdmmEngine& engine, const LearningProblem& problem, const AdmmOptions& options,
                  const RunControl& control = {});

}  // namespace bregmax::internal
