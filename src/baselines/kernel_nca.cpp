#include "bregmax/baselines/kernel_nca.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "baselines/checks.hpp"
#include "baselines/held_out.hpp"
#include "baselines/iteration_watch.hpp"
#include "baselines/linear_nca.hpp"
#include "baselines/methods.hpp"
#include "baselines/neighbour_softmax.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/data/split.hpp"

namespace bregmax {
namespace {

constexpr double kKeptVariance = 0.99;
constexpr Index kVoters = 5;

struct OrderedRows {
  Matrix rows;
  ClassOfRow classes;
};

OrderedRows take(const MatrixView& rows, const ClassOfRow& class_of_row, const std::vector<Index>& numbers) {
  OrderedRows taken{rows(numbers, Eigen::all), {}};
  for (const Index row : numbers) taken.classes.push_back(class_of_row[static_cast<std::size_t>(row)]);
  const std::vector<Index> order = internal::order_by_class(taken.classes);
  taken.rows = taken.rows(order, Eigen::all).eval();
  std::ranges::sort(taken.classes);
  return taken;
}

// Kernel principal components of the rows: coordinates = (K - its column means) * from.
struct PrincipalComponents {
  Matrix coordinates;  // rows x components, largest variance first; scaled to a total variance of `scaled_to`
  Matrix from;         // rows x components
};

PrincipalComponents principal_components(const Matrix& kernel_values, double scaled_to) {
  const Index rows = kernel_values.rows();
  Eigen::MatrixXd centered = kernel_values.rowwise() - kernel_values.colwise().mean();
  centered.colwise() -= centered.rowwise().mean().eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen((centered + centered.transpose()) / 2);
  const Vector variances = eigen.eigenvalues().reverse().cwiseMax(0);
  const double total = variances.sum();
  if (!(total > 0)) throw Error("all rows are the same to the kernel; allowed: rows that differ");
  Index kept = 0;
  for (double held = 0; kept < rows && held < kKeptVariance * total; ++kept) held += variances(kept);
  const double scale = std::sqrt(scaled_to * static_cast<double>(rows) / total);
  const auto directions = eigen.eigenvectors().rowwise().reverse().leftCols(kept);
  const Vector roots = variances.head(kept).cwiseSqrt();
  PrincipalComponents components;
  components.coordinates = scale * directions * roots.asDiagonal();
  // (K - column means) from = H K H U / sqrt(variance): the centring of the columns goes into the coefficients.
  Eigen::MatrixXd from = scale * directions * roots.cwiseInverse().asDiagonal();
  from.rowwise() -= from.colwise().mean().eval();
  components.from = from;
  return components;
}

struct KernelRun {
  std::shared_ptr<const KernelEmbedding> embedding;
  BaselineReport report;
};

KernelRun run(const OrderedRows& data, const Kernel& kernel, const KernelNcaOptions& options,
              const internal::IterationWatch& watch, int first_iteration) {
  const Index wanted = options.components == 0 ? data.rows.cols() : options.components;
  const PrincipalComponents principal =
      principal_components(kernel.values(data.rows, data.rows), static_cast<double>(wanted));
  const Index kept = principal.coordinates.cols();
  const Matrix start = Matrix::Identity(std::min(wanted, kept), kept);
  const internal::LinearNcaProblem problem{principal.coordinates, data.classes};
  const internal::LinearNcaSolution solution =
      internal::solve_linear_nca(problem, start, options.limits, watch, first_iteration);
  return {std::make_shared<KernelEmbedding>(kernel, data.rows, principal.from * solution.transform.transpose()),
          solution.report};
}

std::vector<Kernel> candidates(const KernelNcaOptions& options) {
  std::vector<double> bandwidths{32, 16, 8, 4, 2, 1};
  if (options.bandwidth) bandwidths = {*options.bandwidth};
  std::vector<KernelKind> kinds{KernelKind::kRbf, KernelKind::kPolynomial};
  if (options.kind) kinds = {*options.kind};
  std::vector<Kernel> kernels;
  for (const double bandwidth : bandwidths) {
    for (const KernelKind kind : kinds) kernels.push_back({kind, bandwidth, options.degree});
  }
  return kernels;
}

bool can_learn(const ClassOfRow& classes) {
  const auto [lowest, highest] = std::ranges::minmax(classes);
  return lowest != highest && std::ranges::any_of(classes, [&](int c) { return std::ranges::count(classes, c) > 1; });
}

class KernelNca {
 public:
  KernelNca(const KernelNcaOptions& options, const RunControl& control)
      : options_(options), watch_(options.limits, control) {}

