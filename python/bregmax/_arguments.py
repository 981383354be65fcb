"""Checks and conversions that several estimators share."""

from __future__ import annotations

import difflib
import numbers
import os
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state


def rows_of(X: Any, features: int, name: str, owner: str) -> np.ndarray:
    """X as the library reads it: C-contiguous float64, not copied when it is that already."""
    rows = check_array(X, dtype=np.float64, order="C", input_name=name)
    if rows.shape[1] != features:
        raise ValueError(
            f"{name} has {rows.shape[1]} features, but {owner} is expecting {features} features as input."
        )
    return rows


def whole_number(value: Any, name: str) -> int | None:
    """None stays None. 2.5 is a mistake that int() would hide."""
    if value is None:
        return None
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {shown(value)}; allowed: a whole number")
    return int(value)


def number(value: Any, name: str) -> float | None:
    """None stays None."""
    if value is None:
        return None
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {shown(value)}; allowed: a number")
    return float(value)


def truth(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {shown(value)}; allowed: True or False")
    return bool(value)


def path_of(value: Any) -> str | None:
    """None stays None."""
    return None if value is None else os.fspath(value)


def shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def names_of(value: Any, name: str) -> list[str] | None:
    """Names of methods. A single name need not be in a list."""
    if value is None:
        return None
    names = [value] if isinstance(value, str) else [str(member) for member in value]
    if not names:
        raise ValueError(f"{name} is []; allowed: names, or None")
    return names


def seed_of(random_state: Any) -> int:
    """A whole number is itself the seed, as on the command line; anything else draws one."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state}; allowed: a whole number >= 0, a RandomState or None")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(n_jobs: int | None) -> int:
    """What the library calls threads, where 0 is as many as there are."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if not isinstance(n_jobs, numbers.Integral) or n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs!r}; allowed: a whole number >= 1, -1 or None for all threads")
    return int(n_jobs)


