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
    import bregmax.plot

    page = (REPOSITORY / "docs/python-api.md").read_text()
    for name in bregmax.__all__:
        assert name in page, name
    public = {name for name, value in vars(bregmax.plot).items() if getattr(value, "__module__", "") == "bregmax.plot"}
    assert set(bregmax.plot.__all__) == {name for name in public if not name.startswith("_")}
    for name in bregmax.plot.__all__:
        assert f"bregmax.plot.{name}" in page, name
