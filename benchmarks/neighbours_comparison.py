#!/usr/bin/env python3
"""Runs NCA and LMNN of scikit-learn and metric-learn and of bregmax from the same start, and prints the ratios.

The start is the identity, the features are not scaled, all rows are learned from, and both sides use one thread.
Objectives are computed here, from the matrix that each side returns:

    NCA    the expected number of rows whose neighbour has their class (larger is better)
    LMNN   0.5 * pull + 0.5 * push with 3 target neighbours, over all triplets (smaller is better)

Times are processor times: of fit() for the references; for bregmax until the objective is as good as theirs within 1e-3
(the ratio) and until it has converged. The best of --repeats runs counts on both sides.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import itertools
import json
import math
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATASETS = ("iris", "wine", "balance-scale", "ionosphere")


def load_dataset(name):
    if name == "balance-scale":
        rows = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
        torque = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
        return rows, np.sign(torque).astype(int)
    with open(ROOT / "data" / f"{name}.csv", newline="") as file:
        lines = [line for line in csv.reader(file) if line]
    try:
        float(lines[0][0])
    except ValueError:
        lines = lines[1:]
    rows = np.array([[float(v) for v in line[:-1]] for line in lines])
    return rows, np.unique([line[-1] for line in lines], return_inverse=True)[1]


def distances_by(metric, rows):
    values, vectors = np.linalg.eigh(metric)
    embedded = (rows - rows.mean(axis=0)) @ vectors * np.sqrt(np.maximum(values, 0))
    return np.array([((embedded - row) ** 2).sum(axis=1) for row in embedded])


def nca_objective(metric, rows, labels):
    distances = distances_by(metric, rows)
    np.fill_diagonal(distances, np.inf)
    chances = np.exp(distances.min(axis=1, keepdims=True) - distances)
    return float(((chances * (labels[:, None] == labels)).sum(axis=1) / chances.sum(axis=1)).sum())


def lmnn_objective(metric, rows, labels, neighbours=3):
    distances = distances_by(metric, rows)
    plain = distances_by(np.eye(rows.shape[1]), rows)
    total = 0.0
    for i, label in enumerate(labels):
        same = np.flatnonzero(labels == label)
        same = same[same != i]
        targets = distances[i, same[np.argsort(plain[i, same], kind="stable")[:neighbours]]]
        others = distances[i, labels != label]
        total += 0.5 * targets.sum() + 0.5 * np.maximum(0, 1 + targets[:, None] - others).sum()
    return float(total)


def reference(method, library, rows, labels):
    """The learned matrix and the processor seconds of fit()."""
    from metric_learn import LMNN, NCA
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    learners = {
        ("nca", "scikit-learn"): lambda: NeighborhoodComponentsAnalysis(init="identity"),
        ("nca", "metric-learn"): lambda: NCA(init="identity"),
        ("lmnn", "metric-learn"): lambda: LMNN(init="identity"),
    }
    learner = learners[method, library]()
    begin = time.process_time()
    learner.fit(rows, labels)
    seconds = time.process_time() - begin
    return learner.components_.T @ learner.components_, seconds


def read_metric(path):
    """The matrix of a Mahalanobis model file; see docs/formats.md."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data, 32)
    at = 40 + length
    for entry in json.loads(data[40:at])["arrays"]:
        count = math.prod(entry["shape"])
        if entry["name"] == "divergence.matrix":
            return np.array(struct.unpack_from(f"<{count}d", data, at)).reshape(entry["shape"])
        at += 8 * count
    raise SystemExit(f"{path} has no matrix")


def ours(program, method, name):
    """The learned matrix, and the processor seconds and objectives of all iterations."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.bregmax"
        command = [str(program), method, f"builtin:{name}", str(model)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{program} failed: {run.stderr.strip()}")
        trace = [tuple(map(float, line.split())) for line in run.stdout.splitlines()]
        return read_metric(model), trace


def seconds_to(trace, value):
    """Until the objective (to be made small) is as good as the value, within 1e-3; all of the run if it never is."""
    reached = [seconds for seconds, objective in trace if objective <= value + 1e-3 * abs(value)]
    return reached[0] if reached else trace[-1][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bregmax", type=Path, default=ROOT / "build/bench/bin/trace_method", help="the program to time")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    row = "{:<8}{:<15}{:<14}{:>13}{:>13}{:>12}{:>11}{:>13}{:>11}{:>8}"
    print(row.format("method", "dataset", "reference", "objective", "ours", "obj. ratio", "seconds", "to objective", "to end", "ratio"))
    good = True
    for method, library in (("nca", "scikit-learn"), ("nca", "metric-learn"), ("lmnn", "metric-learn")):
        objective = nca_objective if method == "nca" else lmnn_objective
        for name in options.datasets:
            rows, labels = load_dataset(name)
            theirs = [reference(method, library, rows, labels) for _ in range(options.repeats)]
            mine = [ours(options.bregmax, method, name) for _ in range(options.repeats)]
            their_value, my_value = (objective(runs[0][0], rows, labels) for runs in (theirs, mine))
            their_seconds = min(run[1] for run in theirs)
            reached = their_value if method == "lmnn" else -their_value
            my_seconds = min(seconds_to(trace, reached) for _, trace in mine)
            to_end = min(trace[-1][0] for _, trace in mine)
            # Above 1: ours is better.
            ratio = my_value / their_value if method == "nca" else their_value / my_value
            good = good and ratio >= 1 - 1e-3 and their_seconds >= 5 * my_seconds
            print(row.format(method, name, library, f"{their_value:.4f}", f"{my_value:.4f}", f"{ratio:.5f}",
                             f"{their_seconds:.4f}", f"{my_seconds:.4f}", f"{to_end:.4f}",
                             f"{their_seconds / my_seconds:.1f}x"), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
