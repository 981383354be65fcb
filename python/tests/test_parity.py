"""The same requests through Python and the program: the same plan, the same model and the same diagnosis.

The program is compared with the library in tests/cli/parity_test.cpp. Each threshold of the plan is passed in both
directions; BREGMAX_TEST_THRESHOLDS lowers them.
"""

import json
import math
import subprocess
import warnings

import numpy as np
import pytest

import bregmax

COUNT = 36


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(4)
    labels = np.arange(COUNT) % 3
    rows = random.normal(size=(COUNT, 3)) * [1, 5, 1] + np.outer(labels, [1, 0, -1])
    items = random.integers(COUNT, size=(40, 3))
    similar = labels[items[:, 0]] == labels[items[:, 1]]
    return rows, np.array([f"k{label}" for label in labels]), items, similar.astype(int), np.arange(40.0) % 5


# Python's parameters, what it learns from, the program's arguments, thresholds.
CASES = {
    "defaults": (dict(), "labels", [], ""),
    "left out": (dict(repeats=1, random_state=2), "labels", ["--repeats", "1", "--seed", "2"], "auto_pbdl_seconds=0"),
    "candidates": (dict(candidates=["smooth", "itml"]), "labels", ["--candidates", "smooth,itml"], ""),
    "drawn": (dict(method="pbdl"), "labels", ["--method", "pbdl"], "all_pairs_rows=35"),
    "one repeat": (
        dict(method="pbdl"), "labels", ["--method", "pbdl"], "three_repeats_rows=10,two_repeats_rows=20",
    ),
    "sampled": (
        dict(method="pbdl"), "labels", ["--method", "pbdl"], "tuning_rows=24,tuning_comparisons=50,all_pairs_rows=10",
    ),
    "few pieces": (dict(method="pbdl"), "labels", ["--method", "pbdl"], "own_pieces_rows=30"),
    "own pieces": (dict(n_pieces="all"), "labels", ["--pieces", "all"], "own_pieces_rows=30"),
    "admm": (dict(lam=10.0), "labels", ["--lambda", "10"], "exact_seconds=0"),
    "admm on folds": (
        dict(lambdas=[10, 100], smoothing=0.0), "labels", ["--lambdas", "10,100", "--smoothing", "0"], "fold_seconds=0",
    ),
    "exact": (dict(lam=10.0, solver="exact"), "labels", ["--lambda", "10", "--solver", "exact"], "exact_seconds=0"),
    "hard": (
        dict(supervision="hard_comparisons", hard_neighbors=2, scale="auto", random_state=5), "labels",
        ["--hard-comparisons", "2", "--scale", "auto", "--seed", "5"], "",
    ),
    "comparisons": (dict(), "comparisons", [], ""),
    "pairs": (dict(folds=4), "pairs", ["--folds", "4"], ""),
    "targets": (dict(), "targets", [], ""),
    "theory": (dict(n_pieces="theory"), "targets", ["--pieces", "theory"], ""),
    "constant": (dict(lam=1e9), "labels", ["--lambda", "1e9"], ""),
    "one piece": (dict(lam=1.0, n_pieces=1), "labels", ["--lambda", "1", "--pieces", "1"], ""),
    "early end": (
        dict(lam=1.0, max_iter=2), "labels", ["--lambda", "1", "--max-iterations", "2", "--keep-partial"], "",
    ),
    "itml": (dict(gamma=[1, 10]), "labels", ["--method", "itml", "--method-parameter", "gamma=1,10"], ""),
    "gmml of pairs": (dict(), "pairs", ["--method", "gmml"], ""),
    "smooth": (dict(decay=[0, 1e-3], repeats=1, steps=100), "labels",
               ["--method", "smooth", "--method-parameter", "decay=0,1e-3", "--method-parameter", "steps=100",
                "--repeats", "1"], ""),
    "smooth of comparisons": (dict(quadratic_rank=2), "comparisons",
                              ["--method", "smooth", "--method-parameter", "rank=2"], ""),
    "smooth of targets": (dict(), "targets", ["--method", "smooth"], ""),
    "deep": (dict(n_pieces=5, steps=100), "labels",
             ["--method", "deep", "--method-parameter", "pieces=5", "--method-parameter", "steps=100"], ""),
    "deep of pairs": (dict(), "pairs", ["--method", "deep"], ""),
}  # fmt: skip

# Names in the program's messages, and in Python's.
WORDS = {"--candidates ": "candidates=", "--max-iterations ": "max_iter=", "--pieces ": "n_pieces=", "--lambdas": "lambdas", "--lambda": "lam"}


def in_python(text):
    for word, here in WORDS.items():
        text = text.replace(word, here)
    return text


def learn(problem, learner, kind):
    rows, labels, items, similar, values = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "labels":
            return learner.fit(rows, labels)
        if kind == "comparisons":
            return learner.fit_comparisons(items, rows)
        if kind == "pairs":
            return learner.fit_pairs(items[:, :2], similar, rows)
        return learner.fit_targets(items[:, :2], values, rows)


