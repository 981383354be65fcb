#pragma once

#include <optional>
#include <string>

#include "bregmax/learn/auto_fit.hpp"
#include "options/fit_options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// All that is told about a finished fit.
struct FitOutcome {
  const FitRequest& request;
  const AutoFitOptions& plan;
  const Table& table;
  const AutoFitResult& result;
  bool saved;
};

Json fit_as_json(const FitOutcome& outcome);
std::string fit_as_text(const FitOutcome& outcome);

// Why a run that did not end in `optimal` ended, and what to do.
std::string explain_early_end(const FitOutcome& outcome);
// Throws where a run that nobody limited ended without a proof since features differ in scale by more than doubles
// hold.
void refuse_scales_beyond_doubles(const FitOutcome& outcome);

// That the divergence does not tell rows apart, why, and what may help. `supervision`: given by a file; none: labels.
std::string explain_constant(const FitOutcome& outcome, const std::optional<Supervision>& supervision);

// Affine pieces of a divergence; 0 for one that is not made of them.
Index pieces_of(const Divergence& divergence);
double smoothing_of(const Divergence& divergence);

}  // namespace bregmax::app
