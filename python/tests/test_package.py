import ast
import importlib.metadata
import importlib.resources
import os
import re
import subprocess
import sys

import bregmax
import pytest
from bregmax import _blas
from conftest import REPOSITORY


def test_the_version_is_that_of_the_build():
    version = re.search(r"project\(bregmax VERSION ([0-9.]+)", (REPOSITORY / "CMakeLists.txt").read_text()).group(1)
    assert bregmax.__version__ == version == importlib.metadata.version("bregmax")


@pytest.mark.parametrize(
    ("vendor", "flags", "kernels"),
    [
        ("GenuineIntel", "sse2 avx", None),
        ("GenuineIntel", "sse2 avx avx2 fma", "Haswell"),
        ("GenuineIntel", "avx avx2 fma avx512f avx512cd avx512bw avx512dq avx512vl", "SkylakeX"),
        ("GenuineIntel", "avx avx2 fma avx512f", "Haswell"),
        ("AuthenticAMD", "sse2 avx avx2 fma", None),
        ("", "", None),
    ],
)
def test_blas_kernels_are_those_of_the_processor(vendor, flags, kernels):
    assert _blas.kernels_for(vendor, set(flags.split())) == kernels


def _kernels_in_a_new_process(**environment):
    code = "import bregmax, os; print(bregmax._core.blas_kernels(), os.environ.get('OPENBLAS_CORETYPE'))"
    known = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    done = subprocess.run([sys.executable, "-c", code], env=known | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_blas_kernels_are_chosen_at_import_and_the_environment_is_left_as_it_was():
    kernels, left_behind = _kernels_in_a_new_process()
    assert left_behind == "None"
    expected = _blas.kernels_for(*_blas.processor())
    assert expected is None or kernels == expected


def test_blas_kernels_that_the_caller_names_are_kept():
    if "sse2" not in _blas.processor()[1]:
        pytest.skip("the name is one of x86-64")
    assert _kernels_in_a_new_process(OPENBLAS_CORETYPE="Prescott") == ["Prescott", "Prescott"]


def test_types_are_part_of_the_package():
    files = importlib.resources.files("bregmax")
    assert (files / "py.typed").is_file()
    stub = (files / "_core.pyi").read_text()
    assert "class Model" in stub and "def fit(" in stub


def test_the_stub_has_everything_with_types():
    stub = ast.parse((importlib.resources.files("bregmax") / "_core.pyi").read_text())
    functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    public = {name for name in dir(bregmax._core) if not name.startswith("_")}
    assert public == set(functions) | classes
    for name, function in functions.items():
        untyped = [argument.arg for argument in function.args.args if argument.annotation is None]
        assert function.returns is not None and not untyped, name


def test_everything_named_is_there_and_documented():
    for name in bregmax.__all__:
        assert getattr(bregmax, name).__doc__, name


def test_tables(tmp_path):
    (tmp_path / "table.csv").write_text("a,b,kind\n1,2,x\n3,4,y\n")
    table = bregmax.read_table(tmp_path / "table.csv")
    assert table.data.tolist() == [[1, 2], [3, 4]] and table.target.tolist() == ["x", "y"]
    assert table.feature_names == ["a", "b"]
    (tmp_path / "numbers.csv").write_text("1,2\n3,4\n")
    assert bregmax.read_table(tmp_path / "numbers.csv").target is None
    assert set(bregmax.datasets.names()) >= {"iris", "wine", "ionosphere"}
