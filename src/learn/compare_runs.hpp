#pragma once

#include "bregmax/learn/compare.hpp"

namespace bregmax::internal {

// What a method of the comparison is asked to learn on a fold; "auto" is allowed.
FitRequest request_of_method(const ComparePlan& plan, const std::string& method, std::uint64_t seed);

// Its plan: how it chooses its settings within this training part.
Plan plan_of_method(const ComparePlan& plan, const std::string& method, std::uint64_t seed,
                    const TrainingData& training);

// The folds on which methods are scored, and the seed of what is learned on one of them.
std::vector<Fold> folds_of_comparison(const ComparePlan& plan, const TrainingData& data,
                                      const RunControl& control = {});
std::uint64_t seed_of_fold(const ComparePlan& plan, std::size_t fold);

// What is learned from on a fold. The fold must outlive it.
TrainingData training_of(const Fold& fold);

}  // namespace bregmax::internal
