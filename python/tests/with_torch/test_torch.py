"""bregmax.torch against the library, and its losses against their definitions.

Run by tools/python-package with Debian's PyTorch, since the wheel of PyPI has gigabytes.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bregmax

try:
    import torch
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("PyTorch is missing (Debian: python3-torch), so bregmax.torch is not tested", allow_module_level=True)

from bregmax.torch import BregmanHead, comparisons_loss, labels_loss, pairs_loss, targets_loss

REPOSITORY = Path(__file__).resolve().parents[3]
SHAPES = [(4, 9, 3), (5, 1, 5), (3, 20, 0), (7, 2, 9)]  # features, pieces, rank


def make(features, pieces, rank, temperature=0.7, seed=0):
    """A head in double precision whose parameters are all random."""
    torch.manual_seed(seed)
    head = BregmanHead(features, pieces, rank, temperature=temperature, dtype=torch.float64)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_()
    return head


def rows_for(head, count, seed=1):
    return torch.randn(count, head.in_features, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def array(tensor):
    return tensor.detach().numpy()


# ---- The divergence ----


@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_those_of_the_library(shape):
    head = make(*shape)
    model, x, y = head.to_bregmax(), rows_for(head, 30), rows_for(head, 20, 2)
    expected = model.divergence(array(x), array(y))
    np.testing.assert_allclose(array(head(x, y)), expected, rtol=1e-6, atol=1e-11)
    np.testing.assert_allclose(array(head.divergence(x, y)), expected, rtol=1e-6, atol=1e-11)
    np.testing.assert_allclose(array(head.phi(x)), model.phi(array(x)), rtol=1e-12)
    pairs = array(head.rowwise(x[:20], y))
    np.testing.assert_allclose(pairs, model.pair_distance(array(x[:20]), array(y)), rtol=1e-9)
    np.testing.assert_allclose(array(head(x)), model.divergence(array(x)), rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_in_the_rows_are_those_of_the_library(shape):
    head = make(*shape)
    x = rows_for(head, 30).requires_grad_()
    head.phi(x).sum().backward()
    np.testing.assert_allclose(array(x.grad), head.to_bregmax().gradient(array(x)), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("form", ["forward", "divergence"])
def test_gradients_in_the_parameters_are_those_of_the_library(form):
    """The derivative of a weighted sum of all divergences along a direction, by differences of the library's values."""
    head = make(4, 9, 3)
    x, y = rows_for(head, 12), rows_for(head, 10, 2)
    weights = torch.randn(12, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    (weights * getattr(head, form)(x, y)).sum().backward()
    for parameter in head.parameters():
        direction = torch.randn(parameter.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
        step, values = 1e-5, []
        for side in (1, -1):
            with torch.no_grad():
                parameter.add_(side * step * direction)
            values.append((array(weights) * head.to_bregmax().divergence(array(x), array(y))).sum())
            with torch.no_grad():
                parameter.sub_(side * step * direction)
        expected = (values[0] - values[1]) / (2 * step)
        assert float((parameter.grad * direction).sum()) == pytest.approx(expected, rel=1e-6)


def test_gradients_of_the_exact_form_are_right_on_both_of_its_branches():
    head = make(3, 5, 2)
    x = rows_for(head, 4).requires_grad_()
    y = (x.detach() + torch.tensor([1e-3, 0.1, 2.0], dtype=torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(head.rowwise, (x, y))
    assert torch.autograd.gradcheck(lambda points, references: head.divergence(points, references), (x, y))


def test_near_rows_keep_their_digits_in_single_precision():
    head = make(6, 40, 6).float()
    x = rows_for(head, 50).float()
    y = x + 1e-3
    exact = make(6, 40, 6).to_bregmax().pair_distance(array(x).astype(float), array(y).astype(float))
    near = array(head.divergence(x, y)).diagonal()
    np.testing.assert_allclose(near, exact, rtol=1e-3)
    np.testing.assert_allclose(array(head.rowwise(x, y)), exact, rtol=1e-3)
    own = head.divergence(x)
    assert (own >= 0).all() and (own.diagonal() == 0).all()


def test_blocks_of_references_change_nothing(monkeypatch):
    head = make(4, 9, 3)
    x, y = rows_for(head, 7), rows_for(head, 11, 2)
    whole = head.divergence(x, y)
    monkeypatch.setattr(bregmax.torch, "_BLOCK", 200)
    assert torch.allclose(head.divergence(x, y), whole, rtol=1e-14)
    assert head.divergence(x, y[:0]).shape == (7, 0) and head.divergence(x[:0], y).shape == (0, 11)


# ---- Models ----


def test_to_bregmax_and_back(tmp_path):
    head = make(4, 9, 3)
    head.to_bregmax().save(tmp_path / "head.bregmax")
    model = bregmax.Model.load(tmp_path / "head.bregmax")
    assert model.name == "log_sum_exp_quadratic" and (model.scale == 1).all() and (model.center == 0).all()
    again = BregmanHead.from_bregmax(model, dtype=torch.float64)
    for mine, theirs in zip(head.parameters(), again.parameters()):
        assert torch.equal(mine, theirs)
    assert again.temperature == head.temperature
    assert make(4, 9, 0).to_bregmax().roots.shape == (0, 4)


def test_from_a_learned_model_takes_raw_rows():
    wine = bregmax.load_dataset("wine")
    learner = bregmax.Smooth(n_pieces=10, decay=1e-2).fit(wine.data, wine.target)
    model, head = learner.model_, BregmanHead.from_bregmax(learner, dtype=torch.float64)
    np.testing.assert_allclose(array(head.divergence(torch.tensor(wine.data))), model.divergence(wine.data), rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="a model of the kind kl is no BregmanHead; allowed: log_sum_exp_quadratic"):
        BregmanHead.from_bregmax(bregmax.Model.closed_form("kl", 3))


def test_the_program_applies_a_head(tmp_path):
    program = os.environ.get("BREGMAX_PROGRAM", str(REPOSITORY / "build/release/bin/bregmax"))
    head = make(4, 9, 3)
    x = rows_for(head, 10)
    head.to_bregmax().save(tmp_path / "head.bregmax")
    np.save(tmp_path / "rows.npy", array(x))
    arguments = ["divergence", tmp_path / "head.bregmax", tmp_path / "rows.npy", "--out", tmp_path / "D.npy"]
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)
    np.testing.assert_allclose(np.load(tmp_path / "D.npy"), array(head.divergence(x)), rtol=1e-6, atol=1e-11)


# ---- Losses ----


def softplus(value):
    return np.log1p(np.exp(-abs(value))) + max(value, 0)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_loss_of_labels(share):
    head = make(4, 9, 3)
    labels = torch.tensor([0, 1, 0, 2, 1, 0, 1, 3])  # 2 and 3 are alone
    D = head(rows_for(head, 8))
    losses = []
    for i in range(8):
        others = [j for j in range(8) if j != i]
        p = np.exp(-array(D)[i, others])
        p /= p.sum()
        same = [p[place] for place, j in enumerate(others) if labels[j] == labels[i]]
        if same:
            losses.append(-(1 - share) * np.mean(np.log(same)) - share * np.log(np.sum(same)))
    assert float(labels_loss(D, labels, share)) == pytest.approx(np.mean(losses), rel=1e-12)
    x = rows_for(head, 8).requires_grad_()
    assert torch.autograd.gradcheck(lambda rows: labels_loss(head(rows), labels, share), (x,))
    alone = labels_loss(head(x), torch.arange(8))
    alone.backward()
    assert float(alone) == 0 and (x.grad == 0).all()


def test_the_losses_of_comparisons_pairs_and_targets():
    near, far = torch.tensor([0.5, 3.0, 900.0], dtype=torch.float64), torch.tensor([1.0, 0.2, 1.0], dtype=torch.float64)
    weight = torch.tensor([1.0, 2.0, 0.5])
    of_each = [softplus(float(a - b)) for a, b in zip(near, far)]
    assert float(comparisons_loss(near, far)) == pytest.approx(np.mean(of_each))
    assert float(comparisons_loss(near, far, weight)) == pytest.approx(np.average(of_each, weights=weight))

    D, similar = torch.tensor([0.5, 3.0, 0.1, 2.0], dtype=torch.float64), torch.tensor([True, True, True, False])
    of_similar = np.mean([softplus(value - 1.5) for value in (0.5, 3.0, 0.1)])
    expected = (of_similar + softplus(1.5 - 2.0)) / 2
    threshold = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    loss = pairs_loss(D, similar, threshold)
    assert float(loss) == pytest.approx(expected)
    assert torch.autograd.gradcheck(lambda t: pairs_loss(D, similar.int(), t), (threshold,))
    assert float(pairs_loss(D[:3], similar[:3], 1.5)) == pytest.approx(of_similar)

    values = torch.tensor([1.0, 2.0, 0.0, 2.0], dtype=torch.float64)
    expected = np.mean(array(D - values) ** 2) / np.mean(array(values) ** 2)
    assert float(targets_loss(D, values)) == pytest.approx(expected)
    assert float(targets_loss(D, torch.zeros_like(D))) == pytest.approx(float(D.square().mean()))


def test_dissimilar_pairs_may_be_0_or_minus_1():
    D, similar = torch.tensor([0.5, 3.0, 0.1, 2.0]), torch.tensor([True, True, False, False])
    expected = pairs_loss(D, similar)
    assert torch.equal(pairs_loss(D, torch.tensor([1, 1, -1, -1])), expected)
    assert torch.equal(pairs_loss(D, torch.tensor([1.0, 1.0, 0.0, 0.0])), expected)


def test_a_batch_without_weight_has_the_loss_0():
    D, similar = torch.tensor([0.5, 3.0], requires_grad=True), torch.tensor([True, False])
    for weight, count in ((torch.zeros(2), 2), (None, 0)):
        losses = [
            comparisons_loss(D[:count], D[:count], weight),
            pairs_loss(D[:count], similar[:count], weight=weight),
            targets_loss(D[:count], D[:count].detach(), weight),
        ]
        assert [float(loss) for loss in losses] == [0, 0, 0]
        sum(losses).backward()
    assert (D.grad == 0).all()


def test_targets_do_not_change_the_type():
    assert targets_loss(torch.ones(3), torch.ones(3, dtype=torch.float64)).dtype == torch.float32
    assert float(targets_loss(torch.ones(3), torch.tensor([1, 2, 2]))) == pytest.approx(2 / 9)


def test_shapes_that_would_be_broadcast_are_refused():
    D, column = torch.ones(4), torch.ones(4, 1)
    for call, name in [
        (lambda: comparisons_loss(D, column), "farther"),
        (lambda: comparisons_loss(D, D, column), "weight"),
        (lambda: comparisons_loss(D, torch.tensor(1.0)), "farther"),
        (lambda: pairs_loss(D, column), "similar"),
        (lambda: targets_loss(D, column), "values"),
        (lambda: targets_loss(column, column), "divergences"),
        (lambda: labels_loss(torch.ones(4, 4), column), "labels"),
    ]:
        with pytest.raises(ValueError, match=rf"{name} has the shape \(.*\); expected a vector"):
            call()


def test_losses_are_those_that_the_library_reports():
    """The objective of a fit without prices is the mean loss over all rows or items."""
    iris = bregmax.load_dataset("iris")
    X, y = iris.data[::2], iris.target[::2]
    rows, classes = torch.tensor(X), torch.tensor(np.unique(y, return_inverse=True)[1])
    numbers = torch.tensor(np.random.default_rng(0).integers(len(X), size=(60, 4)))
    options = dict(n_pieces=6, decay=0.0, feature_price=0.0, steps=30, optimiser="adamw")

    def head_of(learner):
        return BregmanHead.from_bregmax(learner.model_, dtype=torch.float64)

    for share in (0.0, 0.4):
        learner = bregmax.Smooth(neighbour_share=share, **options).fit(X, y)
        loss = labels_loss(head_of(learner)(rows), classes, share)
        assert float(loss) == pytest.approx(learner.report_["objective"], rel=1e-9)

    learner = bregmax.Smooth(**options).fit_comparisons(numbers.numpy(), X)
    head, parts = head_of(learner), [rows[numbers[:, place]] for place in range(4)]
    loss = comparisons_loss(head.rowwise(*parts[:2]), head.rowwise(*parts[2:]))
    assert float(loss) == pytest.approx(learner.report_["objective"], rel=1e-9)

    similar = classes[numbers[:, 0]] == classes[numbers[:, 1]]
    learner = bregmax.Smooth(**options).fit_pairs(numbers[:, :2].numpy(), np.where(similar, 1, -1), X)
    head = head_of(learner)
    unit = 1 / head.temperature  # phi was divided by the threshold that was learned
    there, back = head.rowwise(*parts[:2]), head.rowwise(*parts[1::-1])  # a pair counts in both directions
    loss = pairs_loss(unit * torch.cat([there, back]), torch.cat([similar, similar]), unit)
    assert float(loss) == pytest.approx(learner.report_["objective"], rel=1e-9)

    values = torch.linspace(0.5, 30, 60, dtype=torch.float64)
    learner = bregmax.Smooth(**options).fit_targets(numbers[:, :2].numpy(), values.numpy(), X)
    loss = targets_loss(head_of(learner).rowwise(*parts[:2]), values)
    assert float(loss) == pytest.approx(learner.report_["objective"], rel=1e-9)


def test_the_price_is_that_of_the_library():
    iris = bregmax.load_dataset("iris")
    X, y = iris.data[::2], iris.target[::2]
    plain = dict(n_pieces=6, feature_price=0.0, scale="none")
    learner = bregmax.Smooth(decay=0.1, steps=30, **plain).fit(X, y)
    head = BregmanHead.from_bregmax(learner.model_, dtype=torch.float64)
    loss = labels_loss(head(torch.tensor(X)), torch.tensor(np.unique(y, return_inverse=True)[1]))
    total = float(loss + 0.1 * 1000 / len(X) * head.price())
    assert total == pytest.approx(learner.report_["objective"], rel=1e-9)


# ---- The rest ----


def test_it_learns_and_travels():
    """Trained a little, saved by PyTorch, loaded elsewhere."""
    torch.manual_seed(0)
    x, labels = torch.randn(90, 2), torch.arange(90) % 3
    x[:, 0] += 3 * labels
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4), BregmanHead(4, 10))
    optimiser = torch.optim.AdamW(network.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        loss = labels_loss(network(x), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < losses[0] - 0.3
    other = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4), BregmanHead(4, 10))
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(x), network(x))
    assert "in_features=4, pieces=10, rank=4" in repr(network)


