"""The generator of `Smooth` and `Deep` as a PyTorch module, and their losses (`pip install bregmax[torch]`).

`BregmanHead` takes the place of the squared Euclidean distance on top of any network, and is trained with it by any
optimiser of PyTorch, on any device. `BregmanHead.to_bregmax` makes a `bregmax.Model` of embedded rows, which the program
and C++ can use, too. This module is imported only on request: ``import bregmax.torch``.
"""

from __future__ import annotations

import math
from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError("bregmax.torch needs PyTorch: pip install bregmax[torch]") from error
from torch import Tensor
from torch.nn import functional

from bregmax.model import Model

__all__ = ["BregmanHead", "comparisons_loss", "labels_loss", "pairs_loss", "targets_loss"]

_BLOCK = 1 << 22  # numbers that `divergence` holds at a time


class BregmanHead(torch.nn.Module):
    """phi(z) = ||G z||^2 + T log sum_k exp((<a_k, z> + b_k) / T) and its Bregman divergence D(point, reference).

    Parameters
    ----------
    in_features : int
        Numbers per row, as the network in front gives them.
    pieces : int
        How many a_k.
    rank : int or None
        Rows of G; 0: phi has no quadratic part; None: as many as `in_features`.
    temperature : float
        T, which is not learned. It is only a scale of a and b, so 1 is as good as any other for learning.
    device, dtype
        Of the parameters, as for the modules of PyTorch.

    Attributes
    ----------
    slopes, offsets, roots : torch.nn.Parameter
        a (pieces x in_features), b (pieces) and G (rank x in_features).
    """

    def __init__(
        self,
        in_features: int,
        pieces: int = 50,
        rank: int | None = None,
        *,
        temperature: float = 1.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        rank = in_features if rank is None else rank
        for name, value, least in (("in_features", in_features, 1), ("pieces", pieces, 1), ("rank", rank, 0)):
            if value < least:
                raise ValueError(f"{name} is {value}; allowed: a whole number >= {least}")
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature is {temperature}; allowed: a finite number > 0")
        self.in_features, self.temperature = in_features, float(temperature)
        made = {"device": device, "dtype": dtype}
        self.slopes = torch.nn.Parameter(torch.empty(pieces, in_features, **made))
        self.offsets = torch.nn.Parameter(torch.empty(pieces, **made))
        self.roots = torch.nn.Parameter(torch.empty(rank, in_features, **made))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Random slopes, and the identity as G.

        The slopes are large: a network starts with small outputs, and pieces that do not tell them apart learn slowly.
        """
        torch.nn.init.normal_(self.slopes, std=2.0)
        torch.nn.init.zeros_(self.offsets)
        if len(self.roots) > 0:
            torch.nn.init.eye_(self.roots)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, pieces={len(self.slopes)}, rank={len(self.roots)}"

    # ---- The generator and its divergence ----

    def phi(self, rows: Tensor) -> Tensor:
        """The generator at each row."""
        self._check(rows, "rows")
        return self.temperature * torch.logsumexp(self._scores(rows), dim=1) + self._project(rows).square().sum(dim=1)

    def forward(self, points: Tensor, references: Tensor | None = None) -> Tensor:
        """The matrix of D(points[i], references[j]) by matrix products: quick, and what the losses are made for.

        Products of large numbers cancel where rows are close, so that small divergences have the rounding of large ones,
        and may be a little below 0. `divergence` has not.
        """
        references = points if references is None else references
        self._check(points, "points")
        self._check(references, "references")
        log_p, log_q = (torch.log_softmax(self._scores(rows), dim=1) for rows in (points, references))
        q = log_q.exp()
        pieces = self.temperature * ((q * log_q).sum(dim=1) - log_p @ q.T)
        center = references.mean(dim=0).detach()
        x, y = self._project(points - center), self._project(references - center)
        return pieces + x.square().sum(dim=1)[:, None] + y.square().sum(dim=1) - 2 * (x @ y.T)

    def divergence(self, points: Tensor, references: Tensor | None = None) -> Tensor:
        """The matrix of D(points[i], references[j]) without cancellation: never below 0, and exactly 0 for equal rows.

        It takes `pieces` exponentials per entry, in blocks of references, and so much longer than `forward`.
        """
        references = points if references is None else references
        self._check(points, "points")
        self._check(references, "references")
        block = max(1, _BLOCK // max(1, len(points) * max(len(self.slopes), self.in_features)))
        columns = [self._exact(points[:, None], part[None]) for part in references.split(block)]
        return torch.cat(columns, dim=1)

    def rowwise(self, points: Tensor, references: Tensor) -> Tensor:
        """D(points[i], references[i]), without cancellation: for the losses of comparisons, pairs and targets."""
        self._check(points, "points")
        self._check(references, "references")
        if len(points) != len(references):
            raise ValueError(f"there are {len(points)} points and {len(references)} references; expected equally many")
        return self._exact(points, references)

    def price(self) -> Tensor:
        """What `decay` of `Smooth` and `Deep` is the price on: it keeps D close to a Euclidean distance."""
        centred = self.slopes - self.slopes.mean(dim=0)
        scaled = 0.0
        if len(self.roots) == self.in_features:
            identity = torch.eye(self.in_features, device=self.roots.device, dtype=self.roots.dtype)
            scaled = self.roots.diagonal().mean() * identity
        return (self.roots - scaled).square().sum() + 0.1 * centred.square().sum()

    # ---- Models ----

    def to_bregmax(self) -> Model:
        """A `bregmax.Model` of embedded rows, with no scaling, in double precision."""
        slopes, offsets, roots = (
            parameter.detach().cpu().double().numpy() for parameter in (self.slopes, self.offsets, self.roots)
        )
        return Model.log_sum_exp_quadratic(slopes, offsets, self.temperature, roots)

    @classmethod
    def from_bregmax(cls, model: Any, *, device: Any = None, dtype: torch.dtype | None = None) -> BregmanHead:
        """A head with the divergence of a model, or of a fitted learner, on raw rows: its scaling becomes part of the
        parameters.

        Only for models of the kind log_sum_exp_quadratic, as `Smooth` learns them. Where the model scales features, phi
        differs from the model's by an affine function, which does not change D.
        """
        model = getattr(model, "model_", model)
        if model.name != "log_sum_exp_quadratic":
            raise ValueError(f"a model of the kind {model.name} is no BregmanHead; allowed: log_sum_exp_quadratic")
        slopes, roots = model.slopes / model.scale, model.roots / model.scale
        offsets = model.offsets - slopes @ model.center
        head = cls(
            model.n_features, len(slopes), len(roots), temperature=model.temperature, device=device, dtype=dtype
        )
        with torch.no_grad():
            for parameter, values in ((head.slopes, slopes), (head.offsets, offsets), (head.roots, roots)):
                parameter.copy_(torch.as_tensor(values))
        return head

    # ---- Parts ----

    def _check(self, rows: Tensor, name: str) -> None:
        if rows.ndim != 2 or rows.shape[1] != self.in_features:
            raise ValueError(f"{name} has the shape {tuple(rows.shape)}; expected (rows, {self.in_features})")

    def _scores(self, rows: Tensor) -> Tensor:
        return (rows @ self.slopes.T + self.offsets) / self.temperature

    def _project(self, rows: Tensor) -> Tensor:
        return rows @ self.roots.T

    def _exact(self, points: Tensor, references: Tensor) -> Tensor:
        log_p, log_q = (torch.log_softmax(self._scores(rows), dim=-1) for rows in (points, references))
        pieces = _divergence_terms(log_p, log_q).sum(dim=-1)
        return self.temperature * pieces + self._project(points - references).square().sum(dim=-1)


def _divergence_terms(log_p: Tensor, log_q: Tensor) -> Tensor:
    """q log(q / p) - q + p of each piece: at least 0, with the sum KL(q || p), as p and q both sum to 1."""
    difference = log_q - log_p
    near = difference.abs() < 0.3
    t = torch.where(near, -difference, torch.zeros_like(difference))
    series = torch.ones_like(t)  # exp(t) - 1 - t is t^2 / 2 times this
    for n in range(14, 2, -1):
        series = 1 + t / n * series
    q = log_q.exp()
    return torch.where(near, q * t * t / 2 * series, q * difference - q + log_p.exp())


def labels_loss(divergences: Tensor, labels: Tensor, neighbour_share: float = 0.0) -> Tensor:
    """The loss of labelled rows: rows of the same class shall be nearer than others.

    With p_ij the softmax over j != i of -D(i, j), row i costs the mean of -log p_ij over the other rows j of its class.

    Parameters
    ----------
    divergences : Tensor of shape (n, n)
        D(i, j) of a batch, as ``head(rows)`` gives it; the diagonal plays no part.
    labels : Tensor of shape (n,)
    neighbour_share : float from 0 to 1
        The weight of -log sum_j p_ij, for which one near row is enough, as for k nearest neighbours.

    Returns
    -------
    Tensor
        The mean over the rows that have others of their class; 0 if there are none.
    """
    count = len(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels has the shape {tuple(labels.shape)}; expected a vector")
    if divergences.shape != (count, count):
        raise ValueError(f"divergences has the shape {tuple(divergences.shape)}; expected ({count}, {count}), as for labels")
    if not 0 <= neighbour_share <= 1:
        raise ValueError(f"neighbour_share is {neighbour_share}; allowed: a number from 0 to 1")
    itself = torch.eye(count, dtype=torch.bool, device=divergences.device)
    same = (labels[:, None] == labels[None, :]) & ~itself
    others = same.sum(dim=1)
    found = others > 0
    if not found.any():
        return divergences.sum() * 0.0
    logits = (-divergences).masked_fill(itself, -torch.inf)[found]
    same, others = same[found], others[found]
    log_p = logits - torch.logsumexp(logits, dim=1, keepdim=True)
    loss = divergences.new_zeros(len(logits))
    if neighbour_share < 1:
        loss = loss - (1 - neighbour_share) * log_p.masked_fill(~same, 0.0).sum(dim=1) / others
    if neighbour_share > 0:
        loss = loss - neighbour_share * torch.logsumexp(log_p.masked_fill(~same, -torch.inf), dim=1)
    return loss.mean()


def comparisons_loss(nearer: Tensor, farther: Tensor, weight: Tensor | None = None) -> Tensor:
    """The mean of log(1 + exp(D(i, j) - D(k, l))) over comparisons D(i, j) <= D(k, l).

    Parameters
    ----------
    nearer, farther : Tensor of shape (m,)
        D(i, j) and D(k, l), for example by `BregmanHead.rowwise`.
    weight : Tensor of shape (m,) or None
        Of each comparison; only their ratios matter.
    """
    _check_items(nearer=nearer, farther=farther, weight=weight)
    return _mean(functional.softplus(nearer - farther), weight)


def pairs_loss(
    divergences: Tensor, similar: Tensor, threshold: Tensor | float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """log(1 + exp(D - t)) of similar and log(1 + exp(t - D)) of dissimilar pairs, both kinds with the same total weight.

    Parameters
    ----------
    divergences : Tensor of shape (m,)
        D(point, reference) of each pair.
    similar : Tensor of shape (m,)
        True (1), or False (0 or -1).
    threshold : Tensor or float
        t, between similar and dissimilar pairs; a parameter where it is to be learned.
    weight : Tensor of shape (m,) or None
        Of each pair; only their ratios within a kind matter.
    """
    _check_items(divergences=divergences, similar=similar, weight=weight)
    similar = similar > 0
    weight = torch.ones_like(divergences) if weight is None else weight.to(divergences)
    of_similar, of_dissimilar = weight[similar].sum(), weight[~similar].sum()
    if of_similar > 0 and of_dissimilar > 0:
        weight = weight / torch.where(similar, of_similar, of_dissimilar)
    excess = divergences - threshold
    return _mean(functional.softplus(torch.where(similar, excess, -excess)), weight)


def targets_loss(divergences: Tensor, values: Tensor, weight: Tensor | None = None) -> Tensor:
    """The mean of (D - value)^2, in units of the mean square of the values.

    Parameters
    ----------
    divergences, values : Tensor of shape (m,)
        D(point, reference) of each pair, and what it should be.
    weight : Tensor of shape (m,) or None
        Of each pair; only their ratios matter.
    """
    _check_items(divergences=divergences, values=values, weight=weight)
    values = values.to(divergences)
    unit = _mean(values.square(), weight)
    return _mean((divergences - values).square(), weight) / torch.where(unit > 0, unit, torch.ones_like(unit))


def _check_items(**tensors: Tensor | None) -> None:
    """All must be vectors of one length: shapes that differ would be broadcast to a matrix without a word."""
    first, count = next((name, tensor.shape) for name, tensor in tensors.items() if tensor is not None)
    for name, tensor in tensors.items():
        if tensor is not None and (tensor.ndim != 1 or tensor.shape != count):
            raise ValueError(f"{name} has the shape {tuple(tensor.shape)}; expected a vector, as long as {first}")


def _mean(losses: Tensor, weight: Tensor | None) -> Tensor:
    """0 where there is nothing, or nothing with a weight, so that such a batch does not make a network NaN."""
    weight = torch.ones_like(losses) if weight is None else weight.to(losses)
    total = weight.sum()
    return (weight * losses).sum() / torch.where(total > 0, total, torch.ones_like(total))
