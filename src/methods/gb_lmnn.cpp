#include "bregmax/methods/gb_lmnn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/methods/lmnn.hpp"
#include "methods/boosting.hpp"
#include "methods/checks.hpp"
#include "methods/held_out.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/neighbour_softmax.hpp"
#include "methods/parameters.hpp"

namespace bregmax {
namespace {

using internal::HeldOutScore;
using internal::IterationWatch;
using internal::LargeMarginBooster;

// Trees without a better score of the held-out rows after which boosting ends.
constexpr int kPatience = 20;

struct OrderedRows {
  Matrix rows;
  ClassOfRow classes;
};

// The rows with these numbers, in the order of their classes.
OrderedRows take(const MatrixView& rows, const ClassOfRow& class_of_row, const std::vector<Index>& numbers) {
  ClassOfRow classes;
  for (const Index row : numbers) classes.push_back(class_of_row[static_cast<std::size_t>(row)]);
  OrderedRows taken;
  std::vector<Index> order;
  for (const Index position : internal::order_by_class(classes)) {
    order.push_back(numbers[static_cast<std::size_t>(position)]);
    taken.classes.push_back(classes[static_cast<std::size_t>(position)]);
  }
  taken.rows = rows(order, Eigen::all);
  return taken;
}

int held_out_folds(double share) { return std::max(2, static_cast<int>(std::lround(1 / share))); }

// A share of each class; at least one row of a class is always learned from.
Split hold_out(const ClassOfRow& class_of_row, double share, std::uint64_t seed) {
  Random random(seed);
  const int folds = held_out_folds(share);
  Split split;
  split.test = stratified_folds(class_of_row, folds, random).front();
  std::vector<bool> is_test(class_of_row.size(), false);
  for (const Index row : split.test) is_test[static_cast<std::size_t>(row)] = true;
  for (std::size_t row = 0; row < class_of_row.size(); ++row) {
    if (!is_test[row]) split.train.push_back(static_cast<Index>(row));
  }
  return split;
}

bool can_learn(const ClassOfRow& classes) {
  const auto [lowest, highest] = std::ranges::minmax(classes);
  if (lowest == highest) return false;
  return std::ranges::any_of(classes, [&](int c) { return std::ranges::count(classes, c) > 1; });
}

class GbLmnn {
 public:
  GbLmnn(const GbLmnnOptions& options, const RunControl& control)
      : options_(options), control_(control), watch_(options.limits, control) {}

  GbLmnnResult learn(const MatrixView& rows, const ClassOfRow& class_of_row) {
    std::vector<Index> all(class_of_row.size());
    std::iota(all.begin(), all.end(), 0);
    const OrderedRows everything = take(rows, class_of_row, all);
    const int trees = choose_trees(rows, class_of_row);
    // A run that ends before this has the start that it found last.
    const Matrix linear = end_ ? last_linear_ : learn_linear(everything);
    LargeMarginBooster booster(everything.rows, everything.classes, linear, options_.neighbours, options_.push);
    bool exhausted = false;
    while (!end_ && !exhausted && static_cast<int>(booster.trees().roots.size()) < trees) {
      exhausted = !booster.add_tree(options_.depth, options_.shrinkage);
      note_tree(booster.loss(), trees - static_cast<int>(booster.trees().roots.size()), trees);
    }
    GbLmnnResult result;
    result.trees = static_cast<int>(booster.trees().roots.size());
    result.learned.divergence = std::make_shared<TreeEmbedding>(linear, booster.trees());
    MethodReport& report = result.learned.report;
    report.status = end_.value_or(Status::kConverged);
    report.iterations = iterations_;
    report.objective = booster.loss();
    report.stationarity = end_ ? static_cast<double>(trees - result.trees + 1) / (trees + 1) : 0;
    report.seconds = watch_.seconds();
    return result;
  }

 private:
  // The number of trees that serves held-out rows best.
  int choose_trees(const MatrixView& rows, const ClassOfRow& class_of_row) {
    const Split split = hold_out(class_of_row, options_.held_out, options_.seed);
    const OrderedRows train = take(rows, class_of_row, split.train), test = take(rows, class_of_row, split.test);
    if (split.test.empty() || !can_learn(train.classes)) return options_.trees;  // too few rows to hold any out
    const Matrix linear = learn_linear(train);
    LargeMarginBooster booster(train.rows, train.classes, linear, options_.neighbours, options_.push);
    const TreeEnsemble& trees = booster.trees();
    const Matrix test_start = test.rows * linear.transpose();
    const internal::HeldOutRows held_out(booster.embedded(), train.classes, test_start, test.classes,
                                         options_.neighbours, options_.push);
    HeldOutScore best = held_out.score(booster.embedded(), test_start);
    int best_count = 0;
    for (int count = 1; count <= options_.trees && count - best_count <= kPatience && !end_; ++count) {
      if (!booster.add_tree(options_.depth, options_.shrinkage)) break;
      Matrix test_embedded = test_start;
      trees.add_to(test.rows, test_embedded);
      const HeldOutScore score = held_out.score(booster.embedded(), test_embedded);
      if (score.better_than(best)) {
        best = score;
        best_count = count;
      }
      note_tree(booster.loss(), options_.trees - count + 1, options_.trees);
    }
    return best_count;
  }

