#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bregmax/core/error.hpp"
#include "bregmax/core/run_control.hpp"
#include "bregmax/core/supervision.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/supervision/sample.hpp"

namespace bregmax {

// What cross-validation (bregmax/learn/tune.hpp) asks of a method: candidates that are learned on the training part of
// each fold.

// Rows that several folds may have in common, without a copy for each.
class SharedRows {
 public:
  SharedRows() = default;
  SharedRows(Matrix rows)  // NOLINT(google-explicit-constructor): fold.train_rows = rows
      : matrix_(std::make_shared<const Matrix>(std::move(rows))) {}

  operator MatrixView() const { return *matrix_; }  // NOLINT(google-explicit-constructor): what takes rows takes these
  Index rows() const { return matrix_->rows(); }
  Index cols() const { return matrix_->cols(); }

 private:
  std::shared_ptr<const Matrix> matrix_ = std::make_shared<const Matrix>();
};

// One fold. Rows are not scaled.
struct Fold {
  SharedRows train_rows;
  std::vector<int> train_classes;          // empty: the fold learns from `train_items`
  std::optional<Supervision> train_items;  // of train_rows
  std::vector<int> train_pieces;           // given by the caller, renumbered from 0; may be empty
  std::vector<double> train_weights = {};  // of the labelled rows; may be empty
  Matrix held_out_rows;                    // may be empty: only the loss is scored
  std::vector<int> held_out_classes;
  Vector train_targets = {}, held_out_targets = {};  // a number per row, in place of the classes; may be empty
  SharedRows loss_rows;                              // the loss is the mean over loss_items, on these rows
  Supervision loss_items;
  std::uint64_t seed = 0;  // of the random starts of its fits, together with that of the fit on all rows
};

// One step of learning on a fold: it may begin when the steps in `after` are done, and it learns `candidates`.
struct LearnStep {
  std::vector<std::size_t> after = {};
  std::vector<std::size_t> candidates = {};
};

// How the models of a step were found: by the solver, to its tolerance; by a proof that the model of another candidate
// is optimal here, too; by a solver that ended early.
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
  // The model of a candidate whose step is done.
  virtual Model model(std::size_t candidate) const = 0;
  // A candidate of an earlier step with exactly the same model, so that its scores can be reused.
  virtual std::optional<std::size_t> same_model(std::size_t /*candidate*/) const { return std::nullopt; }
};

// Candidates that are learned together, listed in the order of preference: among equal scores the first wins.
class CandidateFamily {
 public:
  virtual ~CandidateFamily() = default;
  virtual std::vector<Settings> candidates() const = 0;
  // The fold outlives the learner. Called before the clock runs and the stop flag is looked at: the work is for steps.
  virtual std::unique_ptr<FoldLearner> learner(const Fold& fold) const = 0;
};
using CandidateFamilies = std::vector<std::shared_ptr<const CandidateFamily>>;

struct FamilyOptions;  // bregmax/methods/registry.hpp

}  // namespace bregmax
