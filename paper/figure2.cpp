#include "paper/figure2.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/methods/registry.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"

namespace bregmax {
namespace {

constexpr std::uint64_t kPointStream = 1, kNoiseStream = 2, kTestStream = 3;
constexpr double kTolerance = 1e-6;

// A 2 x 2 Wishart matrix of 10 degrees of freedom over 10, row by row.
Eigen::RowVector4d wishart(Random& random) {
  constexpr int kDegrees = 10;
  Eigen::Matrix2d sum = Eigen::Matrix2d::Zero();
  for (int i = 0; i < kDegrees; ++i) {
    Eigen::Vector2d x;
    x << random.normal(), random.normal();
    sum += x * x.transpose();
  }
  sum /= kDegrees;
  return {sum(0, 0), sum(0, 1), sum(1, 0), sum(1, 1)};
}

// Noisy values between all ordered pairs. The noise of a pair does not depend on n.
Targets noisy_targets(const Divergence& truth, const Matrix& rows, Random random) {
  const Matrix exact = truth.matrix(rows, rows);
  Matrix noise(kMostRegressionPoints, kMostRegressionPoints);
  for (Index i = 0; i < noise.rows(); ++i) {
    for (Index j = 0; j < noise.cols(); ++j) noise(i, j) = kRegressionNoise * random.normal();
  }
  Targets targets;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.rows(); ++j) {
      if (i != j) targets.push_back({i, j, exact(i, j) + noise(i, j)});
    }
  }
  return targets;
}

double mean_squared_error(const Divergence& learned, const Matrix& exact, const Matrix& rows) {
  const auto pairs = static_cast<double>(rows.rows() * (rows.rows() - 1));  // the diagonal has no error
  return (learned.matrix(rows, rows) - exact).squaredNorm() / pairs;
}

std::vector<std::string> key_of(const std::string& problem, Index points, int run) {
  return {problem, fmt::format("{}", points), fmt::format("{}", run)};
}

}  // namespace

const std::vector<RegressionProblem>& regression_problems() {
  static const std::vector<RegressionProblem> kProblems = {
      {"kl", "Kullback-Leibler", make_closed_form("kl")},
      {"logdet", "LogDet", make_closed_form("logdet")},
      {"itakura_saito", "Itakura-Saito", make_closed_form("itakura_saito")},
      {"mahalanobis", "Mahalanobis", std::make_shared<Mahalanobis>(Matrix::Identity(2, 2) + 0.5 * Matrix::Ones(2, 2))},
  };
  return kProblems;
}

const RegressionProblem& regression_problem(const std::string& name) {
  return internal::item_named(regression_problems(), name, "the figure has no divergence");
}

Matrix draw_points(const RegressionProblem& problem, Index count, Random& random) {
  constexpr double kLow = 0.1;
  Matrix rows(count, problem.name == "logdet" ? 4 : 2);
  for (Index i = 0; i < count; ++i) {
    if (problem.name == "kl") {
      double share = random.uniform();
      while (!(share > 0)) share = random.uniform();
      rows.row(i) << share, 1 - share;
    } else if (problem.name == "logdet") {
      rows.row(i) = wishart(random);
    } else {
      rows.row(i) << kLow + random.uniform(), kLow + random.uniform();
    }
  }
  return rows;
}

RegressionErrors run_regression(const RegressionProblem& problem, Index points, int run, std::uint64_t seed,
                                const RunControl& control) {
  internal::require(points >= 2 && points <= kMostRegressionPoints, "there are {} points; allowed: 2 to {}", points,
                    kMostRegressionPoints);
  const Random of_run = Random(seed).fork(stream_of("figure2 " + problem.name)).fork(static_cast<std::uint64_t>(run));
  Random of_points = of_run.fork(kPointStream), of_test = of_run.fork(kTestStream);
  const Matrix rows = draw_points(problem, kMostRegressionPoints, of_points).topRows(points);
  const Targets targets = noisy_targets(*problem.truth, rows, of_run.fork(kNoiseStream));
  const PbdlOptions options{.lambda = 0, .scale = Scale::kNone, .tolerance = kTolerance};
  const MethodFit learned = fit_pbdl(rows, targets, options, control);
  const Learned metric = learn_with(method_named("mahalanobis"), rows, targets, {}, control);
  RegressionErrors errors;
  errors.stopped = control.stop_requested();
  if (errors.stopped) return errors;
  const Matrix test = draw_points(problem, kRegressionTestPoints, of_test);
  const Matrix exact = problem.truth->matrix(test, test);
  errors.pbdl = mean_squared_error(*learned.model.divergence, exact, learned.model.scaling.apply(test));
  errors.mahalanobis = mean_squared_error(*metric.divergence, exact, test);
  errors.note = fmt::format("{} gap {:.1e}; {}", to_string(learned.report.status), learned.report.relative_gap,
                            to_string(metric.report.status));
  return errors;
}

