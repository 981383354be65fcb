#include "bregmax/model/model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "model/tuning_parts.hpp"

namespace bregmax {
namespace {

void check_scaling(const Scaling& scaling) {
  if (scaling.center.size() == 0 || scaling.center.size() != scaling.scale.size()) {
    throw Error(fmt::format("the scaling has {} centers and {} scales; allowed: one of each a feature, at least one",
                            scaling.center.size(), scaling.scale.size()));
  }
  for (Index i = 0; i < scaling.center.size(); ++i) {
    if (!std::isfinite(scaling.center(i))) {
      throw Error(fmt::format("the center of feature {} is {}; allowed: finite", i, scaling.center(i)));
    }
    if (!(scaling.scale(i) > 0 && std::isfinite(scaling.scale(i)))) {
      throw Error(fmt::format("the scale of feature {} is {}; allowed: > 0 and finite", i, scaling.scale(i)));
    }
  }
}

}  // namespace

void check_model(const Model& model) {
  if (!model.divergence) throw Error("the model has no divergence");
  check_scaling(model.scaling);
  const Index features = model.features();
  if (model.divergence->dimension() != 0 && model.divergence->dimension() != features) {
    throw Error(fmt::format("the divergence takes {} features and the scaling {}; they must agree",
                            model.divergence->dimension(), features));
  }
  if (!model.feature_names.empty() && static_cast<Index>(model.feature_names.size()) != features) {
    throw Error(fmt::format("there are {} feature names for {} features; allowed: none or one a feature",
                            model.feature_names.size(), features));
  }
  internal::check_tuning(model.tuning);
}

}  // namespace bregmax
