#include "optimize/gradient/parameters.hpp"

#include <utility>

namespace bregmax::internal {

ParameterLayout::ParameterLayout(LearnerShape of) : shape(std::move(of)) {
  const auto take = [this](Index rows, Index cols) {
    const Block block{size, rows, cols};
    size += block.size();
    return block;
  };
  for (Index layer = 0; layer < shape.layers(); ++layer) {
    weights.push_back(take(shape.widths[layer + 1], shape.widths[layer]));
    biases.push_back(take(1, shape.widths[layer + 1]));
  }
  slopes = take(shape.pieces, shape.dimension());
  roots = take(shape.rank, shape.dimension());
  offsets = take(1, shape.pieces);
  threshold = take(1, 1);
}

}  // namespace bregmax::internal
