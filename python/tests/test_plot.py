import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bregmax
import bregmax.plot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def tuned(few):
    return bregmax.BregmanLearner(lambdas=[0.1, 1.0, 10.0]).fit(*few)


def test_every_picture_is_drawn_into_the_axes_it_returns(tuned, few, tmp_path):
    X, y = few
    drawings = [
        lambda **axes: bregmax.plot.generator(tuned, X, (0, 2), resolution=30, **axes),
        lambda **axes: bregmax.plot.divergence_to(tuned, X[3], X, resolution=30, **axes),
        lambda **axes: bregmax.plot.divergence_from(tuned.model_, X[3], X, resolution=30, **axes),
        lambda **axes: bregmax.plot.lambda_path(tuned, **axes),
        lambda **axes: bregmax.plot.asymmetry(tuned, X, y, **axes),
    ]
    for number, draw in enumerate(drawings):
        _, given = plt.subplots()
        assert draw(ax=given) is given
        assert given.has_data()
        new = draw()
        assert new is not given and new.has_data()
        new.figure.savefig(tmp_path / f"{number}.png", dpi=40)


def test_the_asymmetry_map_shows_the_differences(tuned, few):
    X, _ = few
    shown = bregmax.plot.asymmetry(tuned, X).images[0].get_array()
    divergences = tuned.divergence(X)
    np.testing.assert_array_equal(shown, divergences - divergences.T)


def test_the_path_shows_the_best_scores_and_the_choice(tuned):
    ax = bregmax.plot.lambda_path(tuned)
    line = ax.containers[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), [0.1, 1.0, 10.0])
    tuning = tuned.model_.tuning
    column = tuning["measures"].index("average_precision")
    assert max(line.get_ydata()) == np.nanmax(tuning["means"][:, column])
    assert bregmax.plot.lambda_path(tuned, "auc").get_ylabel() == "auc"


def test_the_scores_of_methods_show_every_candidate_and_the_choice(few):
    learner = bregmax.BregmanLearner(candidates=["euclidean", "smooth"], repeats=1).fit(*few)
    ax = bregmax.plot.method_scores(learner)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["euclidean", "smooth"]
    means = learner.model_.tuning["means"][:, learner.model_.tuning["measures"].index("average_precision")]
    shown = np.concatenate([line.get_xdata() for line in ax.get_lines() if line.get_alpha() == 0.6])
    np.testing.assert_array_equal(np.sort(shown), np.sort(means))
    assert bregmax.plot.method_scores(learner, "auc").get_xlabel() == "auc"


def test_nothing_is_marked_where_nothing_was_chosen(tuned, few, monkeypatch):
    methods = bregmax.BregmanLearner(candidates=["euclidean", "smooth"], repeats=1).fit(*few)
    drawings = [(bregmax.plot.lambda_path, tuned), (bregmax.plot.method_scores, methods)]
    marked = [len(draw(learner).get_lines()) for draw, learner in drawings]
    for (draw, learner), with_mark in zip(drawings, marked):
        assert draw(learner).get_legend() is not None
        tuning = learner.model_.tuning | {"chosen": -1}  # as a time limit leaves it
        with monkeypatch.context() as patch:
            patch.setattr(bregmax.Model, "tuning", tuning)
            ax = draw(learner)
        assert ax.get_legend() is None
        assert not [line for line in ax.get_lines() if line.get_color() == "tab:red"]
        assert 0 < len(ax.get_lines()) < with_mark


def test_mistakes(tuned, fitted, few):
    X, _ = few
    with pytest.raises(ValueError, match="lambda was not tuned"):
        bregmax.plot.lambda_path(fitted)
    with pytest.raises(ValueError, match="lambda was not tuned"):
        bregmax.plot.lambda_path(bregmax.ITML(gamma=[1.0, 10.0]).fit(*few))
    with pytest.raises(ValueError, match="measure is 'luck'"):
        bregmax.plot.lambda_path(tuned, "luck")
    with pytest.raises(ValueError, match="nothing was tuned"):
        bregmax.plot.method_scores(fitted)
    with pytest.raises(ValueError, match="features is"):
        bregmax.plot.generator(tuned, X, (0, 7))
    with pytest.raises(ValueError, match="3 features"):
        bregmax.plot.divergence_to(tuned, X[0, :3], X)
    with pytest.raises(ValueError, match="expected a bregmax.Model"):
        bregmax.plot.generator("kl", X)