def numbered_by_appearance(y: np.ndarray) -> np.ndarray:
    """Classes numbered as the readers of the library number them, so that Python and the program learn the same."""
    _, first, inverse = np.unique(y, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return np.ascontiguousarray(number[inverse.ravel()])


def row_weights_of(sample_weight: Any, rows: int) -> dict[str, np.ndarray]:
    """Weights of labelled rows, as the library takes them, after the checks that scikit-learn makes of its own."""
    if sample_weight is None:
        return {}
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(rows, sample_weight)
    weights = check_array(sample_weight, dtype=np.float64, order="C", ensure_2d=False, input_name="sample_weight")
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({rows},), one weight per row")
    if weights.min() < 0:
        raise ValueError(f"sample_weight has negative values, such as {weights.min()}; allowed: numbers >= 0")
    if weights.max() == 0:
        raise ValueError("sample_weight is zero for every row; at least one row must have a weight > 0")
    return {"row_weights": weights}


def _weights_of(sample_weight: Any, items: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(items)
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (items,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({items},), one weight per item")
    return weights


def _names_of_rows(X: Any) -> Any:
    """The index of a pandas data frame, unless it only numbers the rows or cannot name them; else None."""
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "iloc") or index.nlevels > 1 or not index.is_unique:
        return None
    whole = getattr(index.dtype, "kind", "O") in "iu"
    return None if whole and np.array_equal(index, np.arange(len(index))) else index


def _numbers_of(items: np.ndarray, index: Any, name: str) -> np.ndarray:
    """The row numbers of items that are given by labels of the index or, if none of them is one, by numbers already."""
    found = np.asarray(index.get_indexer(items.ravel())).reshape(items.shape)
    whole = all(isinstance(label, numbers.Integral) for label in items.flat)
    if whole and (found < 0).all():
        return items.astype(np.int64)
    if (found < 0).any():
        item, place = np.argwhere(found < 0)[0]
        label = items[item, place]
        close = difflib.get_close_matches(str(label), [str(one) for one in index], 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{name} has {label!r} in item {item}, which is not in the index of X{hint}")
    if whole and (found != items).any():
        warnings.warn(
            f"{name} holds labels of the index of X, which are not its row numbers; X.reset_index(drop=True) makes them so",
            stacklevel=outside_level(),
        )
    return found


def _checked_row_numbers(given: np.ndarray, rows: int, name: str) -> np.ndarray:
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"{name} has 2 dimensions and so holds row numbers, which must be whole, or labels of the index of a data "
            f"frame X; found {given.dtype}"
        )
    if given.size and (given.min() < 0 or given.max() >= rows):
        raise ValueError(f"{name} has row numbers from {given.min()} to {given.max()}; allowed: 0 to {rows - 1}")
    return given


def tuples_of(tuples: Any, X: Any, sizes: tuple[int, ...], name: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows and, for each item, their numbers: from numbers of rows of X, or from rows of shape (m, t, d).

    If X is a data frame with an index of its own, items are given by its labels.
    """
    index = _names_of_rows(X)
    given = np.asarray(tuples, dtype=None if index is None else object)
    allowed = " or ".join(str(size) for size in sizes)
    if given.ndim == 3:
        if X is not None:
            raise ValueError(f"{name} holds rows (3 dimensions), so X must be left out")
        check_array(given.reshape(-1, given.shape[2]), dtype=np.float64, input_name=name)
        rows, numbers_of_rows = np.unique(
            given.reshape(-1, given.shape[2]).astype(np.float64), axis=0, return_inverse=True
        )
        indices = numbers_of_rows.reshape(given.shape[:2])
    elif given.ndim == 2:
        if X is None:
            raise ValueError(f"{name} holds row numbers (2 dimensions), so X (or a preprocessor) is needed")
        rows = check_array(X, dtype=np.float64, order="C", input_name="X")
        numbered = given if index is None else _numbers_of(given, index, name)
        indices = _checked_row_numbers(numbered, len(rows), name)
    else:
        raise ValueError(f"{name} has {given.ndim} dimensions; expected row numbers (m, t) or rows (m, t, d)")
    if indices.shape[1] not in sizes:
        raise ValueError(f"{name} has {indices.shape[1]} rows per item; expected {allowed}")
    if len(indices) == 0:
        raise ValueError(f"{name} is empty; at least one item is needed")
    return np.ascontiguousarray(rows), np.ascontiguousarray(indices, dtype=np.int64)


def comparisons_of(comparisons: Any, X: Any, sample_weight: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The rows and the supervision, as the library takes it. Triplets D(i, j) <= D(i, l) become quadruplets."""
    rows, items = tuples_of(comparisons, X, (3, 4), "comparisons")
    if items.shape[1] == 3:
        items = np.ascontiguousarray(items[:, [0, 1, 0, 2]])
    return rows, {"comparisons": items, "weights": _weights_of(sample_weight, len(items))}


def pairs_of(pairs: Any, y: Any, X: Any, sample_weight: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rows, items = tuples_of(pairs, X, (2,), "pairs")
    weights = _weights_of(sample_weight, len(items))
    return rows, {"pairs": items, "similar": similar_of(y, len(items)), "weights": weights}


def targets_of(pairs: Any, values: Any, X: Any, sample_weight: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rows, items = tuples_of(pairs, X, (2,), "pairs")
    targets = np.ascontiguousarray(values, dtype=np.float64)
    if targets.shape != (len(items),):
        raise ValueError(f"values has shape {targets.shape}; expected ({len(items)},), one per pair")
    if not np.isfinite(targets).all():
        raise ValueError("values contains NaN or infinity.")
    return rows, {"targets": items, "values": targets, "weights": _weights_of(sample_weight, len(items))}


def similar_of(y: Any, items: int) -> np.ndarray:
    """1 for similar and 0 for dissimilar pairs, from metric-learn's +1 and -1, from 1 and 0, or from truth values."""
    labels = np.asarray(y)
    if labels.shape != (items,):
        raise ValueError(f"y has shape {labels.shape}; expected ({items},), one label per pair")
    if not np.isin(labels, (-1, 0, 1)).all() or (np.isin(labels, 0).any() and np.isin(labels, -1).any()):
        raise ValueError("y must hold 1 for similar pairs and -1 (or 0) for dissimilar ones")
    return np.ascontiguousarray(labels == 1, dtype=np.int32)


def outside_level() -> int:
    """The `stacklevel` with which the caller of this function warns the code that called into the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "bregmax":
        level, frame = level + 1, frame.f_back
    return level
