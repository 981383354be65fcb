#include "optimize/problem/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/checks.hpp"

namespace bregmax::internal {
namespace {

// Beyond this many unknowns a dense matrix would take more than 900 MB. If the arrow cannot be used (some piece has no
// anchor), a dense matrix of up to 8 GB is the only way.
constexpr Index kMostDenseUnknowns = 10600, kMostUnknownsWithoutArrow = 3 * kMostDenseUnknowns;

// Steps of conjugate gradients; one in kStepsPerIdleOne may make no progress.
constexpr int kLeastSteps = 25, kMostSteps = 150, kStepsPerIdleOne = 5;
// The steps may cost this share of a dense factorization, which is the alternative if they do not help.
constexpr double kShareOfSteps = 0.02;

// A factorization whose measured error is this much better than what is asked for is trusted with further systems.
constexpr double kTrust = 0.1;

// Numbers of multiplications.
struct Counts {
  explicit Counts(const CanonicalProblem& p)
      : z(static_cast<double>(p.z_count)),
        a(static_cast<double>(p.pieces * p.features)),
        rank(0.25 * static_cast<double>(p.coupled.size())) {}
  double dense() const { return std::pow(z + a, 3) / 3; }
  double arrow() const { return a * z * z + z * z * z / 3 + rank * z * z + rank * rank * z + rank * rank * rank / 3; }

