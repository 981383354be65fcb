#include "bregmax/divergence/max_affine.hpp"

#include <algorithm>
#include <cmath>

#include "divergence/affine_scores.hpp"
#include "divergence/checks.hpp"
#include "divergence/streaming.hpp"

namespace bregmax {
namespace {

// Scores within this of the maximum tie with it (the rule in the header).
double tie_tolerance(double maximum) { return 1e-14 * (1 + std::abs(maximum)); }

double maximum_of(const double* scores, Index pieces) { return *std::max_element(scores, scores + pieces); }

int lowest_tied_piece(const double* scores, Index pieces) {
  const double maximum = maximum_of(scores, pieces);
  const double least = maximum - tie_tolerance(maximum);
  return static_cast<int>(std::find_if(scores, scores + pieces, [least](double s) { return s >= least; }) - scores);
}

// phi - score, or 0 if the difference is only rounding.
double gap_below(double maximum, double score) {
  const double gap = maximum - score;
  return gap <= tie_tolerance(maximum) ? 0 : gap;
}

// Calls use(row, scores of the K pieces at the row) for every row. The scores of a block of rows stay in the
// second-level cache, and `use` may overwrite them.
template <class Use>
void for_each_row_scores(const MaxAffine& generator, const MatrixView& rows, double work_per_row, const Use& use) {
  const Index pieces = generator.pieces(), features = rows.cols();
  const Index block_rows = std::clamp<Index>(65536 / pieces, 32, 256);
  const Index blocks = (rows.rows() + block_rows - 1) / block_rows;
  const double work = static_cast<double>(rows.rows()) * (static_cast<double>(pieces * features) + work_per_row);
#pragma omp parallel if (blocks > 1 && work > internal::kWorkForThreads)
  {
    Matrix scores(std::min(block_rows, rows.rows()), pieces);
#pragma omp for schedule(dynamic)
    for (Index block = 0; block < blocks; ++block) {
      const Index begin = block * block_rows;
      const Index count = std::min(block_rows, rows.rows() - begin);
      generator.scores().compute(rows.data() + begin * rows.outerStride(), rows.outerStride(), count, scores.data());
      for (Index i = 0; i < count; ++i) use(begin + i, scores.data() + i * pieces);
    }
  }
}

// D depends on a reference only through its piece, so a row of the output is a gather from the K gaps of its point.
class MaxAffineReferenceSet final : public ReferenceSet {
 public:
  MaxAffineReferenceSet(const MaxAffine& generator, std::vector<int> pieces)
      : generator_(generator), pieces_(std::move(pieces)) {}

  Index size() const override { return std::ssize(pieces_); }

  void divergences_from(const MatrixView& points, MatrixSpan out) const override {
    generator_.check_points(points);
    internal::check_output(out, points.rows(), size());
    const Index pieces = generator_.pieces(), references = size();
    const bool stream = internal::worth_streaming(out.rows(), out.cols());
    for_each_row_scores(generator_, points, static_cast<double>(references), [&](Index row, double* scores) {
      const double maximum = maximum_of(scores, pieces);
      for (Index k = 0; k < pieces; ++k) scores[k] = gap_below(maximum, scores[k]);
      internal::gather(scores, pieces_.data(), references, out.data() + row * out.outerStride(), stream);
      if (stream) internal::finish_streaming();
    });
  }

 private:
  const MaxAffine& generator_;
  std::vector<int> pieces_;
};

}  // namespace

MaxAffine::MaxAffine(Matrix slopes, Vector offsets, double resolution)
    : slopes_(std::move(slopes)), offsets_(std::move(offsets)), resolution_(resolution) {
  internal::check_pieces(slopes_, offsets_);
  internal::require(resolution_ >= 0 && resolution_ <= internal::kLargestEntry,
                    "the resolution is {}; allowed: >= 0 and finite", resolution_);
  scores_ = std::make_shared<internal::AffineScores>(slopes_, offsets_);
}

std::vector<int> MaxAffine::pieces_of(const MatrixView& references) const {
  check_references(references);
  std::vector<int> pieces(references.rows());
  for_each_row_scores(*this, references, 0, [&](Index row, const double* scores) {
    pieces[row] = lowest_tied_piece(scores, slopes_.rows());
  });
  return pieces;
}

Vector MaxAffine::generator_values(const MatrixView& points) const {
  check_points(points);
  Vector values(points.rows());
  for_each_row_scores(*this, points, 0,
                      [&](Index row, const double* scores) { values(row) = maximum_of(scores, slopes_.rows()); });
  return values;
}

Matrix MaxAffine::gradients(const MatrixView& references) const {
  const std::vector<int> pieces = pieces_of(references);
  Matrix out(references.rows(), slopes_.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = slopes_.row(pieces[i]);
  return out;
}

double MaxAffine::divergence(const VectorView& point, const VectorView& reference) const {
  if (point == reference) return 0;
  Vector at_point(pieces()), at_reference(pieces());
  scores_->compute(point.data(), point.size(), 1, at_point.data());
  scores_->compute(reference.data(), reference.size(), 1, at_reference.data());
  return gap_below(at_point.maxCoeff(), at_point(lowest_tied_piece(at_reference.data(), at_reference.size())));
}

std::unique_ptr<ReferenceSet> MaxAffine::prepare(const MatrixView& references) const {
  return std::make_unique<MaxAffineReferenceSet>(*this, pieces_of(references));
}

std::unique_ptr<ReferenceSet> MaxAffine::prepare_pieces(std::vector<int> pieces) const {
  for (const int piece : pieces) {
    internal::require(piece >= 0 && piece < slopes_.rows(), "found the piece {}; allowed: 0 to {}", piece,
                      slopes_.rows() - 1);
  }
  return std::make_unique<MaxAffineReferenceSet>(*this, std::move(pieces));
}

}  // namespace bregmax
