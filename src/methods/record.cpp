#include "methods/record.hpp"

#include <limits>
#include <utility>

namespace bregmax::internal {

TrainingRecord make_record(const std::string& method, const MethodSupervision& supervision, Index rows,
                           std::uint64_t seed, const MethodReport& report, const std::optional<Proved>& proved) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  TrainingRecord record;
  record.method = method;
  record.supervision = supervision_name(supervision);
  record.solver = proved ? proved->solver : method;
  record.status = to_string(report.status);
  record.rows = rows;
  record.items = proved ? proved->items : item_count(supervision);
  record.lambda = proved ? proved->lambda : kNan;
  record.lipschitz_bound = proved ? proved->lipschitz_bound : kNan;
  record.lipschitz = proved ? report.lipschitz : kNan;
  record.loss = proved ? report.loss : kNan;
  record.objective = report.objective;
  record.lower_bound = proved ? report.lower_bound : kNan;
  record.relative_gap = proved ? report.relative_gap : kNan;
  record.stationarity = report.stationarity;
  record.iterations = report.iterations;
  record.seconds = report.seconds;
  record.seed = seed;
  if (proved) record.drawn = "given";
  record.constant = proved && proved->constant;
  return record;
}

MethodFit as_fit(Learned learned, const std::string& method, const MethodSupervision& supervision,
                 const Scaling& scaling, Index rows, std::uint64_t seed) {
  MethodFit fit;
  fit.report = learned.report;
  fit.proved = std::move(learned.proved);
  fit.model.divergence = std::move(learned.divergence);
  fit.model.scaling = scaling;
  fit.model.record = make_record(method, supervision, rows, seed, fit.report, fit.proved);
  return fit;
}

}  // namespace bregmax::internal
