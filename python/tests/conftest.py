import os
import pathlib

import numpy as np
import pytest

import bregmax

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """The command line program, to compare with."""
    path = os.environ.get("BREGMAX_PROGRAM", str(REPOSITORY / "build/release/bin/bregmax"))
    assert os.access(path, os.X_OK), f"no program at {path}: make build, or set BREGMAX_PROGRAM"
    return path


@pytest.fixture(scope="session")
def wine():
    return bregmax.load_dataset("wine")


@pytest.fixture(scope="session")
def iris():
    return bregmax.load_dataset("iris")


@pytest.fixture(scope="session")
def few(iris):
    """Thirty labelled rows, on which a fit takes a moment."""
    return np.ascontiguousarray(iris.data[::5]), iris.target[::5]


@pytest.fixture(scope="session")
def fitted(few):
    return bregmax.BregmanLearner(1.0).fit(*few)
