"""scikit-learn's own checks of everything that learns from a table."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import bregmax

# Of `BregmanLearner` the method, not the class, says whether rows may have weights; pbdl refuses them by name. The check
# that a row of weight 2 is the row twice passes for all others, since it looks at predictions only, which learners have
# none of; it does not hold (test_sample_weight.py).
REFUSED_BY_PBDL = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
)


def expected_failures(estimator):
    of_pbdl = isinstance(estimator, bregmax.BregmanLearner) and (estimator.method == "pbdl" or estimator.lam is not None)
    return dict.fromkeys(REFUSED_BY_PBDL, "pbdl does not weigh rows") if of_pbdl else {}


@parametrize_with_checks(
    [
        bregmax.BregmanLearner(method="pbdl"),
        bregmax.BregmanLearner(method="smooth"),
        bregmax.BregmanLearner(candidates=["smooth", "euclidean"], repeats=1),
        bregmax.BregmanLearner(1.0),
        bregmax.BregmanLearner(1.0, n_pieces=5, supervision="comparisons", smoothing=0.5),
        bregmax.BregmanKMeans(),
        bregmax.BregmanKNeighborsClassifier(divergence="squared_euclidean"),
        bregmax.BregmanKNeighborsClassifier(divergence=bregmax.BregmanLearner(1.0)),
        bregmax.BregmanKNeighborsRegressor(),
        bregmax.BregmanKNeighborsRegressor(divergence=bregmax.BregmanLearner(candidates=["smooth", "euclidean"], repeats=1)),
        bregmax.Smooth(n_pieces=8, steps=50),
        bregmax.Deep(hidden_layers=1, width=16, outputs=4, n_pieces=8, steps=50),
        bregmax.Euclidean(),
        bregmax.GMML(repeats=1),
        bregmax.ITML(gamma=1.0),
        bregmax.GMML(t=0.5),
        bregmax.MLRAUC(c=100.0),
        bregmax.Wu2009(kernel="square", c=1.0),
        bregmax.LMNN(n_neighbors=3, push=0.5),
        bregmax.GBLMNN(n_neighbors=3, push=0.5, n_trees=10, depth=3),
        bregmax.NCA(form="full"),
        bregmax.KernelNCA(kernel="rbf", bandwidth=4.0),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:the learned divergence is constant")
@pytest.mark.filterwarnings("ignore:not optimal")
@pytest.mark.filterwarnings("ignore:on held-out data nothing")
def test_estimator(estimator, check):
    check(estimator)
