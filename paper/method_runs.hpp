#pragma once

#include "paper/chosen_scores.hpp"

namespace bregmax::internal {

// The rows of the classical methods.
std::vector<RunScores> run_method_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                       const RunControl& control);

}  // namespace bregmax::internal
