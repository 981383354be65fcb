#pragma once

#include <memory>
#include <span>
#include <vector>

#include "optimize/gradient/item_loss.hpp"
#include "optimize/gradient/label_loss.hpp"
#include "optimize/gradient/prices.hpp"

namespace bregmax::internal {

// The rows and what is said of them. Rows that no item names play no part.
struct TrainingItems {
  MatrixView rows;                     // scaled
  std::vector<int> class_of_row = {};  // to learn from labels
  std::vector<double> weights = {};    // of the rows with labels; empty: 1
  std::vector<Item> items = {};        // or to learn from items
  double neighbour_share = 0;          // see LabelLoss
  double target_unit = 1;              // of the targets
};

// The mean loss and its prices, as a function of the parameters. Units are what batches are drawn from: rows with
// labels, or items.
template <class Real>
class Objective {
 public:
  virtual ~Objective() = default;

  Index units() const { return units_; }
  const ParameterLayout& layout() const { return layout_; }

  // Of at most `most_units` different units, in any order, of which the loss is the mean. Overwrites the gradient.
  // Allocates nothing.
  double evaluate(const Real* parameters, std::span<const Index> batch, Real* gradient);

 protected:
  Objective(const ParameterLayout& layout, const Prices& prices, Index units, Index most_rows)
      : layout_(layout), pass_(layout_, most_rows), prices_(layout_, prices), units_(units) {}
  virtual double loss(const Real* parameters, std::span<const Index> batch, Real* gradient) = 0;

  ParameterLayout layout_;
  RowPass<Real> pass_;

 private:
  PriceTerms<Real> prices_;
  Index units_;
};

// most_units: in a batch. The training items and their rows must outlive the objective: there may be millions of rows,
// of which a batch looks at a few.
template <class Real>
std::unique_ptr<Objective<Real>> make_objective(const ParameterLayout& layout, const TrainingItems& training,
                                                const Prices& prices, Index most_units);

}  // namespace bregmax::internal
