// The time of the divergence matrix compared with a lower bound: the GEMM calls that it contains, and writing the
// result once into memory that is already mapped. Single-threaded; prints both times and their ratio.
//
// usage: divergence_matrix_benchmark [rows = 20000 [repeats = 3]]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/matrix.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "core/blas.hpp"

namespace {

using bregmax::Index;
using bregmax::Matrix;
using bregmax::Vector;

constexpr Index kPieces = 200, kFeatures = 20;

Matrix normal_matrix(Index rows, Index cols, bregmax::Random& random) {
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

double best_seconds(int repeats, const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

// a b^T, written over and over into one buffer of at most `band` rows.
void bare_gemm(const Matrix& a, const Matrix& b, Index band, Matrix& buffer) {
  for (Index begin = 0; begin < a.rows(); begin += band) {
    const Index count = std::min(band, a.rows() - begin);
    bregmax::internal::gemm(false, true, count, b.rows(), a.cols(), 1, a.data() + begin * a.cols(), a.cols(), b.data(),
                            b.cols(), 0, buffer.data(), b.rows());
  }
}

void report(const char* name, double measured, double gemm, double fill) {
  fmt::print("{:<20} {:7.3f} s   gemm {:6.3f} s + write {:6.3f} s   ratio {:.2f}\n", name, measured, gemm, fill,
             measured / (gemm + fill));
}

}  // namespace

int main(int argc, char** argv) {
  bregmax::restart_with_better_blas_kernels(argv);
  const Index rows = argc > 1 ? std::atol(argv[1]) : 20000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  const bregmax::ThreadLimit one_thread(1);
  bregmax::Random random(1);
  const Matrix points = normal_matrix(rows, kFeatures, random), references = normal_matrix(rows, kFeatures, random);
  const Matrix slopes = normal_matrix(kPieces, kFeatures, random);
  const Vector offsets = normal_matrix(kPieces, 1, random);
  const bregmax::MaxAffine max_affine(slopes, offsets);
  const bregmax::SmoothedMaxAffine smoothed(slopes, offsets, 0.5);
  const bregmax::SquaredEuclidean euclidean;

  Matrix out = Matrix::Constant(rows, rows, -1);
  Matrix scores(rows, kPieces);
  const double fill = best_seconds(repeats, [&] { std::fill(out.data(), out.data() + out.size(), 1.5); });
  const double score_gemms = best_seconds(repeats, [&] {
    bare_gemm(points, slopes, rows, scores);
    bare_gemm(references, slopes, rows, scores);
  });
  Matrix band(64, rows);
  const double full_gemm = best_seconds(repeats, [&] { bare_gemm(points, references, 64, band); });

  fmt::print("{} x {} rows, {} pieces, {} features, 1 thread, best of {}\n", rows, rows, kPieces, kFeatures, repeats);
  report("max_affine", best_seconds(repeats, [&] { max_affine.prepare(references)->divergences_from(points, out); }),
         score_gemms, fill);
  report("smoothed_max_affine",
         best_seconds(repeats, [&] { smoothed.prepare(references)->divergences_from(points, out); }), full_gemm, fill);
  report("squared_euclidean",
         best_seconds(repeats, [&] { euclidean.prepare(references)->divergences_from(points, out); }), full_gemm, fill);
}
