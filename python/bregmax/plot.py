"""Pictures of a model, by matplotlib (`pip install bregmax[plot]`). Each function draws into `ax` (a new one if None)
and returns it.

A picture over two features holds all others fixed: at `at`, a row, which defaults to the centre of the model's scaling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from bregmax.model import Model

__all__ = ["asymmetry", "divergence_from", "divergence_to", "generator", "lambda_path", "method_scores"]


def generator(model: Any, X: Any, features: tuple[int, int] = (0, 1), *, at: Any = None, resolution: int = 200, ax=None):
    """phi over two features, with the rows X: filled contours."""
    plane = _Plane(model, X, features, at, resolution)
    ax = _axes(ax)
    filled = ax.contourf(*plane.grid, plane.shaped(plane.model.phi(plane.rows)), levels=20, cmap="viridis")
    ax.figure.colorbar(filled, ax=ax, label="phi")
    return plane.finish(ax, "generator")


def divergence_to(
    model: Any, reference: Any, X: Any, features: tuple[int, int] = (0, 1), *, at: Any = None, resolution: int = 200, ax=None
):
    """Contours of D(x, reference) over the point x."""
    plane = _Plane(model, X, features, reference if at is None else at, resolution)
    values = plane.model.divergence(plane.rows, _row(reference, plane.model))[:, 0]
    return plane.contours(_axes(ax), values, reference, "D(x, reference)")


def divergence_from(
    model: Any, point: Any, X: Any, features: tuple[int, int] = (0, 1), *, at: Any = None, resolution: int = 200, ax=None
):
    """Contours of D(point, x) over the reference x."""
    plane = _Plane(model, X, features, point if at is None else at, resolution)
    values = plane.model.divergence(_row(point, plane.model), plane.rows)[0]
    return plane.contours(_axes(ax), values, point, "D(point, x)")


def lambda_path(model: Any, measure: str | None = None, *, ax=None):
    """The cross-validated score along lambda, with its standard error; the best over all else that was tuned.

    measure: None: the one that was tuned for.
    """
    tuning = _model(model).tuning
    lambdas = np.array([candidate.get("lambda", np.nan) for candidate in tuning["candidates"]] if tuning else [np.nan])
    if np.isnan(lambdas).all():
        raise ValueError("lambda was not tuned, so there is no path of it: fit with lam='auto'")
    measure, means, errors = _scores(tuning, measure)
    better = -means if measure == "loss" else means
    known = np.isfinite(better) & np.isfinite(lambdas)
    best = [max(np.flatnonzero((lambdas == value) & known), key=better.__getitem__) for value in np.unique(lambdas[known])]
    ax = _axes(ax)
    ax.errorbar(lambdas[best], means[best], yerr=errors[best], marker="o", capsize=3)
    chosen = tuning["chosen"]
    if chosen >= 0 and known[chosen]:
        ax.plot(lambdas[chosen], means[chosen], "o", markersize=12, fillstyle="none", color="tab:red", label="chosen")
        ax.legend()
    ax.set_xscale("symlog", linthresh=max(lambdas[lambdas > 0].min(), 1e-300) if (lambdas > 0).any() else 1.0)
    ax.set(xlabel="lambda", ylabel=measure.replace("_", " "))
    return ax


def method_scores(model: Any, measure: str | None = None, *, ax=None):
    """The cross-validated score of each candidate, one line per method, with the standard error of the chosen one.

    measure: None: the one that was tuned for.
    """
    tuning = _model(model).tuning
    if not tuning:
        raise ValueError("nothing was tuned, so there are no scores: fit with method='auto'")
    measure, means, errors = _scores(tuning, measure)
    methods = [candidate.get("method", "") for candidate in tuning["candidates"]]
    names = list(dict.fromkeys(methods))
    ax = _axes(ax)
    for line, name in enumerate(names):
        of_method = means[[method == name for method in methods]]
        ax.plot(of_method, np.full(len(of_method), line), "o", alpha=0.6)
    chosen = tuning["chosen"]
    if chosen >= 0:
        line = names.index(methods[chosen])
        ax.errorbar(means[chosen], line, xerr=errors[chosen], color="tab:red", capsize=3)
        ax.plot(means[chosen], line, "o", markersize=12, fillstyle="none", color="tab:red", label="chosen")
        ax.legend()
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel=measure.replace("_", " "))
    return ax


def asymmetry(model: Any, X: Any, y: Any = None, *, ax=None):
    """The map of D(i, j) - D(j, i) over the rows X, sorted by their labels y where given."""
    model = _model(model)
    X = check_array(X, dtype=np.float64, input_name="X")
    order = np.arange(len(X)) if y is None else np.argsort(np.asarray(y), kind="stable")
    divergences = model.divergence(X[order])
    difference = divergences - divergences.T
    limit = np.abs(difference).max() or 1.0
    ax = _axes(ax)
    image = ax.imshow(difference, cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.figure.colorbar(image, ax=ax, label="D(i, j) - D(j, i)")
    if y is not None:
        for boundary in np.flatnonzero(np.asarray(y)[order][1:] != np.asarray(y)[order][:-1]):
            ax.axhline(boundary + 0.5, color="black", linewidth=0.5)
            ax.axvline(boundary + 0.5, color="black", linewidth=0.5)
    ax.set(xlabel="reference j", ylabel="point i", title="asymmetry")
    return ax


class _Plane:
    """A grid over two features around the rows X, as rows of the model."""

    def __init__(self, model: Any, X: Any, features: tuple[int, int], at: Any, resolution: int) -> None:
        self.model = _model(model)
        count = self.model.n_features
        if count < 2:
            raise ValueError("the model has one feature; two are needed for a picture over two")
        if len(features) != 2 or features[0] == features[1] or not all(0 <= f < count for f in features):
            raise ValueError(f"features is {features}; allowed: two different numbers from 0 to {count - 1}")
        self.features = tuple(features)
        self.X = check_array(X, dtype=np.float64, input_name="X")
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        margin = np.where(high > low, 0.1 * (high - low), 1.0)
        first, second = self.features
        self.grid = np.meshgrid(
            np.linspace(low[first] - margin[first], high[first] + margin[first], resolution),
            np.linspace(low[second] - margin[second], high[second] + margin[second], resolution),
        )
        fixed = self.model.center if at is None else _row(at, self.model)[0]
        self.rows = np.tile(fixed, (resolution * resolution, 1))
        self.rows[:, first], self.rows[:, second] = (axis.ravel() for axis in self.grid)

    def shaped(self, values: np.ndarray) -> np.ndarray:
        return values.reshape(self.grid[0].shape)

    def contours(self, ax: Any, values: np.ndarray, centre: Any, title: str):
        # Of the square root, so that the rings of a squared distance would be evenly spaced.
        filled = ax.contourf(*self.grid, np.sqrt(self.shaped(values)), levels=15, cmap="magma_r")
        ax.figure.colorbar(filled, ax=ax, label=f"square root of {title}")
        marked = _row(centre, self.model)[0]
        ax.plot(marked[self.features[0]], marked[self.features[1]], "*", markersize=14, color="tab:blue")
        return self.finish(ax, title)

    def finish(self, ax: Any, title: str):
        ax.scatter(self.X[:, self.features[0]], self.X[:, self.features[1]], s=8, color="black", alpha=0.5)
        names = self.model.feature_names
        ax.set(xlabel=names[self.features[0]], ylabel=names[self.features[1]], title=title)
        return ax


def _model(model: Any) -> Model:
    found = getattr(model, "model_", model)
    if not isinstance(found, Model):
        raise ValueError(f"expected a bregmax.Model or a fitted estimator, found {type(model).__name__}")
    return found


def _row(row: Any, model: Model) -> np.ndarray:
    values = np.asarray(row, dtype=np.float64).reshape(1, -1)
    if values.shape[1] != model.n_features:
        raise ValueError(f"a row with {values.shape[1]} features was given; the model has {model.n_features}")
    return values


def _axes(ax: Any):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("bregmax.plot needs matplotlib: pip install bregmax[plot]") from error
    return plt.subplots()[1]


def _scores(tuning: Any, measure: str | None) -> tuple[str, np.ndarray, np.ndarray]:
    """The name of the measure, and the mean and standard error of each candidate."""
    measure = tuning["tuned_for"] if measure is None else measure
    if measure not in tuning["measures"]:
        raise ValueError(f"measure is '{measure}'; allowed: {', '.join(tuning['measures'])}")
    column = tuning["measures"].index(measure)
    return measure, tuning["means"][:, column], tuning["standard_errors"][:, column]