def test_mistakes():
    for arguments, message in [
        ((0,), "in_features is 0; allowed: a whole number >= 1"),
        ((3, 0), "pieces is 0; allowed: a whole number >= 1"),
        ((3, 5, -1), "rank is -1; allowed: a whole number >= 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            BregmanHead(*arguments)
    for temperature in (0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=f"temperature is {temperature}; allowed: a finite number > 0"):
            BregmanHead(3, temperature=temperature)
    head = make(4, 9, 3)
    x = rows_for(head, 5)
    for call in (head, head.divergence, head.phi, lambda rows: head(x, rows), lambda rows: head.rowwise(x, rows)):
        with pytest.raises(ValueError, match=r"has the shape \(5, 3\); expected \(rows, 4\)"):
            call(x[:, :3])
    with pytest.raises(ValueError, match="there are 5 points and 4 references"):
        head.rowwise(x, x[:4])
    with pytest.raises(ValueError, match="neighbour_share is 2; allowed: a number from 0 to 1"):
        labels_loss(head(x), torch.zeros(5), 2)
    with pytest.raises(ValueError, match=r"divergences has the shape \(5, 4\); expected \(5, 5\)"):
        labels_loss(head(x, x[:4]), torch.zeros(5))


def test_bregmax_does_not_import_torch():
    code = "import sys, bregmax; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_without_torch_it_says_what_to_install():
    code = "import sys, bregmax; sys.modules['torch'] = None\nimport bregmax.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: bregmax.torch needs PyTorch: pip install bregmax[torch]" in done.stderr


def test_code_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (REPOSITORY / "docs/torch.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    session = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"docs/torch.md, block {number}", "exec"), session)


def test_the_page_names_everything():
    page = (REPOSITORY / "docs/torch.md").read_text()
    for name in bregmax.torch.__all__:
        assert name in page, name


def test_example(tmp_path):
    path = REPOSITORY / "examples/python/with_torch/images_of_digits.py"
    run = subprocess.run([sys.executable, path, "3"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr  # it asserts that the Bregman head is better
    scores = [float(score) for score in re.findall(r"Bregman (0\.\d+)", run.stdout)]
    assert len(scores) == 3 and min(scores) > 0.95
