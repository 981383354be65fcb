#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bregmax/optimize/admm.hpp"
#include "optimize/admm/state.hpp"
#include "optimize/proof/convex_repair.hpp"

namespace bregmax::internal {

// The best that a run has proved so far: a feasible model with the lowest objective, and the highest lower bound.
struct AdmmProof {
  AffinePieces model;
  double objective = 0, loss = 0, lipschitz = 0, convexity_violation = 0;
  double lower_bound = 0;
  double unit = 1;         // what the gap is relative to
  DualSolution dual;       // of the lower bound; empty where it would be too large
  double repair_part = 0;  // of the strictly convex model that the last repair needed

  double gap() const { return (objective - lower_bound) / unit; }
};

// The iterations, on one of the forms of the problem.
class AdmmEngine {
 public:
  virtual ~AdmmEngine() = default;

  virtual std::string_view name() const = 0;
  // none: from the zero model.
  virtual void start(const AffinePieces* model) = 0;
  virtual void iterate() = 0;
  virtual int iteration() const = 0;
  virtual AdmmResiduals residuals() const = 0;
  // The proof of the zero model: what every run begins with.
  virtual AdmmProof first_proof() = 0;
  // Improves the proof with what the iterate shows.
  virtual void prove(AdmmProof& proof) = 0;
  // The same with more work, where that promises a gap of at most `allowed`. False: stop() came true; called again, it
  // goes on.
  virtual bool prove_by_correction(double /*allowed*/, const std::function<bool()>& /*stop*/, AdmmProof& /*proof*/) {
    return true;
  }
  // Puts a feasible model next to the given one into the proof, though another is better; none: as it was.
  virtual void choose_model(const AffinePieces& model, AdmmProof& proof) = 0;
  // Changes the model a little where rounding would decide what divergence it gives; its objective is at most `most`.
  virtual void clear_kinks(double /*most*/, AdmmProof& /*proof*/) {}
  // After a proof that the run goes on from.
  virtual void after_proof() {}

  // All that decides how the iterations go on; set_members() before raw_state() is filled, after_restore() when it is.
  virtual std::vector<Index> members() const { return {}; }
  virtual void set_members(const std::vector<Index>& /*members*/) {}
  virtual RawParts raw_state() = 0;
  virtual void after_restore() = 0;
};

// On a set of entries of the grid, with penalties of several levels: all problems.
std::unique_ptr<AdmmEngine> make_entry_engine(const LearningProblem& problem, const AdmmOptions& options);
double predict_entry_memory(const LearningProblem& problem);

// On the whole grid, with one penalty, in a fraction of the memory and the time of an iteration.
bool grid_engine_applies(const LearningProblem& problem);
std::unique_ptr<AdmmEngine> make_grid_engine(const LearningProblem& problem, const AdmmOptions& options);
double predict_grid_memory(const LearningProblem& problem, const AdmmOptions& options);

// Runs an engine to the end: what solve_admm() does once it has chosen one.
Solution run_admm(AdmmEngine& engine, const LearningProblem& problem, const AdmmOptions& options,
                  const RunControl& control = {});

// With neither a price nor a bound on the Lipschitz constant, lower bounds are about models near to the best one.
bool bounds_hold_for_all(const LearningProblem& problem);
// The Lipschitz constant up to which a lower bound must hold.
double proof_radius(const LearningProblem& problem, const AdmmProof& proof);

// Keeps a feasible model in the proof if it is better. `loss_of` gives the loss of a model.
void keep_if_better(const LearningProblem& problem, const ConvexRepair& repair, AffinePieces candidate,
                    const std::function<double(const AffinePieces&)>& loss_of, AdmmProof& proof);
// Tries to make the given pieces feasible at the least cost, and then the same.
void improve_model(const LearningProblem& problem, const ConvexRepair& repair, const AffinePieces& pieces,
                   const std::function<double(const AffinePieces&)>& loss_of, AdmmProof& proof);

}  // namespace bregmax::internal
