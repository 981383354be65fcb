#!/usr/bin/env python3
"""How long does `bregmax fit DATA` take, and how much memory?

No options but two threads: methods and parameters are chosen by cross-validation, and the chosen method learns from
all rows. The tables are scikit-learn's breast cancer and digits, and three artificial ones of its make_classification,
with three clusters in each class, read from CSV files. A missed limit gives exit code 1.

The table also has the processor time of all threads, and what the plan predicted of it: on a machine with other work
the wall clock says little.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification

ROOT = Path(__file__).resolve().parent.parent
THREADS = 2
MOST_GIGABYTES = 4


def clusters(rows, features, classes):
    informative = 3 * features // 4 if classes > 8 else features // 2
    return make_classification(
        rows, features, n_informative=informative, n_redundant=features // 8, n_classes=classes, n_clusters_per_class=3,
        random_state=0,
    )  # fmt: skip


# How each is made, and the most seconds of the wall clock.
TABLES = {
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), 10),
    "digits": (lambda: load_digits(return_X_y=True), 30),
    "10,000 x 20": (lambda: clusters(10_000, 20, 5), 60),
    "13,000 x 16, 26 classes": (lambda: clusters(13_000, 16, 26), 90),
    "1,000,000 x 20": (lambda: clusters(1_000_000, 20, 5), 600),
}


def write_csv(path, rows, classes):
    header = ",".join([f"f{feature}" for feature in range(rows.shape[1])] + ["class"])
    table = np.column_stack([rows, classes])
    np.savetxt(path, table, ["%.6g"] * rows.shape[1] + ["%d"], ",", header=header, comments="")


def run(command, folder):
    """Its JSON, seconds of the wall clock and of all processors, and the peak of its memory in GB."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        if status != 0:
            sys.exit(f"failed: {' '.join(command)}")
        out.seek(0)
        return json.load(out), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    missed = False
    columns = ("table", "wall s", "limit", "cpu s", "predicted", "GB")
    print("{:<24} {:>7} {:>6} {:>7} {:>9} {:>6}  chosen".format(*columns))
    for name in options.tables:
        make, limit = TABLES[name]
        with tempfile.TemporaryDirectory() as folder:
            write_csv(Path(folder) / "data.csv", *make())
            command = [options.bregmax, "fit", "data.csv", "--threads", str(THREADS), "--json"]
            told, seconds, processor, memory = run(command, folder)
        predicted = told["plan"]["predicted_seconds"]
        chosen = " ".join([told["method"], *(f"{key}={value}" for key, value in (told["chosen"] or {}).items())])
        over = seconds > limit or memory > MOST_GIGABYTES
        missed |= over
        print(f"{name:<24} {seconds:>7.1f} {limit:>6} {processor:>7.1f} {predicted:>9.1f} {memory:>6.2f}  {chosen}"
              f"{'   MISSED' if over else ''}", flush=True)  # fmt: skip
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
