// One training step of the methods smooth and deep: batches of 256, 50 pieces, one thread. With wide layers a step
// should take at most 1.3 times as long as the bare matrix products of its shapes, or the program fails.
// gradient_comparison.py compares the same steps with PyTorch's.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "core/blas.hpp"
#include "failure.hpp"
#include "optimize/gradient/start.hpp"
#include "optimize/gradient/train.hpp"

namespace bregmax {
namespace {

using internal::ParameterLayout;

constexpr Index kRows = 4096, kFeatures = 32, kClasses = 8, kPieces = 50, kRank = 32, kBatch = 256;
constexpr double kMostOfProducts = 1.3;

// Processor time, of the one thread: that of the wall clock on an idle machine.
double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

// Clouds of normal rows, one for each class.
Matrix make_rows() {
  Random random(1);
  Matrix centres(kClasses, kFeatures), rows(kRows, kFeatures);
  for (double& value : centres.reshaped()) value = random.normal();
  for (Index i = 0; i < kRows; ++i) {
    for (Index f = 0; f < kFeatures; ++f) rows(i, f) = centres(i % kClasses, f) + random.normal();
  }
  return rows;
}

// Of the class of a row, nearer than a row of the next class.
std::vector<internal::Item> make_comparisons() {
  Random random(2);
  std::vector<internal::Item> items;
  for (int t = 0; t < 20 * kBatch; ++t) {
    const Index i = random.uniform_index(kRows - 2 * kClasses);
    const Index j = i + kClasses, l = i + kClasses + 1;
    items.push_back(internal::item_of(Comparison{i, j, i, l}));
  }
  return items;
}

internal::TrainingItems training_of(const Matrix& rows, bool comparisons) {
  internal::TrainingItems training{rows};
  if (comparisons) {
    training.items = make_comparisons();
  } else {
    for (Index i = 0; i < kRows; ++i) training.class_of_row.push_back(static_cast<int>(i % kClasses));
  }
  return training;
}

// No network for width 0.
ParameterLayout layout_of(Index width) {
  internal::LearnerShape shape;
  shape.widths = width == 0 ? std::vector<Index>{kFeatures} : std::vector<Index>{kFeatures, width, width, kRank};
  shape.pieces = kPieces;
  shape.rank = kRank;
  return ParameterLayout(shape);
}

// Calls after_step(seconds) for each step of a run.
template <class AfterStep>
void train(const ParameterLayout& layout, const internal::TrainingItems& training, int steps,
           const AfterStep& after_step) {
  internal::AdamwPlan plan;
  plan.steps = steps;
  plan.batch = kBatch;
  plan.rate = 0.002;
  const Vector start = internal::start_parameters(layout, training.rows, Random(3));
  RunControl control;
  double begin = 0;
  int done = 0;
  control.on_progress = [&](const Progress& progress) {
    if (done > 0 && progress.iteration > done) after_step((now() - begin) / (progress.iteration - done));
    done = progress.iteration;
    begin = now();
  };
  internal::train_adamw(layout, training, {0.01, 0}, start, plan, {steps + 1, 0, 1e-6}, control);
}

// The matrix products of one step from labels, on buffers of their own.
class BareProducts {
 public:
  explicit BareProducts(const ParameterLayout& layout) {
    const auto& widths = layout.shape.widths;
    const Index dimension = layout.shape.dimension(), directions = layout.shape.directions();
    for (std::size_t l = 1; l < widths.size(); ++l) {
      add(false, true, kBatch, widths[l], widths[l - 1]);
      add(true, false, widths[l], widths[l - 1], kBatch);
      if (l > 1) add(false, false, kBatch, widths[l - 1], widths[l]);
    }
    add(false, true, kBatch, directions, dimension);      // scores
    add(false, false, kBatch, dimension, directions);     // gradients
    add(false, true, kBatch, kBatch, dimension);          // divergences
    add(true, false, kBatch, dimension, kBatch);          // by gradients
    add(false, false, kBatch, dimension, kBatch);         // by embedded rows
    add(false, true, kBatch, directions, dimension);      // by scores
    add(true, false, directions, dimension, 2 * kBatch);  // by slopes
    add(false, false, kBatch, dimension, directions);     // by embedded rows, through the generator
  }

  double seconds() {
    const double begin = now();
    for (Product& p : products_) {
      internal::gemm(p.transpose_a, p.transpose_b, p.rows, p.cols, p.inner, 1.0F, p.a.data(),
                     p.transpose_a ? p.rows : p.inner, p.b.data(), p.transpose_b ? p.inner : p.cols, 0.0F, p.c.data(),
                     p.cols);
    }
    return now() - begin;
  }

 private:
  struct Product {
    bool transpose_a, transpose_b;
    Index rows, cols, inner;
    std::vector<float> a, b, c;
  };

  void add(bool transpose_a, bool transpose_b, Index rows, Index cols, Index inner) {
    const auto filled = [](Index size) { return std::vector<float>(size, 0.5F); };
    products_.push_back(
        {transpose_a, transpose_b, rows, cols, inner, filled(rows * inner), filled(inner * cols), filled(rows * cols)});
  }

  std::vector<Product> products_;
};

void step(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  const Matrix rows = make_rows();
  const ParameterLayout layout = layout_of(state.range(0));
  const internal::TrainingItems training = training_of(rows, state.range(1) != 0);
  for (auto _ : state) {
    std::vector<double> seconds;
    train(layout, training, 400, [&](double one) { seconds.push_back(one); });
    state.SetIterationTime(median(seconds));
  }
}

// Step and products take turns, so that other work on the machine meets both.
void step_against_products(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  const Matrix rows = make_rows();
  const ParameterLayout layout = layout_of(state.range(0));
  const internal::TrainingItems training = training_of(rows, false);
  BareProducts products(layout);
  for (auto _ : state) {
    std::vector<double> seconds, of_products;
    train(layout, training, 40, [&](double one) {
      seconds.push_back(one);
      of_products.push_back(products.seconds());
    });
    const double measured = median(seconds), bare = median(of_products);
    state.SetIterationTime(measured);
    state.counters["ratio"] = measured / bare;
    if (measured > kMostOfProducts * bare) {
      fail_benchmark(state, fmt::format("a step takes {:.2f} times as long as its products ({:.1f} and {:.1f} ms); "
                                        "at most {} times is wanted",
                                        measured / bare, 1e3 * measured, 1e3 * bare, kMostOfProducts));
    }
  }
}

BENCHMARK(step)
    ->ArgNames({"width", "comparisons"})
    ->ArgsProduct({{0, 256}, {0, 1}})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(step_against_products)
    ->ArgName("width")
    ->Arg(2048)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bregmax