  KernelNcaResult learn(const MatrixView& rows, const ClassOfRow& class_of_row) {
    std::vector<Index> all(class_of_row.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const Kernel kernel = choose_kernel(rows, class_of_row);
    KernelRun final_run = run(take(rows, class_of_row, all), kernel, options_, watch_, iterations_);
    final_run.report.iterations += iterations_;
    final_run.report.seconds = watch_.seconds();
    return {{final_run.embedding, final_run.report}, kernel};
  }

 private:
  using Wrong = std::pair<Index, double>;  // held-out rows, by the vote and as NCA expects

  Kernel choose_kernel(const MatrixView& rows, const ClassOfRow& class_of_row) {
    const std::vector<Kernel> kernels = candidates(options_);
    if (kernels.size() == 1) return kernels.front();
    Random random(options_.seed);
    const auto folds = stratified_folds(class_of_row, options_.folds, random);
    std::vector<Wrong> wrong(kernels.size());
    for (const auto& test : folds) {
      std::vector<Index> train;
      for (Index row = 0; row < rows.rows(); ++row) {
        if (!std::ranges::binary_search(test, row)) train.push_back(row);
      }
      const OrderedRows learned_from = take(rows, class_of_row, train), held_out = take(rows, class_of_row, test);
      if (test.empty() || !can_learn(learned_from.classes)) continue;
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        if (watch_.end_after(iterations_, std::nan(""), 1)) return best(kernels, wrong);
        const Wrong more = wrong_of(kernels[k], learned_from, held_out);
        wrong[k] = {wrong[k].first + more.first, wrong[k].second + more.second};
      }
    }
    return best(kernels, wrong);
  }

  // A kernel that the rows are too large for is right about none of them.
  Wrong wrong_of(const Kernel& kernel, const OrderedRows& learned_from, const OrderedRows& held_out) {
    try {
      const KernelRun learned = run(learned_from, kernel, options_, watch_, iterations_);
      iterations_ += learned.report.iterations;
      const Matrix embedded = learned.embedding->embed(learned_from.rows);
      const Matrix held_out_embedded = learned.embedding->embed(held_out.rows);
      return {internal::count_wrong(embedded, learned_from.classes, held_out_embedded, held_out.classes, kVoters),
              internal::expected_wrong(embedded, learned_from.classes, held_out_embedded, held_out.classes)};
    } catch (const Error&) {
      return {static_cast<Index>(held_out.classes.size()) + 1, 0};
    }
  }

  static Kernel best(const std::vector<Kernel>& kernels, const std::vector<Wrong>& wrong) {
    return kernels[static_cast<std::size_t>(std::ranges::min_element(wrong) - wrong.begin())];
  }

  const KernelNcaOptions& options_;
  internal::IterationWatch watch_;
  int iterations_ = 0;  // of the runs of the cross-validation
};

void check_options(const KernelNcaOptions& options) {
  if (options.bandwidth && (!(*options.bandwidth > 0) || !std::isfinite(*options.bandwidth))) {
    throw Error(fmt::format("bandwidth is {}; allowed: a finite number > 0", *options.bandwidth));
  }
  if (options.degree < 1 || options.degree > 10) {
    throw Error(fmt::format("degree is {}; allowed: 1 to 10", options.degree));
  }
  if (options.components < 0) {
    throw Error(fmt::format("components is {}; allowed: 0 (as many as features) or more", options.components));
  }
  if (options.folds < 2) throw Error(fmt::format("folds is {}; allowed: 2 or more", options.folds));
  internal::check_limits(options.limits);
}

}  // namespace

KernelNcaResult learn_kernel_nca(const MatrixView& rows, const ClassOfRow& class_of_row,
                                 const KernelNcaOptions& options, const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_two_classes(class_of_row, rows.rows());
  check_options(options);
  return KernelNca(options, control).learn(rows, class_of_row);
}

BaselineMethod internal::kernel_nca_method() {
  BaselineMethod method;
  method.name = "kernel-nca";
  method.summary = "neighbourhood component analysis with an RBF or polynomial kernel";
  method.from_labels = true;
  method.limits = KernelNcaOptions{}.limits;
  method.parameters = {
      {.name = "kernel", .help = "auto: by cross-validation", .choices = {"auto", "rbf", "polynomial"}},
      {.name = "bandwidth", .help = "of the kernel; 0: by cross-validation among 2^0 to 2^5"},
      {.name = "degree", .help = "of the polynomial", .standard = 2, .low = 1, .high = 10, .whole = true},
      {.name = "components", .help = "of the embedding; 0: as many as features", .high = 100000, .whole = true}};
  method.learn = [](const MatrixView& rows, const BaselineSupervision& supervision, const BaselineChoices& choices,
                    const RunControl& control) {
    KernelNcaOptions options;
    if (const int kernel = choices.whole("kernel"); kernel > 0) {
      options.kind = kernel == 1 ? KernelKind::kRbf : KernelKind::kPolynomial;
    }
    if (const double bandwidth = choices.number("bandwidth"); bandwidth > 0) options.bandwidth = bandwidth;
    options.degree = choices.whole("degree");
    options.components = choices.whole("components");
    options.seed = choices.seed;
    options.limits = choices.limits;
    return learn_kernel_nca(rows, std::get<ClassOfRow>(supervision), options, control).learned;
  };
  return method;
}

}  // namespace bregmax
