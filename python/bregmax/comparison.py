"""Which method is good for the data? A cross-validated table of methods."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from bregmax import _core
from bregmax._arguments import (
    comparisons_of,
    names_of,
    number,
    numbered_by_appearance,
    pairs_of,
    seed_of,
    targets_of,
    threads_of,
    whole_number,
)
from bregmax._progress import run_with_progress

__all__ = ["MethodTable", "compare"]


def compare(
    X: Any = None,
    y: Any = None,
    *,
    comparisons: Any = None,
    pairs: Any = None,
    targets: Any = None,
    directed: bool = False,
    methods: Any = None,
    scale: str | None = None,
    tune_for: str | None = None,
    folds: int | None = None,
    repeats: int = 1,
    max_rows: int | None = 5000,
    out: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> MethodTable:
    """Compares methods by nested cross-validation; the Euclidean distance is always among them.

    On each fold every method chooses its settings within the training part, as `fit` would, and is scored on the rows or
    items that are held out, which no choice has seen.

    Parameters
    ----------
    X : rows
        May be left out if `comparisons`, `pairs` or `targets` hold the rows themselves.
    y : labels of the rows, unless one of the next three is given
    comparisons : array
        As `BregmanLearner.fit_comparisons` takes them.
    pairs : (pairs, y)
        As `BregmanLearner.fit_pairs` takes them.
    targets : (pairs, values)
        As `BregmanLearner.fit_targets` takes them.
    directed : bool
        Pairs say something about D(point, reference) only; else they are learned from, and scored, in both directions.
    methods : list of str, "all" or None
        Names that ``bregmax methods`` prints, or "auto", which is what `fit` takes by default and which adds the methods
        that it chooses from. None: all that can learn from the supervision and are not predicted to take long.
    scale : "standard", "none", "auto" or None
        "auto": each method chooses between the two. None: "standard".
    tune_for : str or None
        The score by which each method chooses its settings. None: average precision, for labels; the share of held-out
        comparisons that hold, or how well held-out pairs are told apart; the loss, for targets.
    folds : int or None
        None: 5.
    repeats : int
        Cross-validations from labels, each with new folds.
    max_rows : int or None
        Of larger tables with labels this many rows are used, drawn at random. None: all.
    out : path or None
        Finished runs are kept in this file; the same call goes on after them.
    time_limit : float or None
        Seconds of everything together. What is finished then is in the table.
    random_state, n_jobs, verbose
        As of `BregmanLearner`.
    """
    rows, given = _supervision(X, y, comparisons, pairs, targets)
    if max_rows is not None and whole_number(max_rows, "max_rows") < 1:
        raise ValueError(f"max_rows is {max_rows}; allowed: 1 or more, or None for all")
    options = {
        "names": {"scales": "scale", "rows": "max_rows"},
        "methods": names_of(methods, "methods"),
        "scale": scale,
        "directed": bool(directed),
        "tune_for": tune_for,
        "folds": whole_number(folds, "folds"),
        "repeats": whole_number(repeats, "repeats"),
        "rows": 0 if max_rows is None else int(max_rows),
        "time_limit": number(time_limit, "time_limit"),
        "seed": seed_of(random_state),
        "threads": threads_of(n_jobs),
        "out": None if out is None else os.fspath(out),
    }
    return MethodTable(run_with_progress(_core.compare, rows, given, options, verbose=verbose))


@dataclass(frozen=True, eq=False, repr=False)
class MethodTable:
    """What `compare` found: one row per method, one column per measure. `print` shows it as the program does."""

    report: dict[str, Any]
    """All of it, as ``bregmax compare --json`` prints it."""

    @property
    def methods(self) -> list[str]:
        """The rows, from the simplest method on."""
        return [row["method"] for row in self.report["methods"]]

    @property
    def measures(self) -> list[str]:
        """The columns."""
        return list(self.report["measures"])

    @property
    def winners(self) -> dict[str, str | None]:
        """Of each measure the method with the best mean."""
        return dict(self.report["winners"])

    @property
    def complete(self) -> bool:
        """False if a time limit ended it early."""
        return self.report["status"] == "done"

    def as_good(self, measure: str) -> list[str]:
        """The methods that are not clearly worse than the winner: by no more than the standard error of the difference
        on the same folds."""
        return [row["method"] for row in self.report["methods"] if self._score(row, measure)["as_good"]]

    def mean(self, method: str, measure: str) -> float:
        """The mean over the folds; NaN: not known."""
        return _number(self._score(self._row(method), measure)["mean"])

    def standard_error(self, method: str, measure: str) -> float:
        """Of the mean."""
        return _number(self._score(self._row(method), measure)["standard_error"])

    def fold_scores(self, method: str, measure: str) -> np.ndarray:
        """The score on each fold; NaN: not known."""
        return np.array([_number(score) for score in self._score(self._row(method), measure)["folds"]])

    def to_frame(self) -> Any:
        """A pandas data frame: a row per method; columns (measure, "mean"), (measure, "standard_error"), ("seconds",
        "fit") and ("seconds", "choosing")."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        columns: dict[tuple[str, str], list[float]] = {}
        for measure in self.measures:
            for part in ("mean", "standard_error"):
                columns[measure, part] = [_number(self._score(row, measure)[part]) for row in self.report["methods"]]
        for name, field in (("fit", "seconds_of_fit"), ("choosing", "seconds_of_choice")):
            columns["seconds", name] = [_number(row[field]) for row in self.report["methods"]]
        return pandas.DataFrame(columns, index=pandas.Index(self.methods, name="method"))

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Means with their standard errors, one line per method, by matplotlib: the winner is green, what is as good olive.

        measure: None: the one that settings were chosen by, or the first.
        """
        from bregmax.plot import _axes

        chosen_by = self.report["tune_for"]
        measure = measure or (chosen_by if chosen_by in self.measures else self.measures[0])
        alike, winner = self.as_good(measure), self.winners[measure]
        ax = _axes(ax)
        for place, method in enumerate(self.methods):
            colour = "tab:green" if method == winner else "tab:olive" if method in alike else "tab:gray"
            error = self.standard_error(method, measure)
            ax.errorbar(self.mean(method, measure), place, xerr=error, fmt="o", capsize=3, color=colour)
        ax.set_yticks(range(len(self.methods)), self.methods)
        ax.invert_yaxis()
        ax.set_xlabel(measure.replace("_", " "))
        return ax

    def __str__(self) -> str:
        return self.report["text"]

    def __repr__(self) -> str:
        return f"<MethodTable of {', '.join(self.methods)} on {self.report['folds']} folds>"

    def _row(self, method: str) -> dict[str, Any]:
        for row in self.report["methods"]:
            if row["method"] == method:
                return row
        raise KeyError(f"{method!r} was not compared; there are {', '.join(self.methods)}")

    def _score(self, row: dict[str, Any], measure: str) -> dict[str, Any]:
        if measure not in row["scores"]:
            raise KeyError(f"there is no measure {measure!r}; there are {', '.join(self.measures)}")
        return row["scores"][measure]


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _supervision(X: Any, y: Any, comparisons: Any, pairs: Any, targets: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """The rows and what they are learned from, as the library takes it."""
    given = {"y": y, "comparisons": comparisons, "pairs": pairs, "targets": targets}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError(f"exactly one of y, comparisons, pairs and targets is needed; found {', '.join(names) or 'none'}")
    if y is not None:
        X, y = check_X_y(X, y, dtype=np.float64, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        return X, {"classes": numbered_by_appearance(y)}
    if comparisons is not None:
        return comparisons_of(comparisons, X)
    name = names[0]
    try:
        tuples, values = given[name]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be two arrays: pairs of rows, and a value of each") from None
    return pairs_of(tuples, values, X) if name == "pairs" else targets_of(tuples, values, X)
