import subprocess

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import bregmax


def test_centroids_are_means_and_rows_are_at_their_nearest(few, fitted):
    X, y = few
    clusters = bregmax.BregmanKMeans(3, divergence=fitted.model_).fit(X)
    for cluster in range(3):
        np.testing.assert_allclose(clusters.cluster_centers_[cluster], X[clusters.labels_ == cluster].mean(axis=0))
    divergences = clusters.divergences(X)
    np.testing.assert_array_equal(clusters.predict(X), clusters.labels_)
    assert clusters.inertia_ == pytest.approx(divergences.min(axis=1).sum(), abs=1e-10)
    assert adjusted_rand_score(y, clusters.labels_) > 0.8


def test_same_clusters_as_the_program(fitted, program, tmp_path, iris):
    fitted.save(tmp_path / "model.bregmax")
    out = tmp_path / "clusters.csv"
    subprocess.run(
        [program, "cluster", tmp_path / "model.bregmax", "builtin:iris", "-k", "3", "--out", out],
        check=True, capture_output=True,
    )
    of_program = np.loadtxt(out, delimiter=",", skiprows=1, usecols=1)  # row,cluster,label
    ours = bregmax.BregmanKMeans(3, divergence=fitted.model_).fit(iris.data)
    assert adjusted_rand_score(of_program, ours.labels_) == 1


def test_restarts_reproduce(few):
    X, _ = few
    one = bregmax.BregmanKMeans(4, random_state=7).fit(X)
    two = bregmax.BregmanKMeans(4, random_state=7, n_jobs=1).fit(X)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_a_learner_needs_labels(few):
    X, y = few
    learner = bregmax.BregmanLearner(1.0)
    assert bregmax.BregmanKMeans(3, divergence=learner).fit(X, y).model_.name == "max_affine"
    with pytest.raises(ValueError, match="needs labels y"):
        bregmax.BregmanKMeans(3, divergence=learner).fit(X)


def test_mistakes_and_limits(few):
    X, _ = few
    with pytest.raises(ValueError, match="n_clusters is 31"):
        bregmax.BregmanKMeans(31).fit(X)
    with pytest.raises(ValueError, match="start is 'far'"):
        bregmax.BregmanKMeans(3, start="far").fit(X)
    spread = np.random.default_rng(0).normal(size=(2000, 5))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        bregmax.BregmanKMeans(20, max_iter=1, n_init=1, start="divergence").fit(spread)
