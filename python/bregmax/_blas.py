"""The kernels that OpenBLAS takes when the compiled part is loaded.

Releases before 0.3.25 mistake Intel processors of unknown models for ones of 2004, and matrix products are then several
times slower than necessary (github.com/OpenMathLib/OpenBLAS/issues/4267). The variable OPENBLAS_CORETYPE names the kernels
to use, but it is read when the library is loaded, before the library can be asked what it would choose. So this module
looks at the processor, and names the kernels that OpenBLAS uses on the Intel processors that it knows.

Where NumPy uses the same library, as Debian's does, whichever of the two is imported first decides for both.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator

_VARIABLE = "OPENBLAS_CORETYPE"
_AVX512 = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


def kernels_for(vendor: str, flags: set[str]) -> str | None:
    """OpenBLAS's name of the kernels for a processor as /proc/cpuinfo describes it; None: let it choose."""
    if vendor != "GenuineIntel":
        return None
    if flags >= _AVX512:
        return "SkylakeX"
    if flags >= {"avx2", "fma"}:
        return "Haswell"
    return None


def processor() -> tuple[str, set[str]]:
    """Vendor and flags; empty if they are not known."""
    if platform.machine() != "x86_64":
        return "", set()
    first: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                first.setdefault(name.strip(), value.strip())
    except OSError:
        return "", set()
    return first.get("vendor_id", ""), set(first.get("flags", "").split())


@contextlib.contextmanager
def suitable_kernels() -> Iterator[None]:
    """Sets the variable while the compiled part is imported, unless the caller has set it."""
    kernels = None if _VARIABLE in os.environ else kernels_for(*processor())
    if kernels is None:
        yield
        return
    os.environ[_VARIABLE] = kernels
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE, None)
