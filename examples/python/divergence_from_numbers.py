# %% [markdown]
# # Learning a divergence from numbers
#
# Sometimes the divergence of two rows can be measured, but not for all pairs. Here the measurements are
# Kullback-Leibler divergences between histograms, with 5% noise, for a tenth of the pairs. The learner is told the
# numbers only, and finds a Bregman divergence that gives them, and with it all others.

# %%
import numpy as np

import bregmax

random = np.random.default_rng(0)
histograms = random.dirichlet([2, 2, 2], size=60)
rows = histograms[:, :2]  # the third bin follows from the others
truth = bregmax.Model.closed_form("kl", 3)

pairs = np.array([(i, j) for i in range(60) for j in range(60) if i != j])
actual = truth.pair_distance(histograms[pairs[:, 0]], histograms[pairs[:, 1]])
is_measured = random.random(len(pairs)) < 0.1
measured = actual[is_measured] * random.normal(1, 0.05, size=is_measured.sum())
print(f"{is_measured.sum()} of {len(pairs)} pairs are measured")

# %% [markdown]
# Every row has its own affine piece; the maximum of all pieces is the convex function phi that generates the divergence.

# %%
learner = bregmax.BregmanTargetsLearner(preprocessor=rows).fit(pairs[is_measured], measured)
score = learner.score(pairs[~is_measured], actual[~is_measured])
print(f"R^2 on the pairs that were measured     {learner.score(pairs[is_measured], measured):.3f}")
print(f"R^2 on the pairs that were not measured {score:.3f}")
assert score > 0.98

# %% [markdown]
# A divergence is not symmetric, and what was learned is asymmetric in the same way.

# %%
learned, true = learner.divergence(rows), truth.divergence(histograms)
agreement = np.corrcoef((learned - learned.T).ravel(), (true - true.T).ravel())[0, 1]
print(f"correlation of D(i, j) - D(j, i) with the true asymmetry {agreement:.3f}")
assert agreement > 0.9

# %% [markdown]
# How far to trust it: between and around the rows that it knows. Beyond the outermost rows nothing was measured, and
# without a price on steep slopes (`lam`) the pieces there may be as steep as they like.
