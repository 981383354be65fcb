"""What learners of any method share: supervision other than labels, and the parameters of piecewise learning (pbdl)."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from bregmax._arguments import names_of
from bregmax._base import DivergenceLearner, Resumable, methods_by_name, name_here, parameters
from bregmax._partial import GOING_ON, PartialMixin
from bregmax.model import Model


@parameters
class AutomaticLearner(PartialMixin, Resumable, DivergenceLearner):
    """Learns by the method that is named, or that scores best on held-out data; subclasses have further parameters."""

    _parameters_of = "pbdl"

    method: str = "auto"
    candidates: Any = None
    lam: float | str | None = field(default=None, kw_only=False)
    lambdas: Any = None
    smoothing: float | str | None = None
    n_pieces: int | str | None = None
    lipschitz_bound: float | None = None
    solver: str = "auto"
    folds: int | None = None
    scores_file: Any = None
    tol: float | None = None
    max_iter: int | None = None

    def fit_comparisons(self, comparisons: Any, X: Any = None, sample_weight: Any = None):
        """Learns from D(i, j) <= D(k, l).

        comparisons: row numbers of X of shape (m, 4), or (m, 3) for triplets (anchor, near, far), D(anchor, near) <=
        D(anchor, far); or labels of the index of X, if it is a data frame with one; or the rows themselves, of shape
        (m, 4, d) or (m, 3, d).
        """
        return self._learn_comparisons(comparisons, X, sample_weight)

    def fit_pairs(self, pairs: Any, y: Any, X: Any = None, sample_weight: Any = None, directed: bool = False):
        """Learns from pairs (point, reference) that are similar (y is 1) or dissimilar (-1, or 0).

        pairs: row numbers of X of shape (m, 2), labels of its index if it is a data frame with one, or the rows themselves,
        of shape (m, 2, d). directed: a pair says something about D(point, reference) only; else its loss is the mean of
        both directions.
        """
        return self._learn_pairs(pairs, y, X, sample_weight, directed)

    def fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Learns from values that D(point, reference) should have; lambda is 0 unless it is given or "auto".

        pairs: row numbers of X of shape (m, 2), labels of its index if it is a data frame with one, or the rows themselves,
        of shape (m, 2, d).
        """
        return self._learn_targets(pairs, values, X, sample_weight)

    def _options(self) -> dict[str, Any]:
        candidates = names_of(self.candidates, "candidates")
        options = super()._options() | {"method": self.method, "candidates": candidates}
        self._refuse_parameters_of_pbdl([*options["parameters"], *(["lambda"] if options["lambdas"] else [])])
        return options

    def _refuse_parameters_of_pbdl(self, given: list[str]) -> None:
        method = methods_by_name().get("pbdl" if self.method == "auto" else self.method)
        foreign = [name_here(name) for name in given if method is not None and name not in method["parameters"]]
        if foreign:
            raise ValueError(f"{foreign[0]} does not go with method={self.method!r}; it is a parameter of pbdl")

    def _to_go_on(self) -> dict[str, Any]:
        more = super()._to_go_on()
        if more or self.method != "auto" or self.candidates is not None:
            return more
        for name in ("lam", "lambdas", "smoothing", "n_pieces", "lipschitz_bound"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} chooses the method pbdl, whose models cannot be learned further")
        return {"candidates": list(GOING_ON)}

    def _options_to_go_on(self, start: Model) -> dict[str, Any]:
        none_of_pbdl = {"parameters": {}, "lambdas": None, "solver": None}
        return super()._options_to_go_on(start) | {"method": self.method, "candidates": None} | none_of_pbdl

    def _learn(self, *arguments: Any, **more: Any):
        super()._learn(*arguments, **more)
        self.lam_, self.smoothing_ = self.parameters_.get("lam"), self.parameters_.get("smoothing")
        return self
