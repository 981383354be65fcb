"""The estimators inside scikit-learn's tools, and scikit-learn's estimators with our divergences."""

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bregmax


def test_pipeline(iris):
    X, y = iris.data[::2], iris.target[::2]
    pipeline = make_pipeline(
        StandardScaler(),
        bregmax.BregmanKNeighborsClassifier(3, divergence=bregmax.BregmanLearner(1.0, n_pieces=10)),
    )
    assert pipeline.fit(X, y).score(iris.data[1::2], iris.target[1::2]) > 0.9
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85


def test_pipeline_that_ends_in_the_learner(few):
    X, y = few
    pipeline = make_pipeline(StandardScaler(), bregmax.BregmanLearner(1.0)).fit(X, y)
    assert pipeline.score(X, y) > 0.9


def test_grid_search_reaches_into_the_learner(few):
    X, y = few
    search = GridSearchCV(
        bregmax.BregmanKNeighborsClassifier(divergence=bregmax.BregmanLearner(n_jobs=1)),
        {"n_neighbors": [1, 3], "divergence__lam": [0.1, 10.0]},
        cv=3,
        n_jobs=2,
    ).fit(X, y)
    assert set(search.best_params_) == {"n_neighbors", "divergence__lam"}
    assert search.best_score_ > 0.8


def test_grid_search_of_the_learner_itself(few):
    X, y = few
    folds = StratifiedKFold(3)  # the rows are sorted by class, and a fold of one class has no score
    search = GridSearchCV(bregmax.BregmanLearner(), {"lam": [1e3, 1.0]}, cv=folds).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["lam"] == 1.0


def test_a_prefitted_model_survives_cloning(few, fitted):
    X, y = few
    classifier = bregmax.BregmanKNeighborsClassifier(3, divergence=fitted.model_)
    assert cross_val_score(classifier, X, y, cv=3).min() > 0.8


def test_kneighbors_of_scikit_learn_with_our_metric(few, fitted):
    X, y = few
    classifier = KNeighborsClassifier(3, metric=fitted.get_metric(), algorithm="brute").fit(X, y)
    assert classifier.score(X, y) > 0.9
    assert np.isfinite(classifier.kneighbors(X + 0.1)[0]).all()
