"""The table of methods."""

import json
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

import bregmax


@pytest.fixture(scope="module")
def iris():
    data = bregmax.load_dataset("iris")
    return data.data, data.target


@pytest.fixture(scope="module")
def table(iris):
    return bregmax.compare(*iris, methods=["gmml", "itml"])


def test_table(table):
    assert table.complete
    assert table.methods == ["euclidean", "itml", "gmml"]
    assert table.measures == ["rand_index", "purity", "auc", "average_precision", "knn"]
    scores = table.fold_scores("gmml", "auc")
    assert scores.shape == (5,)
    assert table.mean("gmml", "auc") == pytest.approx(scores.mean())
    assert table.standard_error("gmml", "auc") == pytest.approx(scores.std(ddof=1) / np.sqrt(5))
    means = {method: table.mean(method, "auc") for method in table.methods}
    assert table.winners["auc"] == max(means, key=means.get) != "euclidean"
    assert table.winners["auc"] in table.as_good("auc")
    assert "euclidean" not in table.as_good("auc")
    assert "no choice has seen the rows" in str(table)
    assert repr(table) == "<MethodTable of euclidean, itml, gmml on 5 folds>"
    with pytest.raises(KeyError, match="'lmnn' was not compared"):
        table.mean("lmnn", "auc")
    with pytest.raises(KeyError, match="no measure 'loss'"):
        table.mean("gmml", "loss")


def test_the_program_prints_the_same(table, program):
    told = json.loads(
        subprocess.run(
            [program, "compare", "builtin:iris", "--methods", "gmml,itml", "--json"], check=True, capture_output=True
        ).stdout
    )
    for row, same in zip(table.report["methods"], told["methods"]):
        assert row["scores"] == same["scores"]
        assert row["settings"] == same["settings"]


def test_frame(table):
    pytest.importorskip("pandas")
    frame = table.to_frame()
    assert list(frame.index) == table.methods
    assert frame.loc["gmml", ("auc", "mean")] == table.mean("gmml", "auc")
    assert (frame["seconds"] >= 0).all().all()


def test_picture(table):
    matplotlib.use("Agg")
    ax = table.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == table.methods
    assert ax.get_xlabel() == "average precision"
    assert table.plot("auc", ax=ax).get_xlabel() == "auc"
    with pytest.raises(KeyError, match="there is no measure 'luck'; there are rand_index"):
        table.plot("luck")
    matplotlib.pyplot.close("all")


def test_picture_without_matplotlib(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install bregmax\[plot\]"):
        table.plot()


def test_tables_can_be_members_of_sets(table):
    assert len({table, table}) == 1


def test_goes_on_after_what_is_finished(iris, tmp_path):
    out = tmp_path / "runs.csv"
    first = bregmax.compare(*iris, methods=["gmml"], folds=3, out=out)
    again = bregmax.compare(*iris, methods=["gmml", "itml"], folds=3, out=out)
    assert (first.report["runs_from_file"], again.report["runs_from_file"]) == (0, 6)
    assert np.array_equal(again.fold_scores("gmml", "auc"), first.fold_scores("gmml", "auc"))
    with pytest.raises(ValueError, match="holds something else"):
        bregmax.compare(*iris, methods=["gmml"], folds=4, out=out)


def test_time_limit(iris):
    table = bregmax.compare(*iris, methods=["gmml"], time_limit=1e-9)
    assert not table.complete
    assert np.isnan(table.mean("gmml", "auc"))
    assert table.winners["auc"] is None


def test_other_supervision():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    items = random.integers(40, size=(200, 3))
    distance = ((X[items[:, :1]] - X[items[:, 1:]]) ** 2 @ [4.0, 0.1, 0.01])
    pairs = bregmax.compare(X, pairs=(items[:, :2], (distance[:, 0] < 3).astype(int)), methods=["itml"])
    assert pairs.measures == ["agreement"]
    assert pairs.winners == {"agreement": "itml"}
    rows = bregmax.compare(pairs=(X[items[:, :2]], np.where(distance[:, 0] < 3, 1, -1)), methods=["itml"])
    assert rows.winners == {"agreement": "itml"}
    targets = bregmax.compare(X, targets=(items[:, :2], distance[:, 0]), methods=["mahalanobis"])
    assert targets.winners == {"loss": "mahalanobis"}
    nearer = distance[:, 0] < distance[:, 1]
    triplets = np.where(nearer[:, None], items, items[:, [0, 2, 1]])
    assert bregmax.compare(X, comparisons=triplets, methods=["euclidean"]).measures == ["agreement"]


def test_mistakes(iris):
    X, y = iris
    with pytest.raises(ValueError, match="methods has 'smoth'; allowed: all, auto, euclidean, smooth"):
        bregmax.compare(X, y, methods=["smoth"])
    with pytest.raises(ValueError, match=r"methods is \[\]"):
        bregmax.compare(X, y, methods=[])
    with pytest.raises(ValueError, match="mahalanobis, which cannot learn from labels"):
        bregmax.compare(X, y, methods=["mahalanobis"])
    with pytest.raises(ValueError, match="exactly one of y, comparisons, pairs and targets is needed; found none"):
        bregmax.compare(X)
    with pytest.raises(ValueError, match="found y, pairs"):
        bregmax.compare(X, y, pairs=([(0, 1)], [1]))
    with pytest.raises(ValueError, match="pairs must be two arrays"):
        bregmax.compare(X, pairs=[(0, 1)])
    with pytest.raises(ValueError, match="y: cross-validation needs two classes or more"):
        bregmax.compare(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="folds is 151; allowed: 2 to 150"):
        bregmax.compare(X, y, folds=151)
    with pytest.raises(ValueError, match="folds is 1; allowed: 2 or more"):
        bregmax.compare(X, y, folds=1)
    for rows in (0, -1):
        with pytest.raises(ValueError, match=f"max_rows is {rows}; allowed: 1 or more, or None for all"):
            bregmax.compare(X, y, max_rows=rows)
    for name in ("max_rows", "folds", "repeats"):
        with pytest.raises(ValueError, match=f"{name} is 20.5; allowed: a whole number"):
            bregmax.compare(X, y, **{name: 20.5})
