#include "methods/gb_lmnn.hpp"

#include <algorithm>
#include <optional>

#include "bregmax/data/split.hpp"
#include "core/checks.hpp"
#include "core/products.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/lmnn.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"

// Gradient boosted large margin nearest neighbours (Kedem, Tyree, Weinberger, Sha & Lanckriet 2012). f(x) = L x +
// trees, where L is that of LMNN; each tree is a regression tree of limited depth, fitted to minus the gradient of the
// loss of LMNN with respect to the embedded rows. The step is halved until it decreases the loss, and the share
// `shrinkage` of it is taken (all of it if that share does not decrease the loss). Target neighbours are chosen once,
// in the linear embedding.
//
// A fifth of the rows of each class is held out, and f is learned from the others. The best number of trees has the
// fewest held-out errors of 3 nearest neighbours (on a tie, the lowest held-out loss); f is then learned again from all
// rows with that many trees. Boosting ends early when 20 trees bring no better score.
//
// objective: the loss of all rows. stationarity: the share of the wanted trees that were not grown, 0 at the end.

namespace bregmax {
namespace {

using internal::HeldOutRows;
using internal::IterationWatch;
using internal::LargeMarginBooster;
using internal::OrderedRows;

// Trees without a better score of the held-out rows after which boosting ends.
constexpr int kPatience = 20;
constexpr int kHeldOutFolds = 5;  // one of them is held out

// A class of two rows or more keeps at least one row to learn from.
Split hold_out(const ClassOfRow& class_of_row, std::uint64_t seed) {
  Random random(seed);
  return stratified_folds(class_of_row, kHeldOutFolds, random).front();
}

bool can_learn(const ClassOfRow& classes) {
  const auto [lowest, highest] = std::ranges::minmax(classes);
  if (lowest == highest) return false;
  return std::ranges::any_of(classes, [&](int c) { return std::ranges::count(classes, c) > 1; });
}

class GbLmnn {
 public:
  GbLmnn(const MethodChoices& choices, const RunControl& control)
      : choices_(choices),
        trees_(choices.whole("trees")),
        depth_(choices.whole("depth")),
        shrinkage_(choices.number("shrinkage")),
        control_(control),
        watch_(choices.limits, control) {}

  Learned learn(const MatrixView& rows, const ClassOfRow& class_of_row) {
    const OrderedRows everything = internal::order_by_class(rows, class_of_row);
    const int trees = choose_trees(rows, class_of_row);
    // If the run has already ended, we take the linear start that was found last.
    const Matrix linear = end_ ? last_linear_ : learn_linear(everything);
    LargeMarginBooster booster(everything.rows, everything.classes, linear, neighbours(), push());
    bool exhausted = false;
    const auto grown = [&] { return static_cast<int>(booster.trees().roots.size()); };
    while (!end_ && !exhausted && grown() < trees) {
      exhausted = !booster.add_tree(depth_, shrinkage_);
      note_tree(booster.loss(), trees - grown(), trees);
    }
    Learned learned{std::make_shared<TreeEmbedding>(linear, booster.trees()), {}};
    learned.report = watch_.report(iterations_, booster.loss(), end_ ? share_left(trees - grown(), trees) : 0);
    learned.report.status = end_.value_or(Status::kConverged);
    return learned;
  }

