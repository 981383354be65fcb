#include "learn/start.hpp"

#include <algorithm>

#include "core/checks.hpp"

namespace bregmax::internal {
namespace {

bool goes_on(const std::string& method) {
  const auto found = std::ranges::find(all_methods(), method, &Method::name);
  return found != all_methods().end() && found->goes_on;
}

void check_parameter(const FitRequest& request, const MethodParameter& parameter, const Wish& wish, double of_start) {
  const std::string name = request.names(parameter.name), start = request.names("start");
  require(!wish.automatic && wish.values.size() == 1, "{} is to be chosen, and with {} nothing is; allowed: one value",
          name, start);
  require(!parameter.of_shape || wish.values.front() == of_start, "{} is {}, and the model to go on from has {}", name,
          parameter.text(wish.values.front()), parameter.text(of_start));
}

}  // namespace

FitRequest filled_from_start(const FitRequest& request, const TrainingData& data) {
  const Model& start = *request.start;
  const TrainingRecord& record = start.record;
  const Names& names = request.names;
  require(goes_on(record.method), "{} is a model of the method {}; allowed: one of smooth or deep", names("start"),
          record.method);
  require(request.method == "auto" || request.method == record.method, "{}: the model to go on from is one of {}",
          names.with("method", request.method), record.method);
  require(request.candidates.empty(), "{} name methods to choose from, and with {} nothing is chosen",
          names("candidates"), names("start"));
  require(request.scales.empty(), "{} does not go with {}: the scaling of the model is kept", names("scales"),
          names("start"));
  require(data.rows.cols() == start.features(), "the rows have {} features, and the model to go on from {}",
          data.rows.cols(), start.features());
  FitRequest filled = request;
  filled.method = record.method;
  filled.scales = {start.scaling.is_identity() ? Scale::kNone : Scale::kStandard};
  for (const auto& [name, value] : record.parameters) {
    const auto wish = filled.parameters.find(name);
    if (wish == filled.parameters.end()) {
      filled.parameters[name] = value;
    } else {
      check_parameter(request, method_named(record.method).parameter(name), wish->second, value);
    }
  }
  return filled;
}

}  // namespace bregmax::internal
