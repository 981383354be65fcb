# %% [markdown]
# # A convolutional network with a Bregman head
#
# A small convolutional network learns to put images of digits near those of the same digit. Its twin, with the same
# layers, batches and loss, measures with the squared Euclidean distance of the outputs, as is usual; here a learned Bregman
# divergence takes its place. Both are scored on a third of the images, which they have not seen.
#
# The number of divisions into thirds can be given: `python images_of_digits.py 1`.

# %%
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import bregmax
from bregmax.torch import BregmanHead, labels_loss

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
OUTPUTS, STEPS, BATCH = 16, 300, 256

# %% [markdown]
# With outputs four times as large, the distances of the twin are on the scale that the loss wants. (Of 1, 2, 4 and 8 times,
# 4 was best for it.) The head has its own scale, that of its slopes.


# %%
class SquaredEuclidean(torch.nn.Module):
    def forward(self, rows):
        rows = 4 * rows
        squares = rows.square().sum(dim=1)
        return squares[:, None] + squares - 2 * (rows @ rows.T)


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 2 * 2, OUTPUTS),
    )


def train(images, labels, make_head, seed):
    torch.manual_seed(seed)
    layers, head = network(), make_head()
    optimiser = torch.optim.AdamW([*layers.parameters(), *head.parameters()], lr=3e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    batches = torch.Generator().manual_seed(seed)
    for _ in range(STEPS):
        batch = torch.randint(len(images), (BATCH,), generator=batches)
        loss = labels_loss(head(layers(images[batch])), labels[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return layers, head


# %% [markdown]
# Each test image ranks all others by D; the precision at each image of its digit is averaged.


# %%
def average_precision(divergences, classes):
    divergences = divergences.copy()
    np.fill_diagonal(divergences, -1.0)  # an image itself comes first, and is left out
    order = np.argsort(divergences, axis=1, kind="stable")[:, 1:]
    relevant = classes[order] == classes[:, None]
    precisions = np.cumsum(relevant, axis=1) / np.arange(1, order.shape[1] + 1)
    return np.mean((precisions * relevant).sum(axis=1) / relevant.sum(axis=1))


digits = load_digits()
images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
labels = torch.tensor(digits.target)

# %% [markdown]
# `to_bregmax` makes a model of the outputs that the command line and C++ can use as well: save it by
# `model.save("digits.bregmax")`, and the outputs of the network by `numpy.save`.

# %%
torch.set_num_threads(1)  # the products are small
scores = []
for run in range(RUNS):
    seen, new = train_test_split(np.arange(len(labels)), test_size=1 / 3, stratify=digits.target, random_state=run)
    of_run = []
    for make_head in (SquaredEuclidean, lambda: BregmanHead(OUTPUTS, pieces=200)):
        layers, head = train(images[seen], labels[seen], make_head, run)
        with torch.no_grad():
            outputs = layers(images[new]).double().numpy()
        if isinstance(head, BregmanHead):
            model = head.to_bregmax()
        else:
            model = bregmax.Model.closed_form("squared_euclidean", OUTPUTS)
        of_run.append(average_precision(model.divergence(outputs), digits.target[new]))
    scores.append(of_run)
    print(f"run {run}: mean average precision of new images: Euclidean {of_run[0]:.4f}, Bregman {of_run[1]:.4f}", flush=True)

euclidean, bregman = np.mean(scores, axis=0)
print(f"mean of {RUNS}: Euclidean twin {euclidean:.4f}, Bregman head {bregman:.4f}")
assert bregman > euclidean