 private:
  // The number of trees with the best score of the held-out rows.
  int choose_trees(const MatrixView& rows, const ClassOfRow& class_of_row) {
    const Split split = hold_out(class_of_row, choices_.seed);
    const OrderedRows train = internal::order_by_class(rows, class_of_row, split.train),
                      test = internal::order_by_class(rows, class_of_row, split.test);
    if (split.test.empty() || !can_learn(train.classes)) return trees_;  // too few rows to hold any out
    const Matrix linear = learn_linear(train);
    LargeMarginBooster booster(train.rows, train.classes, linear, neighbours(), push());
    const TreeEnsemble& trees = booster.trees();
    const Matrix test_start = internal::product_transposed(test.rows, linear);
    const HeldOutRows held_out(booster.embedded(), train.classes, test_start, test.classes, neighbours(), push());
    HeldOutRows::Score best = held_out.score(booster.embedded(), test_start);
    int best_count = 0;
    for (int count = 1; count <= trees_ && count - best_count <= kPatience && !end_; ++count) {
      if (!booster.add_tree(depth_, shrinkage_)) break;
      Matrix test_embedded = test_start;
      trees.add_to(test.rows, test_embedded);
      const HeldOutRows::Score score = held_out.score(booster.embedded(), test_embedded);
      if (score < best) {
        best = score;
        best_count = count;
      }
      note_tree(booster.loss(), trees_ - count + 1, trees_);
    }
    return best_count;
  }

  int neighbours() const { return choices_.whole("neighbours"); }
  double push() const { return choices_.number("push"); }

  // Learns within the limits that are left. A result that a limit cut short is a valid start, too.
  Matrix learn_linear(const OrderedRows& train) {
    MethodChoices choices = choices_;
    choices.limits.max_iterations = std::max(1, choices.limits.max_iterations - iterations_);
    if (choices.limits.time_limit > 0) {
      choices.limits.time_limit = std::max(1e-9, choices.limits.time_limit - watch_.seconds());
    }
    RunControl control = control_;
    const int before = iterations_;
    control.on_progress = [this, before](Progress progress) {
      progress.iteration += before;
      control_.report(progress);
    };
    const internal::LmnnResult linear = internal::learn_lmnn(train.rows, train.classes, choices, control);
    iterations_ += linear.learned.report.iterations;
    const Status status = linear.learned.report.status;
    if (status != Status::kConverged && status != Status::kNumericalError) end_ = status;
    last_linear_ = linear.transform;
    return last_linear_;
  }

  static double share_left(int left, int trees) { return static_cast<double>(left + 1) / (trees + 1); }

  void note_tree(double loss, int left, int trees) {
    ++iterations_;
    // Kept above the tolerance: learn() decides on convergence, not the watch.
    const auto end = watch_.end_after(iterations_, loss,
                                      std::max(share_left(std::max(left, 0), trees), 2 * choices_.limits.tolerance));
    if (end && !(left == 0 && *end == Status::kIterationLimit)) end_ = end;
  }

  const MethodChoices& choices_;
  int trees_, depth_;
  double shrinkage_;
  const RunControl& control_;
  IterationWatch watch_;
  int iterations_ = 0;  // of the linear starts, and trees
  std::optional<Status> end_;
  Matrix last_linear_;
};

Learned learn_gb_lmnn(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                      const RunControl& control) {
  if (rows.rows() < kHeldOutFolds) {
    internal::fail("found {} rows; allowed: {} or more, of which a share of {} is held out", rows.rows(), kHeldOutFolds,
                   1.0 / kHeldOutFolds);
  }
  return GbLmnn(choices, control).learn(rows, std::get<ClassOfRow>(supervision));
}

}  // namespace

Method internal::gb_lmnn_method() {
  std::vector<MethodParameter> parameters = margin_parameters();
  parameters.push_back(whole_parameter("trees", "regression trees at most", 100, {0, 100000}));
  parameters.push_back(whole_parameter("depth", "levels of splits of a tree", 4, {1, 20}, {2, 4, 6}));
  parameters.push_back(
      real_parameter("shrinkage", "share of the step of a tree that is taken", 0.3, {0, 1, false}, {0.1, 0.3, 1}));
  return {.name = "gb-lmnn",
          .summary = "gradient boosted large margin nearest neighbours (Kedem et al. 2012)",
          .from_labels = true,
          .parameters = parameters,
          .limits = {1e-3, 5000, 0},
          .learn = learn_gb_lmnn,
          .predicted_seconds = [](const FitSize& size, const MethodChoices&) {
            return 1e-6 * size.rows * size.rows + 5e-5 * size.rows * size.features;
          }};
}

}  // namespace bregmax
