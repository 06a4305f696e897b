#!/usr/bin/env python3
"""What the steps in runs.csv depend on: python3 docs/studies/gated-start/collapse.py [runs.csv] prints collapse.md. docs/studies/gated-start.md
explains the columns. Needs NumPy; shares no code with the program, which draws the same law."""
import csv
import re
import sys

import numpy as np

X, P, ONE, ZERO = np.linspace(-9, 9, 1801), np.arange(-0.5, 2.01, 0.05), 30, 10  # P[ONE] is 1, P[ZERO] 0
WEIGHT = np.exp(-X * X / 2) * 0.01 / (2 * np.pi) ** 0.5
F = {"identity": lambda z: z, "relu": lambda z: np.maximum(z, 0), "relu_squared": lambda z: np.maximum(z, 0) ** 2,
     "silu": lambda z: z / (1 + np.exp(-z)), "gelu_exact": lambda z: z * np.interp(z, X, np.cumsum(WEIGHT) - WEIGHT / 2)}
GATES, PLAIN = {"swiglu": "silu", "geglu": "gelu_exact"}, ("identity", "relu", "gelu_exact", "silu")


def hidden(form, z):  # deviation of hidden activations whose pre-activations have the deviation z
    return np.sum(F[GATES.get(form, form)](z * X) ** 2 * WEIGHT) ** 0.5 * (z if form in GATES else 1)


def fit(columns, t):  # error in percent of the least squares of relative errors, and the coefficients; of each of several sets of columns
    relative = columns / t[:, None]
    best = np.linalg.pinv(relative).sum(-1)
    return 100 * np.mean(((relative @ best[..., None])[..., 0] - 1) ** 2, -1) ** 0.5, best


parts, random = {}, np.random.default_rng(1)  # {(part, rate, loss): {(form, scale): steps of the seeds}}
for row in csv.DictReader(open(sys.argv[1] if len(sys.argv) > 1 else __file__.replace("collapse.py", "runs.csv"))):
    part, form, s, rate = re.fullmatch(r"([a-z-]+?)-([a-z_]+)-(?:ffn-)?init-scale([\d.e-]+)-lr([\d.e-]+)", row["group"]).groups()
    for loss in ("0.6", "1.1513", "2") if "model=mlp" in row["options"] else ("2.551", "2.651") if part == "perldiag" else ("2.451", "2.551"):
        parts.setdefault((part, rate, loss), {}).setdefault((form, float(s)), []).append(float(row["steps_to_" + loss] or "nan"))
print("| runs | rate | loss | cells | not reached | seeds | two: p = 1 | p = 0 | curve of o | of s | each: p = 1 | p = 0 | t0 alone | c | p | forms drawn "
      "| one left out |\n" + "|---" * 17 + "|")
for (part, rate, loss), cells in parts.items():
    keys = [k for k in cells if np.all(np.isfinite(cells[k])) and k[1] >= 0.05]
    t, s, forms = np.exp([np.log(cells[k]).mean() for k in keys]), np.array([k[1] for k in keys]), list(dict.fromkeys(k[0] for k in keys))
    if len(keys) < 10 or len(set(s)) < 4:
        continue
    u = np.exp(np.log(s)[:, None] * np.linspace(1, 0, 60))
    a = np.array([[hidden(k[0], z) for z in way] for k, way in zip(keys, u * (1 if "-" in part else 0.4**0.5))])
    ways = [np.sum(np.diff(u) * (a[:, 1:] ** -p + a[:, :-1] ** -p) / 2, 1) for p in P]
    t0 = np.array([[k[0] == f for f in forms] for k in keys], float)
    each, two = (np.dstack([[first] * len(P), ways]) for first in (t0, np.ones((len(t), 1))))
    power = lambda rows: P[np.argmin(fit(each[:, rows], t[rows])[0])]  # noqa: E731
    kinds = [[f for f in forms if (f in PLAIN) == plain] for plain in (True, False)]
    drawn = [power([i for kind in kinds for f in random.choice(kind, len(kind)) for i, k in enumerate(keys) if k[0] == f]) for _ in range(100)]
    less = [power([i for i, k in enumerate(keys) if out not in k]) for out in {*forms, *s}]
    (same, _), (own, best), curves = fit(two, t), fit(each, t), (fit(np.vander((x - x.mean()) / x.std(), 4), t)[0] for x in np.log([s * a[:, 0], s]))
    errors = same[ONE], same[ZERO], *curves, own[ONE], own[ZERO], fit(t0, t)[0]
    if np.ptp(t) > 1e-6:  # or there is nothing to explain
        print(f"| {part} | {rate} | {loss} | {len(keys)} | {len(cells) - len(keys)} | {len(cells[keys[0]])} | " +
              " | ".join(f"{e:.1f}" for e in errors) + f" | {best[min(ONE, ZERO, key=lambda k: own[k]), -1]:.0f} | {P[np.argmin(own)]:.2f} | "
              f"{np.percentile(drawn, 2.5):.2f} to {np.percentile(drawn, 97.5):.2f} | {min(less):.2f} to {max(less):.2f} |")
print("\n| runs | beside | loss | cells | mean ratio | error |\n" + "|---" * 6 + "|")
for name, beside in (("narrow 0.016", "adamw 0.008"), ("narrow 0.016", "adamw 0.016"), ("wide 0.004", "adamw 0.008"), ("wide 0.004", "slow 0.004"),
                     ("adamw 0.016", "adamw 0.008"), ("slow 0.004", "adamw 0.008")):
    for loss in ("2.451", "2.551"):
        x, y = (parts[(*of.split(), loss)] for of in (name, beside))
        ratio = np.exp([np.log(x[k]).mean() - np.log(y[k]).mean() for k in x if k in y and np.all(np.isfinite(x[k] + y[k]))])
        print(f"| {name} | {beside} | {loss} | {len(ratio)} | {np.exp(np.log(ratio).mean()):.2f} | {100 * np.mean((ratio - 1) ** 2) ** 0.5:.1f} |")
