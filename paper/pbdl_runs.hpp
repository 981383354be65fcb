#pragma once

#include "paper/chosen_scores.hpp"

namespace bregmax::internal {

// The paper's: raw features, 2000 comparisons, a grid of lambda, no smoothing.
AutoFitOptions paper_options();

bool is_pbdl_group(const std::string& group);

// The rows of max-affine divergences, which all tune lambda.
std::vector<RunScores> run_pbdl_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                     const RunControl& control);

}  // namespace bregmax::internal
