"""Learn a Bregman divergence from comparisons, pairs, labels or target values.

A divergence is not symmetric: in D(point, reference) the first argument is the point (query, sample), the second the
reference (candidate, centroid).
"""

from bregmax import _blas

with _blas.suitable_kernels():
    from bregmax._core import __version__
from bregmax.cluster import BregmanKMeans
from bregmax.comparison import MethodTable, compare
from bregmax.datasets import load_dataset, read_table
from bregmax.learner import BregmanLearner
from bregmax.methods import (
    Deep,
    DeepComparisonsLearner,
    DeepPairsLearner,
    DeepTargetsLearner,
    Euclidean,
    GBLMNN,
    GMML,
    GMMLPairsLearner,
    ITML,
    ITMLPairsLearner,
    KernelNCA,
    LMNN,
    MLRAUC,
    MahalanobisRegression,
    NCA,
    Smooth,
    SmoothComparisonsLearner,
    SmoothPairsLearner,
    SmoothTargetsLearner,
    Wu2009,
    Wu2009PairsLearner,
    available_methods,
)
from bregmax.model import Model, closed_form_names, rank
from bregmax.neighbors import BregmanKNeighborsClassifier, BregmanKNeighborsRegressor
from bregmax.weakly_supervised import BregmanComparisonsLearner, BregmanPairsLearner, BregmanTargetsLearner

__all__ = [
    "BregmanComparisonsLearner",
    "BregmanKMeans",
    "BregmanKNeighborsClassifier",
    "BregmanKNeighborsRegressor",
    "BregmanLearner",
    "BregmanPairsLearner",
    "BregmanTargetsLearner",
    "Deep",
    "DeepComparisonsLearner",
    "DeepPairsLearner",
    "DeepTargetsLearner",
    "Euclidean",
    "GBLMNN",
    "GMML",
    "GMMLPairsLearner",
    "ITML",
    "ITMLPairsLearner",
    "KernelNCA",
    "LMNN",
    "MLRAUC",
    "MahalanobisRegression",
    "MethodTable",
    "Model",
    "NCA",
    "Smooth",
    "SmoothComparisonsLearner",
    "SmoothPairsLearner",
    "SmoothTargetsLearner",
    "Wu2009",
    "Wu2009PairsLearner",
    "__version__",
    "available_methods",
    "closed_form_names",
    "compare",
    "load_dataset",
    "rank",
    "read_table",
]
