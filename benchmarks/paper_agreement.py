#!/usr/bin/env python3
"""Compares the scores of the classical methods, from the runs in docs/reproduction, with the paper's rows.

A cell agrees when the means differ by at most the sum of both half widths of the 95% intervals and two points. Prints the
cells that do not agree; docs/methods.md says why.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("itml", "gmml", "lmnn", "euclidean")
DATASETS = ("iris", "balance-scale", "wine", "transfusion")
ALLOWANCE = 2.0


def cells(program, results):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(results, folder)
        command = [program, "reproduce", "table2", "--report-only", "--json", "--out", folder]
        command += ["--methods", ",".join(METHODS), "--datasets", ",".join(DATASETS)]
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [cell for cell in report["cells"] if cell["method"] in METHODS and cell.get("paper") is not None]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/bregmax")
    compared = cells(program, ROOT / "docs/reproduction/table-runs.csv")
    differ = 0
    for cell in compared:
        allowed = cell["half_width"] + cell["paper_half_width"] + ALLOWANCE
        difference = cell["mean"] - cell["paper"]
        if abs(difference) <= allowed:
            continue
        differ += 1
        print(f"{cell['method']:<10} {cell['dataset']:<14} {cell['measure']:<18} {cell['mean']:5.1f} ± {cell['half_width']:.1f}"
              f"   paper {cell['paper']:5.1f} ± {cell['paper_half_width']:.1f}   {'above' if difference > 0 else 'below'}")
    fewest = min(cell["runs"] for cell in compared)
    print(f"{len(compared) - differ} of {len(compared)} cells agree; at least {fewest} runs")


if __name__ == "__main__":
    main()