  double z, a, rank;  // rank: about this many couplings matter at a time
};

// Whether one dense factorization of everything is preferred to the arrow with a low-rank downdate. The dense one is
// more accurate and needs fewer steps of refinement, so the arrow must be at least three times cheaper.
bool prefer_dense(const CanonicalProblem& p) {
  if (!p.all_anchored) return true;
  if (p.coupled.empty()) return false;
  const Counts counts(p);
  if (counts.z + counts.a < static_cast<double>(kAlwaysDenseUnknowns)) return true;
  return counts.dense() < 3 * counts.arrow() && counts.z + counts.a < static_cast<double>(kMostDenseUnknowns);
}

// The more a dense factorization costs, the more steps of conjugate gradients are worth trying.
int most_steps(const CanonicalProblem& p, const EntrySet& entries) {
  if (p.coupled.empty()) return kLeastSteps;
  const Counts counts(p);
  const double step = 8 * static_cast<double>(entries.size() * p.features) + 4 * counts.z * counts.z +
                      4 * counts.rank * (counts.z + counts.rank);
  return static_cast<int>(std::clamp(kShareOfSteps * counts.dense() / step, 1.0 * kLeastSteps, 1.0 * kMostSteps));
}

}  // namespace

NormalEquations::NormalEquations(const CanonicalProblem& problem, const EntrySet& entries, DivergenceGrid& grid)
    : problem_(problem),
      entries_(entries),
      grid_(grid),
      size_(problem.z_count + problem.pieces * problem.features + 1),
      weights_(problem),
      grid_buffer_(weights_.grid),
      coupled_buffer_(weights_.coupled) {
  for (Vector* v : {&residual_, &direction_, &preconditioned_, &image_}) v->resize(size_);
  dense_ = prefer_dense(problem);
  most_steps_ = dense_ ? kLeastSteps : most_steps(problem, entries);
  require(
      !dense_ || size_ <= kMostUnknownsWithoutArrow,
      "the exact solver would need a dense matrix of {} x {} numbers ({:.1f} GB) for {} pieces and {} features; use "
      "fewer pieces",
      size_, size_, 8e-9 * static_cast<double>(size_) * static_cast<double>(size_), problem.pieces, problem.features);
  factorization_ = dense_ ? make_dense_factorization(problem, entries) : make_arrow_factorization(problem, entries);
}

bool NormalEquations::use_dense() {
  if (!dense_ && size_ <= kMostDenseUnknowns) {
    dense_ = true;
    most_steps_ = kLeastSteps;
    factorization_ = make_dense_factorization(problem_, entries_);
  }
  return dense_;
}

bool NormalEquations::factor() {
  ground_ = grounding_weight(problem_, weights_);
  error_per_size_ = std::numeric_limits<double>::infinity();
  return factorization_->factor(weights_);
}

void NormalEquations::apply(const Vector& x, Vector& out) {
  const Index slopes_begin = problem_.z_count, lipschitz_at = size_ - 1;
  grid_.apply(x.data(), x.data() + slopes_begin, grid_buffer_.data());
  // Couplings see the differences of D before the weights of the entries are applied.
  const Index couplings = coupled_buffer_.size();
  for (Index t = 0; t < couplings; ++t) {
    const HingeItem& item = problem_.coupled[t];
    coupled_buffer_(t) = weights_.coupled(t) *
                         (grid_buffer_(entries_.position(item.plus)) - grid_buffer_(entries_.position(item.minus)));
  }
  grid_buffer_.head(entries_.size()).array() *= weights_.grid.head(entries_.size()).array();
  for (Index t = 0; t < couplings; ++t) {
    const HingeItem& item = problem_.coupled[t];
    grid_buffer_(entries_.position(item.plus)) += coupled_buffer_(t);
    grid_buffer_(entries_.position(item.minus)) -= coupled_buffer_(t);
  }
  grid_.adjoint(grid_buffer_.data(), out.data(), out.data() + slopes_begin);
  out.head(size_ - 1) += weights_.proximal * x.head(size_ - 1);
  out.head(problem_.z_count).array() += ground_ * x.head(problem_.z_count).sum();
  const Eigen::Map<const Matrix> a(x.data() + slopes_begin, problem_.pieces, problem_.features);
  Eigen::Map<Matrix> out_a(out.data() + slopes_begin, problem_.pieces, problem_.features);
  const double lipschitz = x(lipschitz_at);
  double out_lipschitz = weights_.lipschitz * lipschitz;
  for (Index k = 0; k < problem_.pieces; ++k) {
    const double along = weights_.norm(k) * (weights_.slope_rank_one.row(k).dot(a.row(k)) + lipschitz);
    out_a.row(k).array() += weights_.slope_diagonal.row(k).array() * a.row(k).array();
    out_a.row(k) += along * weights_.slope_rank_one.row(k);
    out_lipschitz += along;
  }
  out(lipschitz_at) = out_lipschitz;
}

double NormalEquations::solve(const Vector& rhs, Vector& x, double tolerance) {
  const double rhs_norm = rhs.lpNorm<Eigen::Infinity>();
  x.setZero();
  if (rhs_norm == 0) return 0;
  residual_ = rhs;
  double error = rhs_norm, best = rhs_norm, previous_rz = 0;
  int idle = 0;
  for (int step = 0; step < most_steps_; ++step) {
    factorization_->solve(residual_.data(), preconditioned_.data());
    const double size = preconditioned_.lpNorm<Eigen::Infinity>();
    if (step == 0 && error_per_size_ * size <= kTrust * tolerance) {
      x = preconditioned_;
      return error_per_size_ * size;
    }
    const double rz = residual_.dot(preconditioned_);
    if (!(rz > 0)) break;
    step == 0 ? direction_ = preconditioned_ : direction_ = preconditioned_ + (rz / previous_rz) * direction_;
    previous_rz = rz;
    apply(direction_, image_);
    const double curvature = direction_.dot(image_);
    if (!(curvature > 0)) break;
    const double length = rz / curvature;
    x += length * direction_;
    residual_ -= length * image_;
    error = residual_.lpNorm<Eigen::Infinity>();
    // An upper bound on what a step of length 1 would have left.
    if (step == 0) error_per_size_ = (error + std::abs(1 - length) * image_.lpNorm<Eigen::Infinity>()) / size;
    if (error <= tolerance) break;
    // When the error is at the level of rounding, further steps gain nothing.
    if (error < 0.5 * best) {
      best = error;
      idle = 0;
    } else if (++idle > most_steps_ / kStepsPerIdleOne) {
      break;
    }
  }
  return error;
}

}  // namespace bregmax::internal
