#include "paper/figure1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "bregmax/data/builtin.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "paper/protocol.hpp"

namespace bregmax {
namespace {

constexpr Index kQuadraticPieces = 5, kQuadraticSamples = 401;
constexpr double kMiddleOfFirstArc = 60;

double angle_of(const Matrix& rows, Index row) {
  const double degrees = std::atan2(rows(row, 1), rows(row, 0)) * 180 / std::numbers::pi;
  return degrees < 0 ? degrees + 360 : degrees;
}

}  // namespace

QuadraticPanel approximate_quadratic(Index pieces) {
  QuadraticPanel panel;
  panel.knots = pieces == 1 ? Vector(Vector::Zero(1)) : Vector(Vector::LinSpaced(pieces, -1, 1));
  const MaxAffine pieces_of(2 * panel.knots, -panel.knots.array().square().matrix());
  panel.x = Vector::LinSpaced(kQuadraticSamples, -1.2, 1.2);
  panel.quadratic = panel.x.array().square().matrix();
  panel.max_affine = pieces_of.generator_values(Matrix(panel.x));
  return panel;
}

Figure1 compute_figure1(std::uint64_t seed, const RunControl& control) {
  const Table table = load_builtin("figure1");
  Random random = Random(seed).fork(stream_of("figure1 picture"));
  const Split split = random_split(table.features.rows(), kTrainFraction, random);
  const Table train = select_rows(table, split.train);
  const TrainingData data{train.features, train.labels->of_row};
  const auto learn = [&, learning_seed = random.next_bits()](const char* method) {
    Plan planned = plan(paper_request(method, learning_seed), data);
    planned.evaluation = {};
    return run(planned, data, control);
  };
  const FitOutcome pbdl = learn("pbdl"), itml = control.stop_requested() ? FitOutcome{} : learn("itml");
  Figure1 figure;
  figure.stopped = control.stop_requested();
  if (figure.stopped) return figure;
  figure.quadratic = approximate_quadratic(kQuadraticPieces);
  figure.pbdl_note = fmt::format("lambda {:g}", pbdl.chosen.parameters.at("lambda"));
  figure.itml_note = fmt::format("gamma {:g}", itml.model.record.parameters.at("gamma"));
  const Matrix& rows = table.features;
  const auto from_middle = [&rows](Index row) { return std::abs(angle_of(rows, row) - kMiddleOfFirstArc); };
  Index a = 0;
  for (Index row = 1; row < rows.rows(); ++row) {
    if (from_middle(row) < from_middle(a)) a = row;
  }
  const Vector to_a = pbdl.model.divergences(rows, rows.row(a)).col(0);
  const Vector from_a = pbdl.model.divergences(rows.row(a), rows).row(0);
  const Vector by_itml = itml.model.divergences(rows, rows.row(a)).col(0);
  for (Index row = 0; row < rows.rows(); ++row) {
    figure.circle.push_back({angle_of(rows, row), table.labels->of_row[row], to_a(row), from_a(row), by_itml(row)});
  }
  std::ranges::stable_sort(figure.circle, {}, &CirclePoint::angle);
  figure.a = std::ranges::find(figure.circle, angle_of(rows, a), &CirclePoint::angle) - figure.circle.begin();
  return figure;
}

std::string quadratic_as_csv(const QuadraticPanel& panel) {
  std::string out = "x,quadratic,max_affine\n";
  for (Index i = 0; i < panel.x.size(); ++i) {
    out += fmt::format("{:.6g},{:.8g},{:.8g}\n", panel.x(i), panel.quadratic(i), panel.max_affine(i));
  }
  return out;
}

std::string circle_as_csv(const Figure1& figure) {
  std::string out = "angle,class,is_a,pbdl_x_to_a,pbdl_a_to_x,itml\n";
  for (std::size_t i = 0; i < figure.circle.size(); ++i) {
    const CirclePoint& at = figure.circle[i];
    out += fmt::format("{:.8g},{},{},{:.8g},{:.8g},{:.8g}\n", at.angle, at.class_number, i == figure.a ? 1 : 0, at.to_a,
                       at.from_a, at.itml);
  }
  return out;
}

namespace {

// The share of pairs (point of A's class, point of another class) in which the first has the smaller divergence.
double share_in_order(const Figure1& figure, double CirclePoint::*value) {
  const int own = figure.circle[figure.a].class_number;
  double right = 0, pairs = 0;
  for (const CirclePoint& same : figure.circle) {
    if (same.class_number != own) continue;
    for (const CirclePoint& other : figure.circle) {
      if (other.class_number == own) continue;
      ++pairs;
      right += same.*value < other.*value ? 1 : (same.*value == other.*value ? 0.5 : 0);
    }
  }
  return right / pairs;
}

}  // namespace

std::string figure1_as_text(const Figure1& figure) {
  return fmt::format(
      "Figure 1: rows of A's class before rows of other classes, share of pairs in order (1 is best)\n"
      "  PBDL, D(x, A)  {:.4f}   ({})\n  PBDL, D(A, x)  {:.4f}\n  ITML           {:.4f}   ({})\n",
      share_in_order(figure, &CirclePoint::to_a), figure.pbdl_note, share_in_order(figure, &CirclePoint::from_a),
      share_in_order(figure, &CirclePoint::itml), figure.itml_note);
}

std::string figure1_as_json(const Figure1& figure) {
  const nlohmann::ordered_json object = {{"figure", "figure1"},
                                         {"a_angle", figure.circle[figure.a].angle},
                                         {"in_order",
                                          {{"pbdl_x_to_a", share_in_order(figure, &CirclePoint::to_a)},
                                           {"pbdl_a_to_x", share_in_order(figure, &CirclePoint::from_a)},
                                           {"itml", share_in_order(figure, &CirclePoint::itml)}}},
                                         {"pbdl", figure.pbdl_note},
                                         {"itml", figure.itml_note}};
  return object.dump(2) + "\n";
}

}  // namespace bregmax