ResultsFormat figure2_format(std::uint64_t seed) {
  return {"runs of Figure 2", {"divergence", "points", "run"}, {"pbdl", "mahalanobis", "seconds"}, seed};
}

std::vector<Job> missing_figure2_jobs(const Figure2Plan& plan, const ResultsFile& results) {
  std::vector<Job> jobs;
  for (int run = plan.first; run < plan.first + plan.runs; ++run) {
    for (const std::string& name : plan.problems) {
      const RegressionProblem& problem = regression_problem(name);
      for (Index points = kRegressionStep; points <= kMostRegressionPoints; points += kRegressionStep) {
        const auto key = key_of(name, points, run);
        if (results.contains(key)) continue;
        // About proportional to the time: n x n pairs are assembled and n x n matrices factorized.
        const auto n = static_cast<double>(points), effort = 1000 + n * n + n * n * n / 50;
        jobs.push_back({fmt::format("{}, {} points, run {}", name, points, run), effort,
                        [&problem, points, run, key, seed = plan.seed](const RunControl& control) {
                          const RegressionErrors errors = run_regression(problem, points, run, seed, control);
                          std::vector<ResultsRecord> records;
                          if (!errors.stopped) records.push_back({key, {errors.pbdl, errors.mahalanobis}, errors.note});
                          return records;
                        }});
      }
    }
  }
  return jobs;
}

std::vector<ErrorCurve> error_curves(const Records& records, const Figure2Plan& plan) {
  std::vector<ErrorCurve> curves;
  for (const std::string& name : plan.problems) {
    ErrorCurve curve{regression_problem(name), {}};
    for (Index points = kRegressionStep; points <= kMostRegressionPoints; points += kRegressionStep) {
      std::vector<double> pbdl, mahalanobis;
      for (int run = plan.first; run < plan.first + plan.runs; ++run) {
        const auto found = records.find(key_of(name, points, run));
        if (found == records.end()) continue;
        pbdl.push_back(found->second.values[0]);
        mahalanobis.push_back(found->second.values[1]);
      }
      if (!pbdl.empty()) curve.errors.push_back({points, estimate_of(pbdl, 1), estimate_of(mahalanobis, 1)});
    }
    if (!curve.errors.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

std::string curves_as_csv(const std::vector<ErrorCurve>& curves) {
  const auto field = [](double value) { return std::isfinite(value) ? fmt::format("{:.8g}", value) : std::string(); };
  std::string out = "divergence,points,runs,pbdl_mse,pbdl_half_width,mahalanobis_mse,mahalanobis_half_width\n";
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) {
      out += fmt::format("{},{},{},{},{},{},{}\n", curve.problem.name, at.points, at.pbdl.runs, field(at.pbdl.mean),
                         field(at.pbdl.half_width), field(at.mahalanobis.mean), field(at.mahalanobis.half_width));
    }
  }
  return out;
}

std::string curves_as_text(const std::vector<ErrorCurve>& curves) {
  std::string out = "Figure 2: mean squared error on new points, mean and 95% half width\n";
  out += fmt::format("{:<18}{:>7}{:>6}{:>24}{:>24}{:>9}\n", "divergence", "points", "runs", "PBDL", "Mahalanobis",
                     "factor");
  const auto text = [](const Estimate& estimate) {
    return std::isfinite(estimate.half_width) ? fmt::format("{:.4g} (+-{:.2g})", estimate.mean, estimate.half_width)
                                              : fmt::format("{:.4g}", estimate.mean);
  };
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) {
      constexpr Index kShown = 20;
      if (at.points != kRegressionStep && at.points % kShown != 0) continue;
      out += fmt::format("{:<18}{:>7}{:>6}{:>24}{:>24}{:>9.3g}\n", curve.problem.name, at.points, at.pbdl.runs,
                         text(at.pbdl), text(at.mahalanobis), at.mahalanobis.mean / at.pbdl.mean);
    }
  }
  return out;
}

std::string curves_as_json(const std::vector<ErrorCurve>& curves) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) {
      list.push_back({{"divergence", curve.problem.name},
                      {"points", at.points},
                      {"runs", at.pbdl.runs},
                      {"pbdl_mse", at.pbdl.mean},
                      {"pbdl_half_width", at.pbdl.half_width},
                      {"mahalanobis_mse", at.mahalanobis.mean},
                      {"mahalanobis_half_width", at.mahalanobis.half_width}});
    }
  }
  return Json{{"figure", "figure2"}, {"errors", list}}.dump(2) + "\n";
}

}  // namespace bregmax
