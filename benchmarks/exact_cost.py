#!/usr/bin/env python3
"""Compares the time that the exact solver takes with the time that `--solver auto` predicts.

Problems with every kind of supervision, with one piece per row and with fewer, one thread each. The prediction only has to
tell seconds from an hour, so a factor of three either way is good enough.
"""

import argparse
import random
import re
import sys
import tempfile
from pathlib import Path

from many_rows import ROOT, run

# rows, features, pieces ("all": one per row), kind, items
PROBLEMS = [(200, 10, "all", "comparisons", 2000), (400, 5, "all", "comparisons", 1000),
            (300, 10, "all", "pairs", 20000), (600, 10, "all", "pairs", 20000), (300, 5, "all", "targets", 5000),
            (1000, 10, 30, "comparisons", 3000), (5000, 10, 30, "pairs", 5000), (5000, 20, 50, "comparisons", 5000)]


def write_problem(folder, rows, features, kind, items):
    draw = random.Random(0)
    data, supervision = Path(folder) / "data.csv", Path(folder) / "items.csv"
    points = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(rows)]
    data.write_text("".join(",".join(f"{x:.6f}" for x in row) + "\n" for row in points))
    members = 4 if kind == "comparisons" else 2
    header = {"comparisons": "i,j,k,l", "pairs": "i,j,s", "targets": "i,j,value"}[kind]
    last = {"comparisons": lambda: [], "pairs": lambda: [draw.randrange(2)], "targets": lambda: [draw.random()]}[kind]
    lines = [",".join(str(x) for x in [draw.randrange(rows) for _ in range(members)] + last()) for _ in range(items)]
    supervision.write_text("\n".join([header, *lines]) + "\n")
    return data, supervision


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    options = parser.parse_args()
    print(f"{'rows':>6} {'d':>3} {'pieces':>6} {'supervision':>18} {'predicted, s':>13} {'measured, s':>12} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for rows, features, pieces, kind, items in PROBLEMS:
            data, supervision = write_problem(folder, rows, features, kind, items)
            fit, _, processor, _ = run([options.bregmax, "fit", data, "--label", "none", f"--{kind}-file", supervision,
                                        "--pieces", pieces, "--lambda", 1, "--solver", "auto", "--threads", 1],
                                       statuses=(0, 1))
            predicted = float(re.search(r"take ([0-9.e+-]+) s", fit["solver_reason"]).group(1))
            print(f"{rows:>6} {features:>3} {pieces:>6} {f'{items} {kind}':>18} {predicted:>13.2g} {processor:>12.2g} "
                  f"{predicted / processor:>6.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
