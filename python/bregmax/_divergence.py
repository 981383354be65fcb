"""The divergence that clustering and nearest neighbours measure with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from bregmax.model import Model


def resolve_divergence(divergence: Any, X: np.ndarray, y: Any, default: Any, numbers: bool = False) -> Model:
    """A model as it is, a closed form by its name, or a learner: a clone of it is fitted to X and y, labels or `numbers`."""
    given = default if divergence is None else divergence
    if isinstance(given, str):
        return Model.closed_form(given, X.shape[1])
    if isinstance(given, Model):
        if given.n_features != X.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the divergence has {given.n_features}")
        return given
    if isinstance(given, BaseEstimator) and hasattr(given, "fit"):
        if y is None:
            raise ValueError("a learner as divergence needs labels y; pass its model_ to use what it has learned")
        if not numbers:
            return clone(given).fit(X, y).model_
        if not hasattr(given, "fit_row_targets"):
            raise ValueError(f"{type(given).__name__} cannot learn from numbers; BregmanLearner can (method=... names its method)")
        return clone(given).fit_row_targets(X, y).model_
    raise ValueError(f"divergence is {given!r}; allowed: a name, a bregmax.Model or a learner")
