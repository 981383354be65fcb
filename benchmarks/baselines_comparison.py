#!/usr/bin/env python3
"""Runs ITML of metric-learn and of bregmax on the same rows, pairs, bounds and prior, and prints the ratios.

The features are standardised, both sides use one thread, and the objective of both results is computed here by the same
lines of numpy. Times are processor times: of fit() for metric-learn; for bregmax, until its objective is as good to within
1e-3 (this is the ratio), and until it has converged, which proves that no result is better by more than 1e-6.
"""

import sys
import time
import warnings

from classical_runs import RatioTable, Run, argument_parser, load_dataset, run_bregmax

import numpy as np

GAMMA = 1.0


def standardised(rows):
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)


def draw_pairs(labels, count, seed):
    """`count` similar and `count` dissimilar pairs of different rows; a column for the kind, 1 is similar."""
    random = np.random.default_rng(seed)
    found = {0: [], 1: []}
    while min(len(pairs) for pairs in found.values()) < count:
        i, j = random.integers(len(labels), size=2)
        if i != j:
            found[int(labels[i] == labels[j])].append((i, j))
    return np.array([(i, j, kind) for kind in (1, 0) for i, j in found[kind][:count]])


def itml_objective(metric, rows, pairs, bounds):
    value = np.trace(metric) - np.linalg.slogdet(metric)[1] - len(metric)
    differences = rows[pairs[:, 0]] - rows[pairs[:, 1]]
    divergences = np.einsum("ti,ij,tj->t", differences, metric, differences)
    similar = pairs[:, 2] == 1
    ratios = np.where(similar, np.maximum(divergences / bounds[0], 1), np.minimum(divergences / bounds[1], 1))
    return value + GAMMA * np.sum(ratios - np.log(ratios) - 1)


def reference_run(rows, pairs, bounds, iterations):
    from metric_learn import ITML

    learner = ITML(gamma=GAMMA, prior="identity", max_iter=iterations)
    tuples = np.stack([rows[pairs[:, 0]], rows[pairs[:, 1]]], axis=1)
    kinds = np.where(pairs[:, 2] == 1, 1, -1)
    begin = time.process_time()
    learner.fit(tuples, kinds, bounds=bounds.copy())
    return Run(learner.get_mahalanobis_matrix(), [(time.process_time() - begin, None)])


def main():
    parser = argument_parser(__doc__.splitlines()[0])
    parser.add_argument("--reference-iterations", type=int, default=1000, help="limit of metric-learn's sweeps")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    table = RatioTable()
    for name in options.datasets:
        rows, labels = load_dataset(name)
        rows = standardised(rows)
        pairs = draw_pairs(labels, 20 * len(np.unique(labels)) ** 2, seed=1)
        pairs = pairs[np.any(rows[pairs[:, 0]] != rows[pairs[:, 1]], axis=1)]  # metric-learn divides by their distance
        squares = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)[np.triu_indices(len(rows), 1)]
        bounds = np.percentile(squares[squares > 0], (5, 95))
        parameters = {"gamma": GAMMA, "upper": float(bounds[0]), "lower": float(bounds[1])}
        theirs = [reference_run(rows, pairs, bounds, options.reference_iterations) for _ in range(options.repeats)]
        ours = [run_bregmax(options.program, "itml", rows, labels, pairs, parameters) for _ in range(options.repeats)]
        table.add("itml", name, "metric-learn", theirs, ours,
                  lambda metric: itml_objective(metric, rows, pairs, bounds))
    return table.exit_code()


if __name__ == "__main__":
    sys.exit(main())
