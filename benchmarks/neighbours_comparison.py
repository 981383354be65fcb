#!/usr/bin/env python3
"""Runs NCA and LMNN of scikit-learn and metric-learn and of bregmax from the same start, and prints the ratios.

The start is the identity, the features are not scaled, all rows are learned from, and both sides use one thread.
Objectives are computed here, from the matrix that each side returns:

    NCA    the expected number of rows whose neighbour has their class (larger is better)
    LMNN   0.5 * pull + 0.5 * push with 3 target neighbours, over all triplets (smaller is better)

Times are processor times: of fit() for the references; for bregmax until the objective is as good as theirs within 1e-3
(the ratio) and until it has converged. The best of --repeats runs counts on both sides.
"""

import sys
import time
import warnings

from classical_runs import RatioTable, Run, argument_parser, load_dataset, run_bregmax

import numpy as np


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


def reference_run(method, library, rows, labels):
    from metric_learn import LMNN, NCA
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    learners = {
        ("nca", "scikit-learn"): NeighborhoodComponentsAnalysis,
        ("nca", "metric-learn"): NCA,
        ("lmnn", "metric-learn"): LMNN,
    }
    learner = learners[method, library](init="identity")
    begin = time.process_time()
    learner.fit(rows, labels)
    seconds = time.process_time() - begin
    return Run(learner.components_.T @ learner.components_, [(seconds, None)])


def main():
    options = argument_parser(__doc__.splitlines()[0]).parse_args()
    warnings.filterwarnings("ignore")
    table = RatioTable()
    for method, library in (("nca", "scikit-learn"), ("nca", "metric-learn"), ("lmnn", "metric-learn")):
        objective = nca_objective if method == "nca" else lmnn_objective
        for name in options.datasets:
            rows, labels = load_dataset(name)
            theirs = [reference_run(method, library, rows, labels) for _ in range(options.repeats)]
            ours = [run_bregmax(options.program, method, rows, labels) for _ in range(options.repeats)]
            table.add(method, name, library, theirs, ours, lambda metric: objective(metric, rows, labels),
                      maximised=method == "nca")
    return table.exit_code()


if __name__ == "__main__":
    sys.exit(main())
