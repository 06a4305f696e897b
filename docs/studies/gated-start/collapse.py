#!/usr/bin/env python3
"""What the steps in runs.csv depend on: python3 docs/studies/gated-start/collapse.py [runs.csv] prints collapse.md. docs/gated-start.md
explains the columns. Needs NumPy; shares no code with the program, which draws the same law."""
import csv
import os
import re
import sys
import warnings

import numpy as np

FILE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs.csv")
X, P = np.linspace(-9, 9, 1801), np.arange(-0.5, 2.01, 0.05)
WEIGHT = np.exp(-X * X / 2) * 0.01 / (2 * np.pi) ** 0.5
F = {"identity": lambda z: z, "relu": lambda z: np.maximum(z, 0), "relu_squared": lambda z: np.maximum(z, 0) ** 2,
     "silu": lambda z: z / (1 + np.exp(-z)), "gelu_exact": lambda z: z * np.interp(z, X, np.cumsum(WEIGHT) - WEIGHT / 2)}
GATES, PLAIN = {"swiglu": "silu", "geglu": "gelu_exact"}, ("identity", "relu", "gelu_exact", "silu")


def hidden(form, z):  # deviation of hidden activations whose pre-activations have the deviation z
    return np.sum(F[GATES.get(form, form)](z * X) ** 2 * WEIGHT) ** 0.5 * (z if form in GATES else 1)


def fit(columns, t):  # error in percent of the least squares of relative errors, and the coefficients
    best = np.linalg.lstsq(columns / t[:, None], np.ones(len(t)), rcond=None)[0]
    return 100 * np.mean((columns @ best / t - 1) ** 2) ** 0.5, best


def read():  # {(part, rate, loss): {(form, scale): steps of the seeds that all cells have}}
    parts = {}
    for row in csv.DictReader(open(FILE)):
        part, form, s, rate = re.fullmatch(r"([a-z-]+?)-([a-z_]+)-(?:ffn-)?init-scale([\d.e-]+)-lr([\d.e-]+)", row["group"]).groups()
        for loss in ("0.6", "1.1513", "2") if "model=mlp" in row["options"] else ("2.551", "2.651") if part == "perldiag" else ("2.451", "2.551"):
            parts.setdefault((part, rate, loss), {}).setdefault((form, float(s)), []).append(float(row["steps_to_" + loss] or "nan"))
    return {key: {k: v[:min(map(len, of.values()))] for k, v in of.items()} for key, of in parts.items()}


warnings.simplefilter("ignore")
random, parts = np.random.default_rng(1), read()
print("| runs | rate | loss | cells | not reached | seeds | two: p = 1 | p = 0 | curve of o | of s | each: p = 1 | p = 0 | t0 alone | c | p | forms drawn "
      "| one left out |\n" + "|---" * 17 + "|")
for (part, rate, loss), cells in parts.items():
    keys = [k for k in cells if np.all(np.isfinite(cells[k])) and k[1] >= 0.05]
    t, s, forms = np.exp([np.log(cells[k]).mean() for k in keys]), np.array([k[1] for k in keys]), list(dict.fromkeys(k[0] for k in keys))
    if len(keys) < 10 or len(set(s)) < 4:
        continue
    u = [np.exp(np.linspace(np.log(k[1]), 0, 60)) for k in keys]
    a = [np.array([hidden(k[0], x) for x in path * (1 if "-" in part else 0.4**0.5)]) for k, path in zip(keys, u)]
    ways = np.array([[np.sum(np.diff(x) * (y[1:] ** -p + y[:-1] ** -p) / 2) for p in P] for x, y in zip(u, a)])
    each, same = np.array([[k[0] == f for f in forms] for k in keys], float), np.ones((len(t), 1))
    law = lambda t0, k, rows=slice(None): fit(np.c_[t0, ways[:, k]][rows], t[rows])  # noqa: E731
    power = lambda rows: P[np.argmin([law(each, k, rows)[0] for k in range(len(P))])]  # noqa: E731
    curve = lambda x: fit(np.vander((x - x.mean()) / x.std(), 4), t)[0]  # noqa: E731
    kinds = [[f for f in forms if (f in PLAIN) == plain] for plain in (True, False)]
    drawn = [power([i for kind in kinds for f in random.choice(kind, len(kind)) for i, k in enumerate(keys) if k[0] == f]) for _ in range(100)]
    less = [power([i for i, k in enumerate(keys) if out not in k]) for out in {*forms, *s}]
    one, zero = np.argmin(abs(P - 1)), np.argmin(abs(P))
    c = min(law(each, one), law(each, zero), key=lambda of: of[0])[1][-1]
    errors = law(same, one)[0], law(same, zero)[0], curve(np.log(s * [y[0] for y in a])), curve(np.log(s)), law(each, one)[0], law(each, zero)[0], fit(each, t)[0]
    print(f"| {part} | {rate} | {loss} | {len(keys)} | {len(cells) - len(keys)} | {len(cells[keys[0]])} | " + " | ".join(f"{e:.1f}" for e in errors) +
          f" | {c:.0f} | {power(slice(None)):.2f} | {np.percentile(drawn, 2.5):.2f} to {np.percentile(drawn, 97.5):.2f} | {min(less):.2f} to {max(less):.2f} |")
print("\n| runs | beside | loss | cells | mean ratio | error |\n" + "|---" * 6 + "|")
for one, other in (("narrow 0.016", "adamw 0.008"), ("narrow 0.016", "adamw 0.016"), ("wide 0.004", "adamw 0.008"), ("wide 0.004", "slow 0.004"),
                   ("adamw 0.016", "adamw 0.008"), ("slow 0.004", "adamw 0.008")):
    for loss in ("2.451", "2.551"):
        x, y = (parts.get((*name.split(), loss), {}) for name in (one, other))
        ratio = np.exp([np.log(x[k]).mean() - np.log(y[k]).mean() for k in x if k in y and np.all(np.isfinite(x[k] + y[k]))])
        if len(ratio):
            print(f"| {one} | {other} | {loss} | {len(ratio)} | {np.exp(np.log(ratio).mean()):.2f} | {100 * np.mean((ratio - 1) ** 2) ** 0.5:.1f} |")
