#include "bregmax/divergence/average.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bregmax/core/error.hpp"
#include "divergence/checks.hpp"

namespace bregmax {
namespace {

class AverageReferenceSet final : public ReferenceSet {
 public:
  AverageReferenceSet(const AverageDivergence& average, const MatrixView& references)
      : average_(average), weights_(average.weights()), size_(references.rows()) {
    for (const auto& member : average.members()) sets_.push_back(member->prepare(references));
  }

  Index size() const override { return size_; }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    average_.check_points(points);
    internal::check_output(out, points.rows(), size());
    // A member writes a whole matrix; a band of rows at a time keeps the extra memory small.
    const Index band_rows = std::clamp<Index>((Index{1} << 21) / std::max<Index>(1, size()), 64, 4096);
    Matrix term(std::min(band_rows, points.rows()), size());
    for (Index begin = 0; begin < points.rows(); begin += band_rows) {
      const Index count = std::min(band_rows, points.rows() - begin);
      auto band = out.middleRows(begin, count);
      sets_.front()->divergences_from(points.middleRows(begin, count), band);
      band *= weights_(0);
      for (std::size_t i = 1; i < sets_.size(); ++i) {
        sets_[i]->divergences_from(points.middleRows(begin, count), term.topRows(count));
        band += weights_(static_cast<Index>(i)) * term.topRows(count);
      }
    }
  }

 private:
  const AverageDivergence& average_;
  Vector weights_;
  Index size_;
  std::vector<std::unique_ptr<ReferenceSet>> sets_;
};

Vector equal_weights(std::size_t members) {
  return Vector::Constant(static_cast<Index>(members), 1 / static_cast<double>(members));
}

}  // namespace

AverageDivergence::AverageDivergence(const Members& members)
    : AverageDivergence(members, equal_weights(members.size())) {}

AverageDivergence::AverageDivergence(Members members, Vector weights)
    : members_(std::move(members)), weights_(std::move(weights)) {
  const Index count = static_cast<Index>(members_.size());
  if (count == 0) throw Error("an average has no members; allowed: at least one");
  if (weights_.size() != count) {
    throw Error(
        fmt::format("an average has {} members and {} weights; allowed: one weight a member", count, weights_.size()));
  }
  for (Index i = 0; i < count; ++i) {
    if (!(weights_(i) >= 0 && weights_(i) <= internal::kLargestEntry)) {
      throw Error(fmt::format("weight {} of an average is {}; allowed: finite and >= 0", i, weights_(i)));
    }
  }
  if (weights_.maxCoeff() == 0) throw Error("all weights of an average are 0; allowed: at least one > 0");
  for (const auto& member : members_) {
    if (!member) throw Error("a member of an average is empty");
    if (member->dimension() == 0) continue;
    if (dimension_ != 0 && dimension_ != member->dimension()) {
      throw Error(fmt::format("the members of an average take {} and {} features; they must agree", dimension_,
                              member->dimension()));
    }
    dimension_ = member->dimension();
  }
}

Vector AverageDivergence::generator_values(const MatrixView& points) const {
  Vector sum = Vector::Zero(points.rows());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    sum += weights_(static_cast<Index>(i)) * members_[i]->generator_values(points);
  }
  return sum;
}

Matrix AverageDivergence::gradients(const MatrixView& references) const {
  Matrix sum = Matrix::Zero(references.rows(), references.cols());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    sum += weights_(static_cast<Index>(i)) * members_[i]->gradients(references);
  }
  return sum;
}

void AverageDivergence::check_points(const MatrixView& points) const {
  for (const auto& member : members_) member->check_points(points);
}

void AverageDivergence::check_references(const MatrixView& references) const {
  for (const auto& member : members_) member->check_references(references);
}

double AverageDivergence::value(const VectorView& point, const VectorView& reference) const {
  double sum = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    sum += weights_(static_cast<Index>(i)) * members_[i]->value(point, reference);
  }
  return sum;
}

std::unique_ptr<ReferenceSet> AverageDivergence::prepare(const MatrixView& references) const {
  return std::make_unique<AverageReferenceSet>(*this, references);
}

}  // namespace bregmax
