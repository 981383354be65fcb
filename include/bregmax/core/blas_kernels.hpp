#pragma once

#include <string>
#include <string_view>

namespace bregmax {

// OpenBLAS chooses its kernels when it is loaded, by the model of the processor. Releases before 0.3.25 (Debian 12)
// take unknown models for processors of 2004 (github.com/OpenMathLib/OpenBLAS/issues/4267), and matrix products are
// then several times slower. The environment variable OPENBLAS_CORETYPE, set before that, names other kernels.

// The kernels that OpenBLAS took.
std::string blas_kernels();

// The name of faster ones that this processor can run; empty: there are none, or OPENBLAS_CORETYPE is set already.
std::string better_blas_kernels();

// First in main(): where there are better kernels, starts the program anew with OPENBLAS_CORETYPE set. Returns where
// there are none, or where the program's file is unknown (it was started through a link of another name, or a loader).
void restart_with_better_blas_kernels(char** argv);

namespace internal {
// better_blas_kernels() where OpenBLAS took the kernels `taken`, `named` by the caller or not.
std::string choose_blas_kernels(std::string_view taken, bool named, std::string_view of_processor);
}  // namespace internal

}  // namespace bregmax
