#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/auto_fit.hpp"

namespace bregmax {

// What the user of an interface asks of a fit. What is not given is for plan_fit() to say, so that the command line and
// Python learn the same from the same.
struct FitWishes {
  struct Tunable {
    std::optional<double> value = {};
    bool automatic = false;  // to be chosen by cross-validation; `value` is then empty

    bool given() const { return automatic || value.has_value(); }
  };
  Tunable lambda = {}, smoothing = {};
  std::vector<double> lambdas = {};  // that are tried; empty: the library's
  Tunable pieces = {};               // not given: every row has its own, up to kMostRowsWithOwnPieces rows
  bool own_pieces = false;           // instead: every row has its own, however many there are
  bool theory_pieces = false;        // instead: as many as Theorem 3 has, for targets
  std::vector<Scale> scales = {};    // to choose from; empty: not given

  // Of fits from labels.
  std::optional<LabelSupervision> supervision = {};
  std::optional<Index> comparisons = {};  // to draw, or of the hard ones to keep
  Index hard_neighbours = 3;
  std::optional<Measure> tune_for = {};
  std::optional<int> repeats = {};

  int folds = 3;
  FitOptions fit = {};  // all that is not tuned: its lambda, smoothing, pieces and scale do not count

  // What the interface calls them, for messages.
  struct Names {
    std::string lambda = "lambda", lambdas = "lambdas", pieces = "pieces", tune_for = "tune_for";
    std::string comparisons = "comparisons";
  };
  Names names = {};
};

// What is to be tried and tuned. `given`: supervision of the rows; none: they have labels.
//
// Lambda is chosen unless it is given, or the supervision are targets (for which the paper puts no price on L: 0). With
// it is chosen, where labels say what is good, the smoothing, unless it is given: losses do not compare across it.
// Throws Error on a mistake that shows in the combination of the wishes, or beside the number of rows.
AutoFitOptions plan_fit(const FitWishes& wishes, const MatrixView& rows, const Supervision* given);

// Is there more than one candidate, so that cross-validation has to choose?
bool has_choice(const AutoFitOptions& plan);

// "standard", "none", or "auto" for both of them. Throws Error that lists them.
std::vector<Scale> scales_named(const std::string& name);

}  // namespace bregmax