  // Within the limits that are left; what it has found when they end is a start as well.
  Matrix learn_linear(const OrderedRows& train) {
    LmnnOptions options{.neighbours = options_.neighbours, .push = options_.push};
    options.limits = options_.limits;
    options.limits.max_iterations = std::max(1, options_.limits.max_iterations - iterations_);
    if (options_.limits.time_limit > 0) {
      options.limits.time_limit = std::max(1e-9, options_.limits.time_limit - watch_.seconds());
    }
    RunControl control = control_;
    const int before = iterations_;
    control.on_progress = [this, before](Progress progress) {
      progress.iteration += before;
      control_.report(progress);
    };
    const LmnnResult linear = learn_lmnn(train.rows, train.classes, options, control);
    iterations_ += linear.learned.report.iterations;
    const Status status = linear.learned.report.status;
    if (status != Status::kConverged && status != Status::kNumericalError) end_ = status;
    last_linear_ = linear.transform;
    return last_linear_;
  }

  void note_tree(double loss, int left, int trees) {
    ++iterations_;
    // Never "converged" by the watch: that is for the caller to say.
    const double share = static_cast<double>(std::max(left, 0) + 1) / (trees + 1);
    const auto end = watch_.end_after(iterations_, loss, std::max(share, 2 * options_.limits.tolerance));
    if (end && !(left == 0 && *end == Status::kIterationLimit)) end_ = end;
  }

  const GbLmnnOptions& options_;
  const RunControl& control_;
  IterationWatch watch_;
  int iterations_ = 0;  // of the linear starts, and trees
  std::optional<Status> end_;
  Matrix last_linear_;
};

void check_options(const GbLmnnOptions& options) {
  if (options.trees < 0) throw Error(fmt::format("trees is {}; allowed: 0 or more", options.trees));
  if (options.depth < 1) throw Error(fmt::format("depth is {}; allowed: 1 or more", options.depth));
  if (!(options.shrinkage > 0 && options.shrinkage <= 1)) {
    throw Error(fmt::format("shrinkage is {}; allowed: a number above 0, up to 1", options.shrinkage));
  }
  if (!(options.held_out > 0 && options.held_out <= 0.5)) {
    throw Error(fmt::format("held_out is {}; allowed: above 0, up to 0.5", options.held_out));
  }
  if (options.neighbours < 1) throw Error(fmt::format("neighbours is {}; allowed: 1 or more", options.neighbours));
  if (!(options.push > 0 && options.push < 1)) {
    throw Error(fmt::format("push is {}; allowed: a number above 0 and below 1", options.push));
  }
  internal::check_limits(options.limits);
}

}  // namespace

GbLmnnResult learn_gb_lmnn(const MatrixView& rows, const ClassOfRow& class_of_row, const GbLmnnOptions& options,
                           const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_two_classes(class_of_row, rows.rows());
  check_options(options);
  if (const int least = held_out_folds(options.held_out); rows.rows() < least) {
    throw Error(fmt::format("found {} rows; allowed: {} or more, of which a share of {} is held out", rows.rows(),
                            least, options.held_out));
  }
  return GbLmnn(options, control).learn(rows, class_of_row);
}

Method internal::gb_lmnn_method() {
  Method method;
  method.name = "gb-lmnn";
  method.summary = "gradient boosted large margin nearest neighbours (Kedem et al. 2012)";
  method.from_labels = true;
  method.limits = GbLmnnOptions{}.limits;
  method.parameters = internal::margin_parameters();
  method.parameters.push_back(
      {.name = "trees", .help = "regression trees at most", .standard = 100, .high = 100000, .whole = true});
  method.parameters.push_back({.name = "depth",
                               .help = "levels of splits of a tree",
                               .standard = 4,
                               .low = 1,
                               .high = 20,
                               .whole = true,
                               .grid = {2, 4, 6}});
  method.parameters.push_back({.name = "shrinkage",
                               .help = "share of the step of a tree that is taken",
                               .standard = GbLmnnOptions{}.shrinkage,
                               .high = 1,
                               .low_included = false,
                               .grid = {0.1, 0.3, 1}});
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    GbLmnnOptions options;
    options.neighbours = choices.whole("neighbours");
    options.push = choices.number("push");
    options.trees = choices.whole("trees");
    options.depth = choices.whole("depth");
    options.shrinkage = choices.number("shrinkage");
    options.seed = choices.seed;
    options.limits = choices.limits;
    return learn_gb_lmnn(rows, std::get<ClassOfRow>(supervision), options, control).learned;
  };
  return method;
}

}  // namespace bregmax
