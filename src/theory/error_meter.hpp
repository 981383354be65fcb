#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/theory/approximate.hpp"
#include "theory/coordinate_generator.hpp"

namespace bregmax::internal {

// The errors of a max-affine approximator at given points.
class ErrorMeter {
 public:
  ErrorMeter(const CoordinateGenerator& generator, const MaxAffine& approximator)
      : generator_(generator), approximator_(approximator) {}

  Vector value_errors(const MatrixView& points) const;  // |phi - h|

  struct Gradients {
    Vector errors;            // ||grad phi - a_k||_1 for the worst piece k among those that attain h
    std::vector<int> pieces;  // that piece
    Matrix differences;       // grad phi - a_k
  };
  Gradients gradient_errors(const MatrixView& references) const;

  // |D_phi - D_h| row by row, where row r of the references takes the subgradient of pieces[r].
  Vector divergence_errors(const MatrixView& points, const MatrixView& references,
                           const std::vector<int>& pieces) const;

 private:
  // Calls use(row, scores <a_k, x> + b_k of that row), a few rows at a time.
  template <class Use>
  void for_each_scores(const MatrixView& points, const Use& use) const;

  const CoordinateGenerator& generator_;
  const MaxAffine& approximator_;
};

// The largest errors that are found on the box and on the inner box: at lattice points (where cells of a grid meet, so
// that errors are largest), at random points, and by climbing from the worst of them.
struct MeterPlan {
  Box box;
  double margin = 0;
  Index cells = 0;  // of the grid per axis; 0: the anchors are no grid
  Index samples = 0;
  std::uint64_t seed = 0;
};
ApproximationErrors largest_errors(const ErrorMeter& meter, const MeterPlan& plan, const RunControl& control);

}  // namespace bregmax::internal
