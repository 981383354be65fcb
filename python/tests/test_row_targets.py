"""Learning from a number per row."""

import json
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bregmax


@pytest.fixture
def houses():
    """The number depends on the first of eight features alone."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 8))
    return X, 1000 + 50 * np.sin(X[:, 0])


def smooth(**more):
    return bregmax.BregmanLearner(method="smooth", repeats=1, **more)


def test_a_regressor_learns_the_divergence_and_predicts(houses):
    X, y = houses
    learned = bregmax.BregmanKNeighborsRegressor(divergence=smooth()).fit(X[::2], y[::2])
    plain = bregmax.BregmanKNeighborsRegressor().fit(X[::2], y[::2])
    assert learned.score(X[1::2], y[1::2]) > plain.score(X[1::2], y[1::2]) + 0.2
    assert learned.model_.record["supervision"] == "targets"
    assert learned.model_.record["drawn"] == "target_differences"
    again = bregmax.BregmanKNeighborsRegressor(divergence=smooth().fit_row_targets(X[::2], y[::2]).model_)
    np.testing.assert_array_equal(again.fit(X[::2], y[::2]).predict(X[1::2]), learned.predict(X[1::2]))


def test_the_choice_is_by_r2(houses):
    X, y = houses
    learner = bregmax.BregmanLearner(candidates=["smooth", "euclidean"], repeats=1).fit_row_targets(X, y)
    assert learner.method_ == "smooth"
    assert {score["measure"] for score in learner.scores_} == {"r2"}
    assert {score["method"] for score in learner.scores_} == {"smooth", "euclidean"}
    assert learner.report_["plan"]["target_pairs"] == ["2000"]
    assert learner.report_["plan"]["repeats"] == ["1"]
    assert not hasattr(learner, "classes_")


def test_goes_with_pipelines_and_searches(houses):
    X, y = houses
    regressor = bregmax.BregmanKNeighborsRegressor(divergence="squared_euclidean")
    search = GridSearchCV(regressor, {"divergence": ["squared_euclidean", smooth()], "n_neighbors": [5]}, cv=2)
    assert not isinstance(search.fit(X, y).best_params_["divergence"], str)
    diabetes = load_diabetes()
    model = make_pipeline(StandardScaler(), bregmax.BregmanKNeighborsRegressor(10, divergence=smooth()))
    assert cross_val_score(model, diabetes.data, diabetes.target, cv=3).mean() > 0.4


def test_the_program_and_python_learn_the_same(houses, tmp_path, program):
    X, y = houses
    table = np.column_stack([X, y])
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", fmt="%.17g")
    options = ["--target", "8", "--method", "smooth", "--repeats", "1", "--threads", "1", "--out", "m.bregmax"]
    subprocess.run([program, "fit", "t.csv", *options], cwd=tmp_path, check=True, capture_output=True)
    ours = smooth(n_jobs=1).fit_row_targets(X, y)
    theirs = bregmax.Model.load(tmp_path / "m.bregmax")
    np.testing.assert_array_equal(ours.divergence(X), theirs.divergence(X))
    ours.save(tmp_path / "ours.bregmax")
    arguments = ["--train", "t.csv", "--queries", "t.csv", "--target", "8", "--json"]
    predict = [program, "predict", "ours.bregmax", *arguments]
    predicted = json.loads(subprocess.run(predict, cwd=tmp_path, check=True, capture_output=True).stdout)
    regressor = bregmax.BregmanKNeighborsRegressor(divergence=ours.model_).fit(X, y)
    np.testing.assert_allclose(predicted["predicted"], regressor.predict(X), rtol=1e-12)


def test_mistakes(houses):
    X, y = houses
    with pytest.raises(ValueError, match="y: all 200 numbers are 3"):
        smooth().fit_row_targets(X, np.full(len(X), 3.0))
    with pytest.raises(ValueError, match="NCA cannot learn from numbers; BregmanLearner can"):
        bregmax.BregmanKNeighborsRegressor(divergence=bregmax.NCA()).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        smooth().fit_row_targets(X, y[:-1])
    learner = smooth().fit_row_targets(X, y)
    with pytest.raises(ValueError, match="NaN"):
        learner.fit_row_targets(X, np.where(y > 1040, np.nan, y))
    assert learner.model_.record["drawn"] == "target_differences", "a failed fit changes nothing"
