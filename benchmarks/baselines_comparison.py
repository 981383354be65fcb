#!/usr/bin/env python3
"""Runs classical methods of metric learning in bregmax and in their public Python implementations, side by side.

Both sides get the same rows (standardised), the same supervision, the same start and the same parameters, and one
thread. The objective of both results is computed here, by the same lines of numpy. Printed for each case:

    objective ratio   bregmax / reference: 1 is as good, less is better
    time ratio        reference / bregmax: how many times shorter bregmax takes

The time of the reference is the processor time of its fit(); that of bregmax is the wall time of its learning, up to
its own convergence test, which is stricter than reaching the reference's objective.
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")

ROOT = Path(__file__).resolve().parent.parent
DATASETS = ("iris", "wine", "balance-scale", "ionosphere")
OBJECTIVE_TOLERANCE = 1e-3
TIME_GOAL = 5


# ---------------------------------------------------------------------------------------------------------- data


def balance_scale():
    rows = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
    torque = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
    return rows, np.sign(torque).astype(int)


def load(name):
    """Rows, standardised, and the class number of each."""
    if name == "balance-scale":
        rows, labels = balance_scale()
    else:
        with open(ROOT / "data" / f"{name}.csv", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
        try:
            float(lines[0][0])
        except ValueError:
            lines = lines[1:]
        rows = np.array([line[:-1] for line in lines], dtype=float)
        labels = np.array([line[-1] for line in lines])
    labels = np.unique(labels, return_inverse=True)[1]
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1), labels


def draw_pairs(labels, count, seed):
    """`count` similar and `count` dissimilar pairs of different rows; a column for the kind, 1 is similar."""
    random = np.random.default_rng(seed)
    found = {0: [], 1: []}
    while min(len(pairs) for pairs in found.values()) < count:
        i, j = random.integers(len(labels), size=2)
        if i != j:
            found[int(labels[i] == labels[j])].append((i, j))
    return np.array([(i, j, kind) for kind in (1, 0) for i, j in found[kind][:count]])


# ------------------------------------------------------------------------------------------------------- bregmax


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def read_arrays(path):
    """The arrays of a model file (docs/formats.md)."""
    data = Path(path).read_bytes()
    length = struct.unpack_from("<Q", data, 32)[0]
    arrays, at = {}, 40 + length
    for entry in json.loads(data[40 : 40 + length])["arrays"]:
        count = math.prod(entry["shape"])
        arrays[entry["name"]] = np.frombuffer(data, "<f8", count, at).reshape(entry["shape"])
        at += 8 * count
    return arrays


@dataclass
class Run:
    metric: np.ndarray
    seconds: float
    note: str = ""


def run_bregmax(program, rows, labels, method, parameters, supervision, repeats):
    """Learns `repeats` times and keeps the shortest: the first run of a program pays for cold caches."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = f"{folder}/data.csv", f"{folder}/model.bregmax"
        header = [f"x{f}" for f in range(rows.shape[1])] + ["class"]
        # Texts of 17 digits, so that both sides see the same numbers.
        write_csv(data, header, ([repr(float(v)) for v in row] + [f"c{c}"] for row, c in zip(rows, labels)))
        command = [program, "fit", data, "--method", method, "--scale", "none", "--threads", "1", "--json"]
        command += ["--out", model, "--keep-partial"]
        for name, value in parameters.items():
            command += ["--method-parameter", f"{name}={value}"]
        if supervision is not None:
            write_csv(f"{folder}/pairs.csv", ["i", "j", "s"], supervision)
            command += ["--pairs-file", f"{folder}/pairs.csv"]
        reports = []
        for _ in range(repeats):
            done = subprocess.run(command, capture_output=True, text=True)
            if not done.stdout:
                raise RuntimeError(done.stderr.strip())
            reports.append(json.loads(done.stdout))
        report = min(reports, key=lambda each: each["seconds"])
        note = f"{report['status']}, {report['iterations']} iterations"
        return Run(read_arrays(model)["divergence.matrix"], report["seconds"], note)


# ---------------------------------------------------------------------------------------------------------- itml


def itml_objective(metric, rows, pairs, gamma, bounds):
    value = np.trace(metric) - np.linalg.slogdet(metric)[1] - len(metric)
    differences = rows[pairs[:, 0]] - rows[pairs[:, 1]]
    divergences = np.einsum("ti,ij,tj->t", differences, metric, differences)
    similar = pairs[:, 2] == 1
    ratios = np.where(similar, np.maximum(divergences / bounds[0], 1), np.minimum(divergences / bounds[1], 1))
    return value + gamma * np.sum(ratios - np.log(ratios) - 1)


def compare_itml(rows, labels, program, options):
    """metric-learn's ITML; pairs of equal rows, which it divides by, are left out for both."""
    from metric_learn import ITML

    pairs = draw_pairs(labels, 20 * (labels.max() + 1) ** 2, seed=1)
    pairs = pairs[np.any(rows[pairs[:, 0]] != rows[pairs[:, 1]], axis=1)]
    squares = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)[np.triu_indices(len(rows), 1)]
    bounds = np.percentile(squares[squares > 0], (5, 95))
    gamma = 1.0
    reference = ITML(gamma=gamma, prior="identity", max_iter=options.reference_iterations)
    tuples = np.stack([rows[pairs[:, 0]], rows[pairs[:, 1]]], axis=1)
    start = time.process_time()
    reference.fit(tuples, np.where(pairs[:, 2] == 1, 1, -1), bounds=bounds.copy())
    theirs = Run(reference.get_mahalanobis_matrix(), time.process_time() - start, f"{reference.n_iter_} iterations")
    parameters = {"gamma": gamma, "upper": repr(float(bounds[0])), "lower": repr(float(bounds[1]))}
    ours = run_bregmax(program, rows, labels, "itml", parameters, pairs, options.repeats)
    return ours, theirs, lambda metric: itml_objective(metric, rows, pairs, gamma, bounds)


METHODS = {"itml": compare_itml}


# ---------------------------------------------------------------------------------------------------------- main


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--repeats", type=int, default=3, help="runs of bregmax, of which the shortest counts")
    parser.add_argument("--reference-iterations", type=int, default=1000, help="limit of the reference's iterations")
    options = parser.parse_args()
    print(f"{'method':<12} {'data':<14} {'objective':>12} {'reference':>12} {'ratio':>9}"
          f" {'seconds':>10} {'reference':>10} {'ratio':>8}")
    missed = 0
    for method, name in itertools.product(options.methods, options.datasets):
        rows, labels = load(name)
        ours, theirs, objective = METHODS[method](rows, labels, options.program, options)
        value, reference = objective(ours.metric), objective(theirs.metric)
        ratio, speed = value / reference, theirs.seconds / ours.seconds
        missed += (value - reference) / abs(reference) > OBJECTIVE_TOLERANCE or speed < TIME_GOAL
        print(f"{method:<12} {name:<14} {value:>12.6g} {reference:>12.6g} {ratio:>9.5f}"
              f" {ours.seconds:>10.4f} {theirs.seconds:>10.4f} {speed:>8.1f}   {ours.note}; reference {theirs.note}",
              flush=True)
    print(f"{missed} cases miss an objective within {OBJECTIVE_TOLERANCE} or a time {TIME_GOAL} times shorter")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
