"""Tables, read as the command line reads them."""

from __future__ import annotations

import os

import numpy as np
from sklearn.utils import Bunch

from bregmax import _core


def read_table(source: str | os.PathLike[str], label: str = "auto") -> Bunch:
    """Reads a CSV or .npy file, or `builtin:NAME`: data, target (class names; None without labels), feature_names."""
    table = _core.read_table(os.fspath(source), label)
    target = None
    if "classes" in table:
        target = np.asarray(table["class_names"])[table["classes"]]
    return Bunch(data=table["data"], target=target, feature_names=list(table["feature_names"]))


def load_dataset(name: str) -> Bunch:
    """A built-in dataset by its name; see `datasets.names()`."""
    return read_table(f"builtin:{name}")


def names() -> list[str]:
    return [entry["name"] for entry in _core.builtin_datasets()]
