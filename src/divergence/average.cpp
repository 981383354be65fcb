#include "bregmax/divergence/average.hpp"

#include <algorithm>

#include "divergence/checks.hpp"

namespace bregmax {

using internal::require;

namespace {

class AverageReferenceSet final : public ReferenceSet {
 public:
  AverageReferenceSet(const AverageDivergence& average, const MatrixView& references)
      : average_(average), size_(references.rows()) {
    for (const auto& member : average.members()) sets_.push_back(member->prepare(references));
  }

  Index size() const override { return size_; }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    average_.check_points(points);
    const Vector& weights = average_.weights();
    internal::check_output(out, points.rows(), size());
    // A member writes a whole matrix; a band of rows at a time keeps the extra memory small.
    const Index band_rows = std::clamp<Index>((Index{1} << 21) / std::max<Index>(1, size()), 64, 4096);
    Matrix term(std::min(band_rows, points.rows()), size());
    for (Index begin = 0; begin < points.rows(); begin += band_rows) {
      const Index count = std::min(band_rows, points.rows() - begin);
      auto band = out.middleRows(begin, count);
      sets_.front()->divergences_from(points.middleRows(begin, count), band);
      band *= weights(0);
      for (Index i = 1; i < weights.size(); ++i) {
        sets_[i]->divergences_from(points.middleRows(begin, count), term.topRows(count));
        band += weights(i) * term.topRows(count);
      }
    }
  }

 private:
  const AverageDivergence& average_;
  Index size_;
  std::vector<std::unique_ptr<ReferenceSet>> sets_;
};

}  // namespace

AverageDivergence::AverageDivergence(const Members& members)
    : AverageDivergence(members, Vector::Constant(std::ssize(members), 1 / static_cast<double>(members.size()))) {}

AverageDivergence::AverageDivergence(Members members, Vector weights)
    : members_(std::move(members)), weights_(std::move(weights)) {
  const Index count = std::ssize(members_);
  require(count > 0, "an average has no members; allowed: at least one");
  require(weights_.size() == count, "an average has {} members and {} weights; allowed: one weight per member", count,
          weights_.size());
  for (Index i = 0; i < count; ++i) {
    require(weights_(i) >= 0 && weights_(i) <= internal::kLargestEntry,
            "weight {} of an average is {}; allowed: finite and >= 0", i, weights_(i));
  }
  require(weights_.maxCoeff() > 0, "all weights of an average are 0; allowed: at least one > 0");
  for (const auto& member : members_) {
    require(member != nullptr, "a member of an average is empty");
    if (member->dimension() == 0) continue;
    require(dimension_ == 0 || dimension_ == member->dimension(),
            "the members of an average take {} and {} features; they must agree", dimension_, member->dimension());
    dimension_ = member->dimension();
  }
}

Vector AverageDivergence::generator_values(const MatrixView& points) const {
  Vector sum = Vector::Zero(points.rows());
  for (Index i = 0; i < weights_.size(); ++i) sum += weights_(i) * members_[i]->generator_values(points);
  return sum;
}

Matrix AverageDivergence::gradients(const MatrixView& references) const {
  Matrix sum = Matrix::Zero(references.rows(), references.cols());
  for (Index i = 0; i < weights_.size(); ++i) sum += weights_(i) * members_[i]->gradients(references);
  return sum;
}

void AverageDivergence::check(const MatrixView& rows, RowRole role) const {
  for (const auto& member : members_) {
    role == RowRole::kPoint ? member->check_points(rows) : member->check_references(rows);
  }
}

double AverageDivergence::divergence(const VectorView& point, const VectorView& reference) const {
  double sum = 0;
  for (Index i = 0; i < weights_.size(); ++i) sum += weights_(i) * members_[i]->value(point, reference);
  return sum;
}

std::unique_ptr<ReferenceSet> AverageDivergence::prepare(const MatrixView& references) const {
  return std::make_unique<AverageReferenceSet>(*this, references);
}

}  // namespace bregmax
