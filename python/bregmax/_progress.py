"""The progress bar of verbose=1: tqdm's if it is installed, a plain line otherwise."""

from __future__ import annotations

import math
import sys
from typing import Any, Callable


class ProgressBar:
    """Called by the library a few times a second; a context manager, so that no bar stays open."""

    STEPS = 1000

    def __init__(self) -> None:
        self._phase: str | None = None
        self._first_gap = 0.0
        self._bar: Any = None
        self._shown: tuple[int, str] | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __call__(self, phase: str, iteration: int, fraction: float, relative_gap: float, tolerance: float) -> None:
        if phase != self._phase:
            self._close()
            self._phase, self._first_gap = phase, 0.0
            self._bar = _open_bar(phase, self.STEPS)
        text = f"{iteration}"
        if math.isfinite(relative_gap):
            self._first_gap = max(self._first_gap, relative_gap)
            text += f", gap {relative_gap:.1e}"
        done = round(self.STEPS * self._share(fraction, relative_gap, tolerance))
        if (done, text) == self._shown:
            return
        self._shown = (done, text)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.n = done
        self._bar.refresh()

    def _share(self, fraction: float, relative_gap: float, tolerance: float) -> float:
        if math.isfinite(fraction):
            return min(max(fraction, 0.0), 1.0)
        if not (self._first_gap > tolerance > 0 and relative_gap > 0):
            return 0.0
        # Each interior point iteration gains about the same number of digits.
        share = math.log(self._first_gap / relative_gap) / math.log(self._first_gap / tolerance)
        return min(max(share, 0.0), 1.0)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class _PlainBar:
    def __init__(self, phase: str, total: int) -> None:
        self._phase, self._total, self._text = phase, total, ""
        self.n = 0

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        self._text = text

    def refresh(self) -> None:
        print(f"\r{self._phase} {100 * self.n // self._total:3d} % ({self._text})", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)


def _open_bar(phase: str, total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _PlainBar(phase, total)
    return tqdm(total=total, desc=phase, bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed}{postfix}")


def run_with_progress(work: Callable[..., Any], *arguments: Any, verbose: int) -> Any:
    """Calls work(*arguments, on_progress)."""
    if not verbose:
        return work(*arguments, None)
    with ProgressBar() as bar:
        return work(*arguments, bar)
