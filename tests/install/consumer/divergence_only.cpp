#include <utility>

#include "bregmax/divergence/max_affine.hpp"

int main() {
  bregmax::Matrix slopes(2, 1);
  slopes << -1, 1;
  const bregmax::MaxAffine absolute_value(std::move(slopes), bregmax::Vector::Zero(2));
  const bregmax::Vector point = bregmax::Vector::Constant(1, 3), reference = bregmax::Vector::Constant(1, -1);
  return absolute_value.value(point, reference) == 6 ? 0 : 1;
}