def write_files(problem, folder, with_labels):
    """Without labels the program's model has no class names, as Python's."""
    rows, labels, items, similar, values = problem
    with open(folder / "data.csv", "w") as file:
        file.write("x0,x1,x2" + (",class\n" if with_labels else "\n"))
        for row, label in zip(rows, labels):
            file.write(",".join(f"{value:.17g}" for value in row) + (f",{label}\n" if with_labels else "\n"))
    np.savetxt(folder / "comparisons.csv", items[:, [0, 1, 0, 2]], "%d", ",")
    np.savetxt(folder / "pairs.csv", np.column_stack([items[:, :2], similar]), "%d", ",")
    np.savetxt(folder / "targets.csv", np.column_stack([items[:, :2], values]), "%d", ",")


def contents_of(path):
    """Metadata and the bytes of the arrays of a model file (docs/formats.md), but for times, and for the columns of the
    table, which only the program has seen."""
    data = path.read_bytes()
    position = 40 + int.from_bytes(data[32:40], "little")
    metadata = json.loads(data[40:position])
    metadata.pop("columns", None)
    arrays = {}
    for array in metadata.pop("arrays"):
        size = 8 * math.prod(array["shape"])
        if not array["name"].endswith(".seconds") and array["name"] != "columns.fill":
            arrays[array["name"]] = (array["shape"], data[position : position + size])
        position += size
    assert position == len(data)
    return metadata, arrays


@pytest.mark.parametrize("name", CASES)
def test_python_and_program_do_the_same(problem, program, tmp_path, monkeypatch, name):
    parameters, kind, arguments, thresholds = CASES[name]
    if thresholds:
        monkeypatch.setenv("BREGMAX_TEST_THRESHOLDS", thresholds)
    write_files(problem, tmp_path, kind == "labels")
    source = [] if kind == "labels" else [f"--{kind}-file", f"{kind}.csv"]
    command = [program, "fit", "data.csv", "--threads", "1", "--json", "--out", "program.bregmax", *source, *arguments]
    told = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)

    kinds = {"itml": bregmax.ITML, "gmml": bregmax.GMML, "smooth": bregmax.Smooth, "deep": bregmax.Deep}
    learner = learn(problem, kinds.get(name.split(" of ")[0], bregmax.BregmanLearner)(n_jobs=1, **parameters), kind)
    for note, text in enumerate(told["plan"]["notes"]):
        told["plan"]["notes"][note] = in_python(text)
    assert learner.report_["plan"] == told["plan"]
    assert learner.report_["status"] == told["status"]
    for finding in told["diagnosis"]:
        finding["text"] = in_python(finding["text"])
    assert learner.report_["diagnosis"] == told["diagnosis"]
    learner.save(tmp_path / "python.bregmax")
    assert contents_of(tmp_path / "python.bregmax") == contents_of(tmp_path / "program.bregmax")


@pytest.mark.parametrize("kind", ["labels", "comparisons", "pairs", "targets"])
def test_python_and_program_go_on_to_the_same_model(problem, program, tmp_path, kind):
    rows, labels, items, similar, values = problem
    write_files(problem, tmp_path, True)
    source = [] if kind == "labels" else [f"--{kind}-file", f"{kind}.csv"]
    for command in (
        ["--method", "smooth", "--method-parameter", "decay=0.01", "--out", "first.bregmax"],
        ["--start", "first.bregmax", "--out", "program.bregmax", *source],
    ):
        subprocess.run([program, "fit", "data.csv", "--threads", "1", *command], cwd=tmp_path, check=True, capture_output=True)
    learner = bregmax.Smooth(decay=0.01, n_jobs=1).fit(rows, labels)
    going_on = {
        "labels": lambda: learner.partial_fit(rows, labels),
        "comparisons": lambda: learner.partial_fit_comparisons(items, rows),
        "pairs": lambda: learner.partial_fit_pairs(items[:, :2], similar, rows),
        "targets": lambda: learner.partial_fit_targets(items[:, :2], values, rows),
    }
    going_on[kind]().save(tmp_path / "python.bregmax")
    assert contents_of(tmp_path / "python.bregmax") == contents_of(tmp_path / "program.bregmax")


def test_thresholds_change_the_plan(problem, monkeypatch):
    def plan(thresholds):
        monkeypatch.setenv("BREGMAX_TEST_THRESHOLDS", thresholds)
        return learn(problem, bregmax.BregmanLearner(lam=1.0), "labels").report_

    assert plan("all_pairs_rows=36")["plan"]["supervision"] == ["all_pairs"]
    assert plan("all_pairs_rows=35")["plan"]["supervision"] == ["2000 comparisons"]
    assert plan("exact_seconds=600")["solver"] == "exact"
    assert plan("exact_seconds=0")["solver"] == "admm"
    assert plan("own_pieces_rows=36")["plan"]["pieces"] == ["all"]
    assert plan("own_pieces_rows=35")["plan"]["pieces"] == ["20"]
