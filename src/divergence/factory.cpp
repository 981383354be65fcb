#include "bregmax/divergence/factory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax {
namespace {

std::vector<std::shared_ptr<const Divergence>> closed_forms() {
  return {std::make_shared<SquaredEuclidean>(), std::make_shared<KullbackLeibler>(), std::make_shared<IDivergence>(),
          std::make_shared<ItakuraSaito>(),     std::make_shared<LogDet>(),          std::make_shared<Exponential>()};
}

}  // namespace

std::vector<std::string> closed_form_names() {
  std::vector<std::string> names;
  for (const auto& form : closed_forms()) names.push_back(form->name());
  return names;
}

std::shared_ptr<const Divergence> make_closed_form(std::string_view name) {
  for (auto& form : closed_forms()) {
    if (form->name() == name) return form;
  }
  throw Error(fmt::format("unknown divergence '{}'; allowed: {}", name, fmt::join(closed_form_names(), ", ")));
}

std::shared_ptr<const Divergence> make_max_affine(Matrix slopes, Vector offsets, double temperature) {
  if (temperature == 0) return std::make_shared<MaxAffine>(std::move(slopes), std::move(offsets));
  return std::make_shared<SmoothedMaxAffine>(std::move(slopes), std::move(offsets), temperature);
}

}  // namespace bregmax
