#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bregmax/core/error.hpp"
#include "bregmax/core/run_control.hpp"
#include "bregmax/core/supervision.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/supervision/sample.hpp"

namespace bregmax {

// What cross-validation (bregmax/learn/tune.hpp) asks of a method: candidates that are learned on the training part of
// each fold.

// One fold. Rows are not scaled.
struct Fold {
  Matrix train_rows;
  std::vector<int> train_classes;          // empty: `train_items` are all there is to learn from
  std::optional<Supervision> train_items;  // of train_rows
  std::vector<int> train_pieces;           // given by the caller, renumbered from 0; may be empty
  Matrix held_out_rows;                    // may be empty: only the loss is scored
  std::vector<int> held_out_classes;
  Matrix loss_rows;  // the loss is the mean over loss_items, on these rows
  Supervision loss_items;
  std::uint64_t seed = 0;
};

// A part of the work of learning on one fold: it may begin when the steps `after` are done, and gives `candidates`.
struct LearnStep {
  std::vector<std::size_t> after = {};
  std::vector<std::size_t> candidates = {};
};

// How the models of a step came about: the solver reached its tolerance; the model of another candidate was proved to
// be optimal here, too; the solver ended early.
enum class FoldFit { kSolved, kProved, kUnproved };

// Thrown by a step whose candidates cannot be learned on its fold (a kernel that leaves the range of numbers there).
// They get no scores on this fold. Candidates with scores on fewer folds than others are not chosen. If no candidate
// has any scores, tune() throws this.
class CandidateFailure : public Error {
 public:
  using Error::Error;
};

// Learns all candidates of a family on one fold. Steps run on several threads at once, each exactly once.
class FoldLearner {
 public:
  virtual ~FoldLearner() = default;
  virtual std::vector<LearnStep> steps() const = 0;
  virtual FoldFit run(std::size_t step, const RunControl& control) = 0;
  // Of a candidate whose step is done.
  virtual Model model(std::size_t candidate) const = 0;
  // A candidate of a step before with the very same model, which need not be scored twice.
  virtual std::optional<std::size_t> same_model(std::size_t /*candidate*/) const { return std::nullopt; }
};

// Candidates that are learned together, listed in the order of preference: among equal scores the first wins.
class CandidateFamily {
 public:
  virtual ~CandidateFamily() = default;
  virtual std::vector<Settings> candidates() const = 0;
  // The fold outlives the learner. Called from several threads.
  virtual std::unique_ptr<FoldLearner> learner(const Fold& fold) const = 0;
};
using CandidateFamilies = std::vector<std::shared_ptr<const CandidateFamily>>;

struct FamilyOptions;  // bregmax/methods/registry.hpp

// Is every divergence between rows (a sample of them, where there are many) at most 1e-6 (of the margin 1)?
bool is_constant(const Divergence& divergence, const MatrixView& scaled_rows);

}  // namespace bregmax
