#!/usr/bin/env python3
"""How much the scores of PBDL depend on which of the optimal models a solver returns.

With many features, all comparisons of the training rows can be satisfied, and the linear program has a whole face of optima.
Bregmax returns a point near its centre; crossover after an interior point method returns a vertex, a different one after each
of HiGHS's two. All are solved to the same objective on the same split and scored on the held-out rows by the same program. Raw
features, 2000 comparisons from labels.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from highs_comparison import ROOT, build_program, load_dataset, run_highs, sample_triplets

MEASURES = ["rand_index", "purity", "auc", "average_precision", "knn_accuracy"]


def model_file(slopes, offsets):
    """As docs/formats.md describes it."""
    arrays = {"divergence.offsets": offsets, "divergence.slopes": slopes, "scaling.center": np.zeros(slopes.shape[1]),
              "scaling.scale": np.ones(slopes.shape[1])}
    metadata = json.dumps({"arrays": [{"name": name, "shape": list(array.shape)} for name, array in arrays.items()],
                           "divergence": {"kind": "max_affine"}}).encode()
    metadata += b" " * (-len(metadata) % 8)
    body = struct.pack("<Q", len(metadata)) + metadata + b"".join(a.astype("<f8").tobytes() for a in arrays.values())
    start = b"BREGMAX\n" + struct.pack("<QQ", 1, 32 + len(body))
    checksum = 0
    for word in struct.unpack(f"<{(len(start) + len(body)) // 8}Q", start + body):
        checksum = ((checksum ^ word) * 0x9E3779B97F4A7C15) % 2**64
        checksum ^= checksum >> 32
    return start + struct.pack("<Q", checksum) + body


def write_rows(path, rows, labels):
    header = ",".join([f"x{f}" for f in range(rows.shape[1])] + ["class"])
    lines = [",".join([repr(float(x)) for x in row] + [str(label)]) for row, label in zip(rows, labels)]
    path.write_text("\n".join([header, *lines]) + "\n")


def call(*command):
    run = subprocess.run([str(part) for part in command] + ["--threads", "1", "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--dataset", default="ionosphere")
    parser.add_argument("--data-dir")
    parser.add_argument("--lam", type=float, default=1)
    parser.add_argument("--solvers", nargs="+", default=["ipx-crossover", "ipm-crossover"], help="of HiGHS")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options = parser.parse_args()
    rows, labels = load_dataset(options.dataset, options.data_dir) or sys.exit(f"there is no {options.dataset}.csv")
    print(f"{'seed':>4} {'model':>13} {'objective':>12} " + " ".join(f"{m:>17}" for m in MEASURES))
    for seed in options.seeds:
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(rows))
        train, test = np.sort(order[: round(len(rows) * 2 / 3)]), np.sort(order[round(len(rows) * 2 / 3):])
        comparisons = sample_triplets(labels[train], 2000, rng)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            write_rows(folder / "train.csv", rows[train], labels[train])
            write_rows(folder / "test.csv", rows[test], labels[test])
            np.savetxt(folder / "items.csv", comparisons, fmt="%d", delimiter=",", header="i,j,k,l", comments="")
            centre = call(options.bregmax, "fit", folder / "train.csv", "--comparisons-file", folder / "items.csv",
                          "--lambda", options.lam, "--scale", "none", "--smoothing", 0, "--out", folder / "centre")
            objectives = {"centre": centre["objective"]}
            n, d = rows[train].shape
            for solver in options.solvers:
                vertex = run_highs(build_program(rows[train], comparisons, options.lam), solver, 1800, False, True)
                if vertex.columns is None:
                    sys.exit(f"HiGHS, {solver}: {vertex.status}")
                slopes = vertex.columns[n:n + n * d].reshape(n, d)
                offsets = vertex.columns[:n] - (slopes * rows[train]).sum(axis=1)
                (folder / solver).write_bytes(model_file(slopes, offsets))
                objectives[solver] = vertex.objective
            for name, objective in objectives.items():
                scores = call(options.bregmax, "evaluate", folder / name, folder / "test.csv", "--train",
                              folder / "train.csv")
                print(f"{seed:>4} {name:>13} {objective:>12.7g} " +
                      " ".join(f"{100 * scores[m]:>17.1f}" for m in MEASURES), flush=True)


if __name__ == "__main__":
    sys.exit(main())
