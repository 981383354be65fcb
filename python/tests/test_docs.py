"""The code of the documentation runs, block after block."""

import re

import matplotlib
import matplotlib.pyplot
import pytest
from conftest import REPOSITORY


@pytest.mark.parametrize("page, least", [("docs/python.md", 8), ("docs/python-api.md", 5), ("README.md", 1)])
def test_code_blocks(page, least, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    text = (REPOSITORY / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    session = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), session)
    matplotlib.pyplot.close("all")


def test_the_api_page_names_everything():
    import bregmax

    page = (REPOSITORY / "docs/python-api.md").read_text()
    for name in bregmax.__all__:
        assert name in page, name
    for name in ("generator", "divergence_to", "divergence_from", "lambda_path", "asymmetry"):
        assert f"bregmax.plot.{name}" in page
