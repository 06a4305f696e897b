#!/usr/bin/env python3
"""Both tables of initial-scale in docs/studies/gated-start.md from runs.csv once more: python3 docs/studies/initial-scale/pairs.py prints each line
that the page lacks, and counts. Needs pandas and SciPy; shares no code with the program, which wrote the page's tables."""
import pathlib

import numpy as np
import pandas as pd
from scipy import stats

here = pathlib.Path(__file__).resolve().parent
page = (here.parent / "gated-start.md").read_text().splitlines()
runs, cell = pd.read_csv(here / "runs.csv"), ["table", "form", "scale"]
runs[cell] = runs.group.str.extract(r"(\w+)-(\w+)-init-scale([\d.]+)-lr").astype({2: float})
runs["by"], runs["log"] = np.log(runs.best_val_loss), np.log(runs.test_loss)
rate = runs.groupby([*cell, "lr"]).by.mean().unstack().idxmin(axis=1).rename("rate")
best = runs.join(rate, on=cell).query("lr == rate").pivot(index=cell, columns="seed", values="log")
tables, forms, scales = (runs[name].unique() for name in cell)
lines = [f"| {t} | {f} | {best.shape[1]} | " + " | ".join(f"{np.exp(best.loc[t, f, s].mean()):.4f}" for s in scales) + " |" for t in tables for f in forms]
for t in tables:
    asked = [(f, s) for f in ("relu", "silu", "relu_squared", "swiglu") for s in scales]
    tests = {(f, s): stats.ttest_1samp(best.loc[t, f, s] - best.loc[t, "gelu_exact", s], 0) for f, s in asked}
    cells, corrected = {}, 0
    for rank, key in enumerate(sorted(asked, key=lambda of: tests[of].pvalue)):
        corrected = max(corrected, (len(asked) - rank) * tests[key].pvalue)
        d = best.loc[(t, *key)] - best.loc[t, "gelu_exact", key[1]]
        low, high = np.exp(stats.t.interval(0.95, len(d) - 1, d.mean(), stats.sem(d)))
        verdict = "not decided" if corrected >= 0.05 else "better" if d.mean() < 0 else "worse"
        cells[key] = f"{np.exp(d.mean()):.2f} ({low:.2f} to {high:.2f}), {verdict}"
    lines += [f"| {f} over gelu_exact | {t} | " + " | ".join(cells[f, s] for s in scales) + " |" for f, _ in asked[:: len(scales)]]
print(*(line for line in lines if line not in page), f"{sum(line in page for line in lines)} of {len(lines)} lines are in the page", sep="\n")
