#pragma once

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// What a model file keeps of a run.
TrainingRecord make_record(const std::string& method, const MethodSupervision& supervision, Index rows,
                           std::uint64_t seed, const MethodReport& report, const std::optional<Proved>& proved);

// What was learned on scaled rows, as a model of unscaled ones.
MethodFit as_fit(Learned learned, const std::string& method, const MethodSupervision& supervision,
                 const Scaling& scaling, Index rows, std::uint64_t seed);

}  // namespace bregmax::internal
