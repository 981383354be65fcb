#include "methods/gradient_learner.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/network_embedding.hpp"
#include "core/checks.hpp"
#include "divergence/checks.hpp"
#include "methods/hold_out.hpp"
#include "methods/item_folds.hpp"
#include "methods/model_start.hpp"
#include "methods/parameters.hpp"
#include "optimize/gradient/lbfgs.hpp"
#include "optimize/gradient/start.hpp"

namespace bregmax::internal {
namespace {

constexpr std::uint64_t kStartStream = 1;

// L-BFGS looks at all items in each step. Beyond this many multiplications per step batches are quicker.
constexpr double kWorkForLbfgs = 2e7;
constexpr double kMostRowsForLbfgs = 5000;  // with labels, where it holds all pairs of rows in memory

// A run that goes on from a model takes shorter steps: what it does not see again is then forgotten less, and on new
// rows of the same kind it ends where one on all rows does.
constexpr double kRateOfGoingOn = 0.1;

constexpr double kUnitsOfPrices = 1000;  // rows or items for which the prices are meant

// Every row is seen this many times, but the run has at least and at most so many steps: small tables need the steps,
// and large ones gain nothing from more.
constexpr double kEpochs = 60;
constexpr int kLeastSteps = 400, kMostSteps = 4000;

// Similar pairs have as much weight as dissimilar ones, however many there are of each.
void balance(std::vector<Item>& items) {
  double similar = 0, dissimilar = 0;
  for (const Item& item : items) (item.plus.exists() ? similar : dissimilar) += item.weight;
  if (similar == 0 || dissimilar == 0) return;
  for (Item& item : items) item.weight /= item.plus.exists() ? similar : dissimilar;
}

// Targets are learned in units of their size, so that the start and the rates fit.
double size_of(const std::vector<Item>& items) {
  double squares = 0, weight = 0;
  for (const Item& item : items) {
    squares += item.weight * item.value * item.value;
    weight += item.weight;
  }
  return squares > 0 ? std::sqrt(squares / weight) : 1;
}

// unit: of the divergences that are learned; 0: to be decided here.
TrainingItems training_items(const MatrixView& rows, const MethodSupervision& supervision, double& unit) {
  const bool targets = std::holds_alternative<Targets>(supervision);
  TrainingItems training{rows};
  if (const auto* classes = std::get_if<ClassOfRow>(&supervision)) {
    training.class_of_row = *classes;
  } else {
    for_each_item(items_of(supervision), [&](Index, const Item& item) { training.items.push_back(item); });
  }
  if (std::holds_alternative<Pairs>(supervision)) balance(training.items);
  if (unit == 0) unit = targets ? size_of(training.items) : 1;
  for (Item& item : training.items) item.value /= unit;  // 0 but for targets
  return training;
}

// Multiplications of a step that looks at so many rows, and at all pairs of them if there are no items.
double work_of_step(const LearnerShape& shape, double rows, double items) {
  const auto dimension = static_cast<double>(shape.dimension());
  double weights = 0;
  for (std::size_t l = 1; l < shape.widths.size(); ++l) {
    weights += static_cast<double>(shape.widths[l - 1]) * static_cast<double>(shape.widths[l]);
  }
  const double of_rows = rows * (3 * weights + 8 * static_cast<double>(shape.directions()) * dimension);
  return of_rows + (items > 0 ? 10 * items : 2 * rows * rows) * dimension;
}

bool takes_all_at_once(const GradientLearner& learner, double rows, double items) {
  const bool of_labels = items == 0;
  if (learner.optimiser == Optimiser::kLbfgs && of_labels && rows > kMostRowsForLbfgs) {
    fail("optimiser is lbfgs, which takes all pairs of rows at once, for {} rows; allowed: up to {}, or adamw", rows,
         kMostRowsForLbfgs);
  }
  if (learner.optimiser != Optimiser::kAuto) return learner.optimiser == Optimiser::kLbfgs;
  if (of_labels || learner.shape.layers() > 0) return false;
  return work_of_step(learner.shape, std::min(rows, 4 * items), items) <= kWorkForLbfgs;
}

int steps_for(double units, Index batch) {
  const double steps = kEpochs * units / static_cast<double>(batch);
  return static_cast<int>(std::clamp(steps, double{kLeastSteps}, double{kMostSteps}));
}

// phi times `factor`. The slopes get mean 0: shifting them all changes no divergence.
std::shared_ptr<const Divergence> make_generator(const ParameterLayout& layout, const Vector& parameters,
                                                 double factor) {
  const double* at = parameters.data();
  Matrix slopes = layout.slopes.in(at);
  slopes.rowwise() -= slopes.colwise().mean().eval();
  return std::make_shared<LogSumExpQuadratic>(factor * slopes, factor * Vector(layout.offsets.in(at).transpose()),
                                              factor, std::sqrt(factor) * Matrix(layout.roots.in(at)));
}

std::shared_ptr<const Divergence> make_divergence(const ParameterLayout& layout, const Vector& parameters,
                                                  double factor) {
  auto generator = make_generator(layout, parameters, factor);
  if (layout.shape.layers() == 0) return generator;
  std::vector<NetworkEmbedding::Layer> layers;
  layers.reserve(layout.weights.size());
  for (std::size_t l = 0; l < layout.weights.size(); ++l) {
    layers.push_back(
        {layout.weights[l].in(parameters.data()), Vector(layout.biases[l].in(parameters.data()).transpose())});
  }
  return std::make_shared<NetworkEmbedding>(std::move(layers), layout.shape.activation, std::move(generator));
}

// Features whose norm is no more than what the smoothing of the price leaves are dropped.
void drop_features(const ParameterLayout& layout, Vector& parameters) {
  constexpr double kDropped = 10 * kSmoothedNorm;
  const Vector norms = feature_norms(layout, parameters.data());
  if (norms.maxCoeff() <= kDropped) return;
  for (Index f = 0; f < norms.size(); ++f) {
    if (norms[f] > kDropped) continue;
    if (layout.shape.layers() > 0) {
      layout.weights.front().in(parameters.data()).col(f).setZero();
    } else {
      layout.slopes.in(parameters.data()).col(f).setZero();
      layout.roots.in(parameters.data()).col(f).setZero();
    }
  }
}

// One over the threshold. A threshold beyond all divergences tells no pairs apart: the training has diverged.
double factor_of_pairs(const ParameterLayout& layout, TrainResult& result) {
  constexpr double kLargest = 80;  // beyond it the exponential leaves single precision
  const double log_threshold = result.parameters[layout.threshold.begin];
  if (std::abs(log_threshold) <= kLargest) return std::exp(-log_threshold);
  if (is_success(result.status)) result.status = Status::kNumericalError;
  return 1;
}

// Only their ratios count, and the largest must fit into single precision.
std::vector<double> relative(std::vector<double> weights) {
  const double largest = weights.empty() ? 1 : std::ranges::max(weights);
  for (double& weight : weights) weight /= largest;
  return weights;
}

// The start has squares of the rows in it.
void check_squares(const MatrixView& rows) {
  for (Index i = 0; i < rows.rows(); ++i) {
    require(rows.row(i).squaredNorm() <= kLargestEntry,
            "row {} has features up to {:.2g}: squared, they leave the range of numbers; standardised features do not",
            i, rows.row(i).cwiseAbs().maxCoeff());
  }
}

Learned learn_from(const GradientLearner& learner, const MatrixView& rows, const MethodSupervision& supervision,
                   const HeldOut* held_out, const MethodChoices& choices, const RunControl& control) {
  const ParameterLayout layout(learner.shape);
  double factor = learner.start ? unit_of(*learner.start->divergence) : 0;
  TrainingItems training = training_items(rows, supervision, factor);
  std::optional<TrainingItems> judges;
  training.neighbour_share = learner.neighbour_share;
  training.weights = relative(held_out != nullptr ? held_out->train_weights : choices.asked.row_weights);
  const MethodLimits& limits = choices.limits;
  const Vector start = learner.start ? parameters_of(layout, *learner.start->divergence)
                                     : start_parameters(layout, rows, Random(learner.adamw.seed).fork(kStartStream));
  const TrainLimits train_limits{limits.max_iterations, limits.time_limit, limits.tolerance};
  const SolverSettings& asked = choices.asked.solver;
  TrainExtras extras{nullptr, asked.checkpoint, asked.resume, asked.checkpoint_every};
  if (held_out != nullptr) {
    judges.emplace(training_items(held_out->rows ? MatrixView(*held_out->rows) : rows, held_out->held_out, factor));
    judges->neighbour_share = learner.neighbour_share;
    judges->weights = relative(held_out->weights);
    extras.held_out = &*judges;
  }
  // The mean loss of twice as many items says twice as much, so the prices weigh half as much beside it. What was
  // chosen on folds then fits all items, too. A pair in both directions says no more than in one.
  const Index units = training.items.empty() ? rows.rows() : std::ssize(training.items);
  const auto* pairs = std::get_if<Pairs>(&supervision);
  const double told = pairs != nullptr && come_in_both_directions(*pairs) ? 0.5 : 1;
  Prices prices = learner.prices;
  prices.decay *= kUnitsOfPrices / (told * static_cast<double>(units));
  prices.feature *= kUnitsOfPrices / (told * static_cast<double>(units));
  TrainResult result;
  const auto rows_given = static_cast<double>(rows.rows()), items = static_cast<double>(training.items.size());
  if (takes_all_at_once(learner, rows_given, items)) {
    result = train_lbfgs(layout, training, prices, start, train_limits, control, extras);
  } else {
    AdamwPlan plan = learner.adamw;
    if (plan.steps == 0) plan.steps = steps_for(static_cast<double>(units), plan.batch);
    result = train_adamw(layout, training, prices, start, plan, train_limits, control, extras);
  }
  if (learner.prices.feature > 0) drop_features(layout, result.parameters);
  // D = 1 is the threshold between similar and dissimilar pairs.
  if (std::holds_alternative<Pairs>(supervision)) factor = factor_of_pairs(layout, result);
  Learned learned;
  learned.divergence = make_divergence(layout, result.parameters, factor);
  learned.report.objective = result.objective;
  learned.report.stationarity = result.stationarity;
  learned.report.status = result.status;
  learned.report.iterations = result.steps;
  learned.report.seconds = result.seconds;
  return learned;
}

}  // namespace

Learned learn_by_gradients(const GradientLearner& learner, const MatrixView& rows, const MethodSupervision& supervision,
                           const MethodChoices& choices, const RunControl& control) {
  check_squares(rows);
  if (!choices.asked.solver.early_stop) return learn_from(learner, rows, supervision, nullptr, choices, control);
  const HeldOut parts = hold_out(rows, supervision, choices.asked.row_weights, choices.seed);
  const MatrixView train_rows = parts.train_rows ? MatrixView(*parts.train_rows) : rows;
  return learn_from(learner, train_rows, parts.train, &parts, choices, control);
}

double predict_seconds(const GradientLearner& learner, const FitSize& size) {
  // Measured on one core (benchmarks/gradient_benchmark); products of small batches are far from a machine's peak.
  constexpr double kPerSecond = 5e10, kPerSecondDouble = 2e10, kSecondsPerStep = 2e-5, kSecondsPerItem = 3e-8;
  if (takes_all_at_once(learner, size.rows, size.items)) {
    // From 20 steps with large prices to 2000 without; these are the means over the values that are tried.
    const double steps = size.comparisons ? 150 : 300;
    const double work = work_of_step(learner.shape, std::min(size.rows, 4 * size.items), size.items);
    return steps * (kSecondsPerStep + kSecondsPerItem * size.items + work / kPerSecondDouble);
  }
  const double units = size.items > 0 ? size.items : size.rows;
  const double batch = std::min(units, static_cast<double>(learner.adamw.batch));
  const double rows = size.items > 0 ? std::min(size.rows, (size.comparisons ? 3 : 2) * batch) : batch;
  const double steps = learner.adamw.steps > 0 ? learner.adamw.steps : steps_for(units, learner.adamw.batch);
  const auto parameters = static_cast<double>(ParameterLayout(learner.shape).size);
  const double work = work_of_step(learner.shape, rows, size.items > 0 ? batch : 0) + 4 * parameters;
  return steps * (kSecondsPerStep + work / kPerSecond);
}

double predict_memory(const GradientLearner& learner, const FitSize& size, bool early_stop) {
  constexpr double kFloat = 4, kDouble = 8, kSampled = 1024;
  const ParameterLayout layout(learner.shape);
  double widths = 0;
  for (const Index width : learner.shape.widths) widths += static_cast<double>(width);
  const auto dimension = static_cast<double>(learner.shape.dimension());
  const double per_row = 2 * widths + 2 * static_cast<double>(learner.shape.directions()) + 4 * dimension;
  // Of a pass over a batch: with labels there is a matrix of all its pairs.
  const auto of_pass = [&](double units, double bytes) {
    const double rows = size.items > 0 ? std::min(size.rows, 4 * units) : units;
    return bytes * rows * (per_row + (size.items > 0 ? 0 : rows));
  };
  const double units = size.items > 0 ? size.items : size.rows;
  const auto parameters = static_cast<double>(layout.size);
  // Early stopping divides labelled rows into two parts, and items.
  const double copies = early_stop && size.items == 0 ? 3 : 2;
  const double data =
      size.rows * size.features * copies * kDouble + size.items * (early_stop ? 2.0 : 1.0) * sizeof(Item);
  // Single precision: the parameters, two moments, the gradient, the lowest; double: start, result, their gradient and
  // the model.
  double needed = data + parameters * (5 * kFloat + 6 * kDouble) + of_pass(std::min(units, kSampled), kDouble);
  if (takes_all_at_once(learner, size.rows, size.items)) {
    const double vectors = 2 * LbfgsOptions().memory + 12;  // steps and gradients of the history, and of the search
    needed += parameters * vectors * kDouble + of_pass(units, kDouble);
  } else {
    needed += of_pass(std::min(units, static_cast<double>(learner.adamw.batch)), kFloat);
  }
  return needed;
}

std::vector<MethodParameter> gradient_parameters(double rate, double weight_decay, std::vector<double> decays) {
  MethodParameter feature_price = real_parameter(
      "feature_price", "price on each feature that is used; drops those that say nothing", 0, {}, {0, 1e-1});
  feature_price.tuned_from_items = true;
  return {
      of_shape(whole_parameter("pieces", "slopes of the generator", 50, {1, 10000})),
      of_shape(whole_parameter("rank", "of the quadratic part; 0: as many as features, at most 64 (deep: as outputs)",
                               0, {0, 1000})),
      tuned(real_parameter("decay", "price on what makes the divergence differ from a Euclidean one", 1e-3, {},
                           std::move(decays))),
      std::move(feature_price),
      real_parameter("neighbour_share", "of the loss of labels: 0 all rows of a class count, 1 the nearest ones", 0,
                     {0, 1}, {0, 1}),
      choice_parameter("optimiser", "adamw: in batches; lbfgs: all rows or items in each step; auto: by their number",
                       {"auto", "adamw", "lbfgs"}),
      real_parameter("rate", "first step length of adamw", rate, kPositive),
      real_parameter("weight_decay", "of all weights in each step of adamw", weight_decay),
      whole_parameter("batch", "rows or items per step of adamw", 256, {2, 100000}),
      whole_parameter("steps", "of adamw; 0: by the number of rows or items", 0, {0, 1e6}),
  };
}

GradientLearner gradient_learner(const MethodChoices& choices) {
  GradientLearner learner;
  learner.shape.pieces = choices.whole("pieces");
  learner.shape.rank = choices.whole("rank");
  learner.prices = {choices.number("decay"), choices.number("feature_price")};
  learner.neighbour_share = choices.number("neighbour_share");
  learner.optimiser = static_cast<Optimiser>(choices.whole("optimiser"));
  learner.adamw.steps = choices.whole("steps");
  learner.adamw.batch = choices.whole("batch");
  learner.adamw.rate = choices.number("rate");
  learner.adamw.decay = choices.number("weight_decay");
  learner.adamw.seed = choices.seed;
  learner.start = choices.asked.start;
  if (learner.start) {
    learner.adamw.rate *= kRateOfGoingOn;
    if (learner.optimiser == Optimiser::kAuto) learner.optimiser = Optimiser::kAdamw;
  }
  return learner;
}

}  // namespace bregmax::internal
