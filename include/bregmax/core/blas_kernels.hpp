#pragma once

#include <string>
#include <string_view>

namespace bregmax {

// OpenBLAS chooses its kernels when it is loaded, by the model of the processor. Releases before 0.3.25 (Debian 12)
// take unknown models for processors of 2004 (github.com/OpenMathLib/OpenBLAS/issues/4267), and matrix products are
// then several times slower. The environment variable OPENBLAS_CORETYPE chooses other kernels if it is set before that.

// The name of the kernels that OpenBLAS chose.
std::string blas_kernels();

// The name of faster kernels that this processor can run. Empty: no faster ones, or OPENBLAS_CORETYPE is already set.
std::string better_blas_kernels();

// Call this first in main(). If there are better kernels, it restarts the program with OPENBLAS_CORETYPE set. Otherwise
// it returns, as it does if the program's file is unknown (it was started by a loader or a link of another name).
void restart_with_better_blas_kernels(char** argv);

namespace internal {
// What better_blas_kernels() returns if OpenBLAS chose the kernels `taken`. named: OPENBLAS_CORETYPE was set.
std::string choose_blas_kernels(std::string_view taken, bool named, std::string_view of_processor);
}  // namespace internal

}  // namespace bregmax
