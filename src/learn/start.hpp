#pragma once

#include "bregmax/learn/fit_request.hpp"

namespace bregmax::internal {

// The request with what its `start` decides: method, scaling and parameters. Throws Error if the model is not one to go
// on from, or the request or the data do not go with it.
FitRequest filled_from_start(const FitRequest& request, const TrainingData& data);

}  // namespace bregmax::internal
