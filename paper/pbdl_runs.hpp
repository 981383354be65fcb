#pragma once

#include "paper/chosen_scores.hpp"

namespace bregmax::internal {

bool is_pbdl_group(const std::string& group);

// The rows of max-affine divergences, which all tune lambda.
std::vector<RunScores> run_pbdl_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                     const RunControl& control);

}  // namespace bregmax::internal
