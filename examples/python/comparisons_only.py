# %% [markdown]
# # Comparisons only
#
# Nobody gave labels. All that is known are answers to questions of the kind "is i more like j, or more like l?".
# Here the answers come from a rule that the learner does not see: how the colours of two swatches differ when seen,
# where differences in green count most and those in blue least.

# %%
import numpy as np

import bregmax

random = np.random.default_rng(0)
colours = random.uniform(0, 255, size=(40, 3))


def seen_difference(i, j):
    return ((colours[i] - colours[j]) ** 2 * [0.3, 0.6, 0.1]).sum(axis=-1)


questions = random.integers(len(colours), size=(600, 3))
questions = questions[(np.diff(np.sort(questions), axis=1) > 0).all(axis=1)]
i, j, l = questions.T
swap = seen_difference(i, j) > seen_difference(i, l)
answers = np.where(swap[:, None], questions[:, [0, 2, 1]], questions)  # now always: i is more like the second

# %% [markdown]
# A triplet (i, j, l) says D(i, j) <= D(i, l). Some are kept back, to see whether the divergence answers them.

# %%
learn, ask = answers[:300], answers[300:]
learner = bregmax.BregmanComparisonsLearner(preprocessor=colours).fit(learn)
euclidean = bregmax.Model.closed_form("squared_euclidean", 3)
right_by_distance = euclidean.pair_distance(colours[ask[:, 0]], colours[ask[:, 1]]) < euclidean.pair_distance(
    colours[ask[:, 0]], colours[ask[:, 2]]
)
print(f"method {learner.method_}")
print(f"questions answered right: learned {learner.score(ask):.3f}, Euclidean {right_by_distance.mean():.3f}")
assert learner.score(ask) > 0.75

# %% [markdown]
# The model ranks rows that nobody was asked about.

# %%
new = np.array([[200.0, 30.0, 30.0]])
rows, divergences = learner.rank(new, colours, top=3)
print("most like a strong red:", colours[rows[0]].round().astype(int).tolist())
