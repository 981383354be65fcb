#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bregmax/core/random.hpp"
#include "bregmax/divergence/divergence.hpp"
#include "paper/summary.hpp"

namespace bregmax {

// The paper's Figure 2: a divergence is learned from noisy values between all ordered pairs of n points, by PBDL and by
// least squares Mahalanobis regression, and compared with the true one between new points.

struct RegressionProblem {
  std::string name;   // "kl"
  std::string title;  // "Kullback-Leibler"
  std::shared_ptr<const Divergence> truth;
};
const std::vector<RegressionProblem>& regression_problems();  // of the figure's four panels
// Throws Error that lists the names.
const RegressionProblem& regression_problem(const std::string& name);

inline constexpr Index kRegressionStep = 5, kMostRegressionPoints = 100, kRegressionTestPoints = 1000;
inline constexpr double kRegressionNoise = 0.05;  // standard deviation

// KL: Dirichlet(1, 1); LogDet: 2 x 2 Wishart(I, 10) / 10; the others: uniform in [0.1, 1.1]^2.
Matrix draw_points(const RegressionProblem& problem, Index count, Random& random);

// Mean squared errors between all ordered pairs of test points.
struct RegressionErrors {
  double pbdl = 0, mahalanobis = 0;
  std::string note;
  bool stopped = false;
};

// The n points of a run are the first n of its 100; 2 <= n <= 100.
RegressionErrors run_regression(const RegressionProblem& problem, Index points, int run, std::uint64_t seed,
                                const RunControl& control = {});

struct Figure2Plan {
  std::vector<std::string> problems;
  int first = 0, runs = 50;
  std::uint64_t seed = 0;
};
ResultsFormat figure2_format(std::uint64_t seed);
std::vector<Job> missing_figure2_jobs(const Figure2Plan& plan, const ResultsFile& results);

struct ErrorPoint {
  Index points = 0;
  Estimate pbdl, mahalanobis;  // of the mean squared error
};
struct ErrorCurve {
  RegressionProblem problem;
  std::vector<ErrorPoint> errors;  // by rising n; those without runs are left out
};
std::vector<ErrorCurve> error_curves(const Records& records, const Figure2Plan& plan);
std::string curves_as_csv(const std::vector<ErrorCurve>& curves);
std::string curves_as_text(const std::vector<ErrorCurve>& curves);
std::string curves_as_json(const std::vector<ErrorCurve>& curves);

}  // namespace bregmax
