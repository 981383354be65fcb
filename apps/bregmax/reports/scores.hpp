#pragma once

#include <array>

#include "bregmax/tasks/evaluate.hpp"

namespace bregmax::app {

// The five scores of the paper: for people, in JSON, and where they are.
struct NamedScore {
  const char* name;
  const char* key;
  double EvaluationScores::*score;
};
inline constexpr std::array<NamedScore, 5> kScores = {{
    {"Rand index", "rand_index", &EvaluationScores::rand_index},
    {"purity", "purity", &EvaluationScores::purity},
    {"AUC", "auc", &EvaluationScores::auc},
    {"average precision", "average_precision", &EvaluationScores::average_precision},
    {"k-NN accuracy", "knn_accuracy", &EvaluationScores::knn_accuracy},
}};

}  // namespace bregmax::app
