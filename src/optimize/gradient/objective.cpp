#include "optimize/gradient/objective.hpp"

#include <algorithm>
#include <array>

namespace bregmax::internal {
namespace {

template <class Real>
class LabelObjective final : public Objective<Real> {
 public:
  LabelObjective(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices, Index most_units)
      : Objective<Real>(layout, prices, training.rows.rows(), most_units),
        rows_(training.rows),
        classes_(training.class_of_row),
        weights_(VectorOf<Real>::Ones(training.rows.rows())),
        loss_(most_units, layout.shape.dimension(), training.neighbour_share),
        batch_(most_units),
        batch_classes_(most_units),
        batch_weights_(most_units) {
    for (std::size_t i = 0; i < training.weights.size(); ++i) weights_[i] = static_cast<Real>(training.weights[i]);
  }

 protected:
  double loss(const Real* parameters, std::span<const Index> batch, Real* gradient) override {
    const Index count = std::ssize(batch);
    std::copy(batch.begin(), batch.end(), batch_.begin());
    const auto by_class = [this](Index a, Index b) {
      return classes_[a] != classes_[b] ? classes_[a] < classes_[b] : a < b;
    };
    std::sort(batch_.begin(), batch_.begin() + count, by_class);
    this->pass_.begin(count);
    auto input = this->pass_.input();
    for (Index i = 0; i < count; ++i) {
      input.row(i) = rows_.row(batch_[i]).template cast<Real>();
      batch_classes_[i] = classes_[batch_[i]];
      batch_weights_[i] = weights_[batch_[i]];
    }
    this->pass_.forward(parameters);
    const auto size = static_cast<std::size_t>(count);
    const double mean = loss_.evaluate(this->pass_, {batch_classes_.data(), size}, {batch_weights_.data(), size});
    this->pass_.backward(parameters, gradient);
    return mean;
  }

 private:
  const MatrixView& rows_;
  const std::vector<int>& classes_;
  VectorOf<Real> weights_;
  LabelLoss<Real> loss_;
  std::vector<Index> batch_;
  std::vector<int> batch_classes_;
  std::vector<Real> batch_weights_;
};

template <class Real>
class ItemObjective final : public Objective<Real> {
 public:
  ItemObjective(const ParameterLayout& layout, const TrainingItems& training, const Prices& prices, Index most_units)
      : Objective<Real>(layout, prices, std::ssize(training.items),
                        std::min<Index>(kRowsPerItem * most_units, training.rows.rows())),
        rows_(training.rows),
        items_(training.items),
        loss_(training.target_unit),
        place_(training.rows.rows(), kNoEntry),
        batch_items_(most_units) {
    double weight = 0;
    for (const Item& item : items_) weight += item.weight;
    factor_ = weight > 0 ? static_cast<double>(items_.size()) / weight : 0;
    named_.reserve(std::min<Index>(kRowsPerItem * most_units, training.rows.rows()));
  }

 protected:
  double loss(const Real* parameters, std::span<const Index> batch, Real* gradient) override {
    gather(batch);
    this->pass_.begin(std::ssize(named_));
    auto input = this->pass_.input();
    for (Index i = 0; i < std::ssize(named_); ++i) input.row(i) = rows_.row(named_[i]).template cast<Real>();
    this->pass_.forward(parameters);
    const Index threshold = this->layout_.threshold.begin;
    const double mean =
        loss_.evaluate(this->pass_, {batch_items_.data(), batch.size()}, factor_ / static_cast<double>(batch.size()),
                       parameters[threshold], gradient[threshold]);
    this->pass_.backward(parameters, gradient);
    return mean;
  }

 private:
  static constexpr Index kRowsPerItem = 4;

  // The items of the batch, by numbers of the rows that they name.
  void gather(std::span<const Index> batch) {
    for (const Index row : named_) place_[row] = kNoEntry;
    named_.clear();
    const auto place = [this](Index row) {
      if (place_[row] == kNoEntry) {
        place_[row] = std::ssize(named_);
        named_.push_back(row);
      }
      return place_[row];
    };
    for (std::size_t t = 0; t < batch.size(); ++t) {
      Item& item = batch_items_[t] = items_[batch[t]];
      for (DivergenceTerm* term : {&item.plus, &item.minus}) {
        if (term->exists()) *term = {place(term->point), place(term->reference)};
      }
    }
  }

  const MatrixView& rows_;
  const std::vector<Item>& items_;
  ItemLoss<Real> loss_;
  double factor_;             // makes the mean weight 1
  std::vector<Index> place_;  // of each row in the batch
  std::vector<Index> named_;  // rows of the batch
  std::vector<Item> batch_items_;
};

}  // namespace

template <class Real>
double Objective<Real>::evaluate(const Real* parameters, std::span<const Index> batch, Real* gradient) {
  std::fill(gradient, gradient + layout_.size, Real(0));
  const double mean = loss(parameters, batch, gradient);
  return mean + prices_.add(parameters, gradient);
}

template <class Real>
std::unique_ptr<Objective<Real>> make_objective(const ParameterLayout& layout, const TrainingItems& training,
                                                const Prices& prices, Index most_units) {
  if (training.items.empty()) return std::make_unique<LabelObjective<Real>>(layout, training, prices, most_units);
  return std::make_unique<ItemObjective<Real>>(layout, training, prices, most_units);
}

template class Objective<float>;
template class Objective<double>;
template std::unique_ptr<Objective<float>> make_objective<float>(const ParameterLayout&, const TrainingItems&,
                                                                 const Prices&, Index);
template std::unique_ptr<Objective<double>> make_objective<double>(const ParameterLayout&, const TrainingItems&,
                                                                   const Prices&, Index);

}  // namespace bregmax::internal
