#pragma once

namespace bregmax {

// What is proved about a model of the learning problem (bregmax/optimize/learning_problem.hpp).
struct Proof {
  double objective = 0;            // loss + lambda * lipschitz
  double loss = 0;                 // summed over the supervision
  double lipschitz = 0;            // max_k ||a_k||_1
  double lower_bound = 0;          // on the optimal objective, proved by the dual variables
  double relative_gap = 0;         // (objective - lower_bound) / max(|objective|, zero model's objective / 1000)
  double convexity_violation = 0;  // largest <a_k, x_i> + b_k - phi(x_i), at least 0
};

}  // namespace bregmax
