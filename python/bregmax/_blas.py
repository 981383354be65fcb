"""The kernels that OpenBLAS takes when the compiled part is loaded.

Releases before 0.3.25 take processors whose model they do not know for ones of 2004, and matrix products are then
several times slower than they need be (github.com/OpenMathLib/OpenBLAS/issues/4267). OPENBLAS_CORETYPE names the kernels
to take, but only before the library is loaded, so this looks at the processor itself.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator

_VARIABLE = "OPENBLAS_CORETYPE"
_AVX512 = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


def kernels_for(flags: set[str]) -> str | None:
    """OpenBLAS's name of the kernels for a processor with these flags of /proc/cpuinfo; None: let it choose."""
    if flags >= _AVX512:
        return "SkylakeX"
    if flags >= {"avx2", "fma"}:
        return "Haswell"
    return None


def _flags() -> set[str]:
    if platform.machine() != "x86_64":
        return set()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return set()
    return set(line.partition(":")[2].split())


@contextlib.contextmanager
def suitable_kernels() -> Iterator[None]:
    """While the compiled part is imported; what others load later is left alone, and so is who named the kernels."""
    kernels = None if _VARIABLE in os.environ else kernels_for(_flags())
    if kernels is None:
        yield
        return
    os.environ[_VARIABLE] = kernels
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE, None)
