"""Items that name rows by labels of a data frame's index, triplets, and directions of pairs."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import bregmax

pandas = pytest.importorskip("pandas")

CUPS = np.array([[9.1, 8, 310], [9.4, 8.2, 325], [14.8, 8.1, 420], [15.2, 7.9, 433], [6.1, 5, 120], [5.9, 5.2, 131]])
NAMES = ["blue", "white", "pilsner", "stout", "lungo", "corto"]
PAIRS = np.array([(0, 1), (2, 3), (4, 5), (0, 2), (2, 4), (4, 0)])
SIMILAR = np.array([1, 1, 1, -1, -1, -1])
TRIPLETS = np.array([(0, 1, 2), (2, 3, 4), (4, 5, 0)])


def names_of(numbers):
    return [tuple(NAMES[number] for number in item) for item in numbers]


@pytest.fixture
def cups():
    return pandas.DataFrame(CUPS, index=NAMES, columns=["height", "width", "weight"])


def learner():
    return bregmax.BregmanLearner(0.1)


def test_items_are_given_by_labels_of_the_index(cups):
    values = [0.1, 0.2, 0.1, 2, 3, 2]
    for by_name, by_number in [
        (learner().fit_pairs(names_of(PAIRS), SIMILAR, cups), learner().fit_pairs(PAIRS, SIMILAR, CUPS)),
        (learner().fit_comparisons(names_of(TRIPLETS), cups), learner().fit_comparisons(TRIPLETS, CUPS)),
        (learner().fit_targets(names_of(PAIRS), values, cups), learner().fit_targets(PAIRS, values, CUPS)),
        (
            bregmax.Smooth().fit_comparisons(pandas.DataFrame(names_of(TRIPLETS)), cups),
            bregmax.Smooth().fit_comparisons(TRIPLETS, CUPS),
        ),
        (bregmax.ITML().fit_pairs(names_of(PAIRS), SIMILAR, cups), bregmax.ITML().fit_pairs(PAIRS, SIMILAR, CUPS)),
    ]:
        np.testing.assert_array_equal(by_name.divergence(cups), by_number.divergence(CUPS))


def test_triplets_are_comparisons_of_one_anchor():
    three = learner().fit_comparisons(TRIPLETS, CUPS)
    four = learner().fit_comparisons(TRIPLETS[:, [0, 1, 0, 2]], CUPS)
    np.testing.assert_array_equal(three.divergence(CUPS), four.divergence(CUPS))


def test_numbers_are_row_numbers_where_none_is_a_label(cups):
    expected = learner().fit_pairs(PAIRS, SIMILAR, CUPS).divergence(CUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(learner().fit_pairs(PAIRS, SIMILAR, cups).divergence(cups), expected)
        plain = pandas.DataFrame(CUPS, columns=cups.columns)
        np.testing.assert_array_equal(learner().fit_pairs(PAIRS, SIMILAR, plain).divergence(plain), expected)


def test_numbers_that_are_labels_are_taken_as_labels(cups):
    expected = learner().fit_pairs(PAIRS, SIMILAR, CUPS).divergence(CUPS)
    numbered = cups.set_axis([10, 20, 0, 1, 2, 3])
    labels = numbered.index.to_numpy()[PAIRS]
    with pytest.warns(UserWarning, match="labels of the index of X, which are not its row numbers; X.reset_index"):
        found = learner().fit_pairs(labels, SIMILAR, numbered)
    np.testing.assert_array_equal(found.divergence(numbered), expected)


def test_unknown_labels(cups):
    bad = names_of(TRIPLETS)
    bad[1] = ("pilsner", "stuot", "lungo")
    with pytest.raises(ValueError, match="comparisons has 'stuot' in item 1, which is not in the index of X; did you mean 'stout'"):
        learner().fit_comparisons(bad, cups)
    with pytest.raises(ValueError, match="pairs has 'tea' in item 0, which is not in the index of X$"):
        learner().fit_pairs([("tea", "blue")], [1], cups)
    with pytest.raises(ValueError, match="pairs has 7 in item 0, which is not in the index of X"):
        learner().fit_pairs([("blue", "white"), (7, "blue")][::-1], [1, -1], cups)
    with pytest.raises(ValueError, match="row numbers, which must be whole, or labels of the index of a data frame X"):
        learner().fit_pairs(names_of(PAIRS), SIMILAR, CUPS)


def test_pairs_count_in_both_directions_unless_they_are_directed():
    both = learner().fit_pairs(PAIRS, SIMILAR, CUPS)
    D = both.divergence(CUPS)
    assert min(D[0, 2], D[2, 0], D[2, 4], D[4, 2], D[4, 0], D[0, 4]) > 1.999
    assert both.report_["directed"] is False and both.report_["items"] == 6
    one_way = learner().fit_pairs(PAIRS, SIMILAR, CUPS, directed=True)
    assert one_way.divergence(CUPS)[2, 0] < 1.9
    assert one_way.report_["directed"] is True
    listed = learner().fit_pairs(
        np.stack([PAIRS, PAIRS[:, ::-1]], axis=1).reshape(-1, 2),
        np.repeat(SIMILAR, 2),
        CUPS,
        sample_weight=np.full(12, 0.5),
        directed=True,
    )
    np.testing.assert_array_equal(listed.divergence(CUPS), D)
    assert learner().fit(CUPS, [0, 0, 1, 1, 2, 2]).report_["directed"] is None
    with pytest.raises(ValueError, match="directed is 'yes'; allowed: True or False"):
        learner().fit_pairs(PAIRS, SIMILAR, CUPS, directed="yes")


def test_scores_of_pairs_follow_their_directions(few):
    X, _ = few
    rng = np.random.default_rng(1)
    pairs = rng.integers(len(X), size=(60, 2))
    similar = np.where(rng.random(60) < 0.5, 1, -1)  # by chance, so that no model tells all of them apart
    judge = bregmax.BregmanPairsLearner(1.0, preprocessor=X)

    def auc(*directions):
        scores = np.concatenate([-judge.pair_distance(direction) for direction in directions])
        return pytest.approx(roc_auc_score(np.tile(similar, len(directions)), scores), abs=1e-12)

    assert judge.fit(pairs, similar, directed=True).score(pairs, similar) == auc(pairs)
    judge.fit(pairs, similar)
    assert judge.score(pairs, similar) == judge.score(pairs[:, ::-1], similar) == auc(pairs, pairs[:, ::-1])
    assert judge.score(pairs, similar) != auc(pairs)
    smooth = bregmax.SmoothPairsLearner(preprocessor=X).fit(pairs, similar, directed=True)
    assert smooth.report_["directed"] is True
    assert smooth.partial_fit(pairs, similar).report_["directed"] is False


def test_compare_knows_names_and_directions(cups):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(20, 2)), index=[f"row {i}" for i in range(20)])
    items = rng.integers(20, size=(60, 2))
    similar = (np.abs(X.to_numpy()[items[:, 0], 0] - X.to_numpy()[items[:, 1], 0]) < 0.8).astype(int)
    names = X.index.to_numpy()[items]
    by_name = bregmax.compare(X, pairs=(names, similar), methods=["gmml"])
    by_number = bregmax.compare(X.to_numpy(), pairs=(items, similar), methods=["gmml"])
    assert by_name.mean("gmml", "agreement") == by_number.mean("gmml", "agreement")
    directed = bregmax.compare(X, pairs=(names, similar), methods=["euclidean"], directed=True)
    assert directed.mean("euclidean", "agreement") == pytest.approx(by_name.mean("euclidean", "agreement"), abs=1e-12)
