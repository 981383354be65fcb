#include "optimize/admm/grid.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kParts = 64;  // the pieces are summed in this many parts, whatever the number of threads
constexpr Index kLeastParallelRows = 200;
constexpr int kResidualsEvery = 10;  // iterations

}  // namespace

GridProblem::GridProblem(const LearningProblem& problem) : CanonicalUnits(canonical_units(problem)) {
  const auto& pairs = std::get<LabelPairs>(problem.supervision);
  anchor = problem.points(Eigen::all, kept_features);
  anchor.rowwise() -= feature_center.transpose();
  anchor.array().rowwise() /= feature_unit.transpose().array();
  point_features = anchor.transpose();
  label.resize(pieces);
  for (Index i = 0; i < pieces; ++i) label(i) = pairs.class_of_row[i];
  similar_weight = pairs.similar_weight * value_unit / objective_unit;
  dissimilar_weight = pairs.dissimilar_weight * value_unit / objective_unit;
  margin = 2 / value_unit;
}

template <class Number>
AdmmGrid<Number>::AdmmGrid(const GridProblem& problem)
    : problem_(problem),
      rows_(problem.pieces),
      equations_(problem.points()),
      norm_prox_(rows_, problem.norm_weight),
      copies_(rows_, rows_),
      of_point_parts_(kParts, rows_),
      residual_parts_(kParts) {
  for (Vector* v : {&z_, &intercept_, &norm_penalty_, &of_piece_, &of_point_}) v->setZero(rows_);
  for (Matrix* m : {&slopes_, &slope_copy_, &slope_slack_, &old_slope_, &slope_wish_, &weighted_}) {
    m->setZero(rows_, problem.features);
  }
}

template <class Number>
void AdmmGrid<Number>::start() {
  copies_.setZero();
  numbers_.penalty = kFirstPenalty;
  change_penalty(kFirstPenalty, kFirstNormWeight * static_cast<double>(rows_));
}

template <class Number>
GridProx AdmmGrid<Number>::prox_at(double penalty) const {
  return {problem_.similar_weight / penalty, problem_.dissimilar_weight / penalty, problem_.margin};
}

template <class Number>
GridTerms AdmmGrid<Number>::terms() const {
  return {rows_,          problem_.features, problem_.point_features.data(), problem_.label.data(), z_.data(),
          slopes_.data(), intercept_.data()};
}

template <class Number>
void AdmmGrid<Number>::set_intercepts() {
  intercept_ = z_ - slopes_.cwiseProduct(problem_.points()).rowwise().sum();
}

// Calls pass(first piece, end, where its sums go, its residuals) for every part, and adds up.
template <class Number>
template <class Pass>
void AdmmGrid<Number>::for_each_part(const Pass& pass) {
#pragma omp parallel for schedule(dynamic) if (rows_ >= kLeastParallelRows)
  for (Index part = 0; part < kParts; ++part) {
    const GridSums sums{of_piece_.data(), of_point_parts_.row(part).data(), weighted_.data()};
    residual_parts_[part] = {};
    pass(part * rows_ / kParts, (part + 1) * rows_ / kParts, sums, residual_parts_[part]);
  }
  of_point_ = of_point_parts_.row(0).transpose();
  for (Index part = 1; part < kParts; ++part) of_point_ += of_point_parts_.row(part).transpose();
}

template <class Number>
void AdmmGrid<Number>::iterate() {
  equations_.solve(of_piece_, of_point_, weighted_, slope_wish_, z_, slopes_);
  set_intercepts();
  const GridProx prox = prox_at(numbers_.penalty);
  const bool measured = measures_residuals();
  for_each_part([&](Index begin, Index end, const GridSums& sums, ResidualSums& residuals) {
    move_copies(terms(), prox, kOverRelaxation, begin, end, copies_.data(), sums, measured ? &residuals : nullptr);
  });
  move_slopes();
  ++numbers_.iteration;
  if (numbers_.schedule.is_due(numbers_.iteration)) adapt();
}

template <class Number>
bool AdmmGrid<Number>::measures_residuals() const {
  const int next = numbers_.iteration + 1;
  return next % kResidualsEvery == 0 || numbers_.schedule.is_due(next);
}

template <class Number>
void AdmmGrid<Number>::move_slopes() {
  old_slope_ = slope_slack_;
  slope_copy_ += kOverRelaxation * (slopes_ - slope_slack_);
  shrink_slopes();
  if (!measures_residuals()) return;
  ResidualSums norm;
  for (Index e = 0; e < slopes_.size(); ++e) {
    norm.add(numbers_.norm_weight, slopes_.data()[e], slope_slack_.data()[e], old_slope_.data()[e],
             slope_copy_.data()[e]);
  }
  ResidualSums sums = norm;
  for (const ResidualSums& part : residual_parts_) sums.add(part);
  numbers_.residuals = sums.residuals();
  numbers_.norm_residuals = norm.residuals();
}

template <class Number>
void AdmmGrid<Number>::shrink_slopes() {
  norm_prox_.apply(slope_copy_, problem_.lambda, problem_.bound, norm_penalty_, slope_slack_);
  slope_wish_ = 2 * slope_slack_ - slope_copy_;
}

template <class Number>
void AdmmGrid<Number>::adapt() {
  numbers_.schedule.advance(numbers_.iteration);
  const PenaltyChange change = balance(numbers_.residuals, numbers_.norm_residuals);
  change_penalty(numbers_.penalty * change.common, numbers_.norm_weight * change.norm);
}

// Slacks and multipliers stay.
template <class Number>
void AdmmGrid<Number>::change_penalty(double penalty, double norm_weight) {
  const double factor = numbers_.penalty / penalty;
  const GridProx before = prox_at(numbers_.penalty), after = prox_at(penalty);
  for_each_part([&](Index begin, Index end, const GridSums& sums, ResidualSums&) {
    rescale_copies(terms(), before, after, factor, begin, end, copies_.data(), sums);
  });
  if (numbers_.norm_weight > 0) {
    slope_copy_ = slope_slack_ + factor * numbers_.norm_weight / norm_weight * (slope_copy_ - slope_slack_);
  }
  if (norm_weight != numbers_.norm_weight) equations_.factor(norm_weight);
  numbers_.penalty = penalty;
  numbers_.norm_weight = norm_weight;
  norm_penalty_.setConstant(penalty * norm_weight);
  shrink_slopes();
}

template <class Number>
void AdmmGrid<Number>::dual_rows(Index begin, Index end, MatrixSpan block) const {
  const GridProx prox = prox_at(numbers_.penalty);
  const double unit = problem_.objective_unit / problem_.value_unit;
  for (Index k = 0; k < rows_; ++k) {
    for (Index l = begin; l < end; ++l) {
      const double copy = copies_(k, l);
      const bool similar = problem_.label(k) == problem_.label(l);
      const double dual = numbers_.penalty * (slack_of(prox, similar, copy) - copy);
      block(l - begin, k) = unit * (similar ? problem_.similar_weight + dual : dual);
    }
  }
}

template <class Number>
RawParts AdmmGrid<Number>::raw_state() {
  RawParts parts;
  append(parts, copies_, z_, norm_penalty_, of_piece_, of_point_, slopes_, slope_copy_, slope_slack_, slope_wish_,
         weighted_);
  numbers_.append_to(parts);
  return parts;
}

template class AdmmGrid<double>;
template class AdmmGrid<float>;

}  // namespace bregmax::internal
