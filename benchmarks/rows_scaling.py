#!/usr/bin/env python3
"""How does the time of an iteration with fewer pieces than rows grow with the rows and with the pieces?

On the rows of many_rows.py, with one comparison per ten rows: processor seconds per iteration (with its share of the
passes over all rows and of the proofs), against the number of rows at fixed pieces and against the pieces at fixed rows,
and the exponents that fit best. The time before the first iteration is subtracted, by taking the difference of two runs.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from many_rows import ROOT, make_rows, run

FEATURES, FIRST, LAST = 20, 20, 120


def seconds_an_iteration(bregmax, folder, rows, pieces):
    data = Path(folder) / f"{rows}.npy"
    if not data.exists():
        np.save(data, make_rows(rows, FEATURES, 1))
    used = []
    for iterations in (FIRST, LAST):
        command = [bregmax, "fit", data, "--label", FEATURES, "--pieces", pieces, "--comparisons", rows // 10, "--lambda",
                   rows // 1000, "--solver", "admm", "--tolerance", "1e-8", "--max-iterations", iterations, "--threads", 1]
        used.append(run(command, statuses=(0, 1))[2])
    return (used[1] - used[0]) / (LAST - FIRST)


def fitted_exponent(sizes, seconds):
    return np.polyfit([math.log(size) for size in sizes], [math.log(second) for second in seconds], 1)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 100_000, 200_000, 400_000])
    parser.add_argument("--pieces", type=int, nargs="+", default=[25, 50, 100])
    options = parser.parse_args()
    middle_rows, middle_pieces = options.rows[len(options.rows) // 2], options.pieces[len(options.pieces) // 2]
    with tempfile.TemporaryDirectory() as folder:
        for name, sizes in (("rows", options.rows), ("pieces", options.pieces)):
            seconds = []
            print(f"{name:>10} {'s/iteration':>12}", flush=True)
            for size in sizes:
                rows, pieces = (size, middle_pieces) if name == "rows" else (middle_rows, size)
                seconds.append(seconds_an_iteration(options.bregmax, folder, rows, pieces))
                print(f"{size:>10} {seconds[-1]:>12.4f}", flush=True)
            fixed = f"{middle_pieces} pieces" if name == "rows" else f"{middle_rows} rows"
            print(f"exponent in the {name}, at {fixed}: {fitted_exponent(sizes, seconds):.2f}\n")


if __name__ == "__main__":
    sys.exit(main())
