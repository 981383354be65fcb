#include "optimize/admm/checkpoint.hpp"

#include "core/checkpoint_file.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options, std::string_view engine) {
  Checksum sum;
  sum.add_all(engine);
  sum.add_all(problem.points);
  sum.add_all(problem.piece_of);
  sum.add_all(problem.centres);
  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (const Comparison& c : *comparisons) sum.add(c.i, c.j, c.k, c.l, c.weight);
  } else if (const auto* labels = std::get_if<LabelPairs>(&problem.supervision)) {
    sum.add_all(labels->class_of_row);
    sum.add(labels->similar_weight, labels->dissimilar_weight);
  } else if (const auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (const Pair& p : *pairs) sum.add(p.i, p.j, p.similar, p.weight);
  } else {
    for (const Target& t : std::get<Targets>(problem.supervision)) sum.add(t.i, t.j, t.value, t.weight);
  }
  sum.add(problem.lambda, problem.lipschitz_bound, kOverRelaxation, kCheckEvery, kPatience,
          static_cast<bool>(options.validation));
  return sum.value();
}

}  // namespace bregmax::internal
