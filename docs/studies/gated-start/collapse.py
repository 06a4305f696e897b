#!/usr/bin/env python3
"""What steps depend on: python3 docs/studies/gated-start/collapse.py [runs.csv] prints collapse.md. ../../gated-start.md explains it."""
import csv
import os
import re
import sys

import numpy as np

FILE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs.csv")
X = np.linspace(-9, 9, 1801)
WEIGHT = np.exp(-X * X / 2) * 0.01 / (2 * np.pi) ** 0.5
SILU, GELU = lambda z: z / (1 + np.exp(-z)), lambda z: z * np.interp(z, X, np.cumsum(WEIGHT) - WEIGHT / 2)
F = {"identity": lambda z: z, "relu": lambda z: np.maximum(z, 0), "relu_squared": lambda z: np.maximum(z, 0) ** 2, "silu": SILU,
     "gelu_exact": GELU, "swiglu": SILU, "geglu": GELU}
PLAIN, P = ("identity", "relu", "gelu_exact", "silu"), np.arange(-0.5, 2.01, 0.05)


def hidden(form, z):  # deviation of hidden activations whose pre-activations have the deviation z
    return np.sum(F[form](z * X) ** 2 * WEIGHT) ** 0.5 * (z if form.endswith("glu") else 1)


def line(d, t):  # the error in percent of t0 + c d, its t0 and c
    best = np.linalg.lstsq(np.c_[1 / t, d / t], np.ones(len(t)), rcond=None)[0]
    return 100 * np.mean(((best[0] + best[1] * d) / t - 1) ** 2) ** 0.5, *best


def cubic(x, t):
    return 100 * np.mean(np.expm1(np.polyval(np.polyfit(x - x.mean(), np.log(t), 3), x - x.mean()) - np.log(t)) ** 2) ** 0.5


def power(ways, t):
    return P[np.argmin([line(ways[:, k], t)[0] for k in range(len(P))])]


def read():  # {(part, rate, loss): {(form, scale): steps of the seeds that all cells have}}
    parts = {}
    for row in csv.DictReader(open(FILE)):
        part, form, s, rate = re.fullmatch(r"([a-z-]+?)-([a-z_]+)-(?:ffn-)?init-scale([\d.e-]+)-lr([\d.e-]+)", row["group"]).groups()
        for loss in ("1.1513",) if "model=mlp" in row["options"] else ("2.551", "2.651") if part == "perldiag" else ("2.451", "2.551"):
            parts.setdefault((part, rate, loss), {}).setdefault((form, float(s)), []).append(float(row["steps_to_" + loss] or "nan"))
    return {key: {k: v[:min(map(len, of.values()))] for k, v in of.items()} for key, of in parts.items()}


random, parts = np.random.default_rng(1), read()
print("| runs | rate | loss | cells | not reached | seeds | t0 | c | p = 1 | p = 0 | o | s | none | p | forms drawn | one left out |" + "\n|" + "---|" * 16)
for (part, rate, loss), cells in parts.items():
    keys = [k for k in cells if np.all(np.isfinite(cells[k]))]
    if len(keys) < 12:
        continue
    t, s, scale = np.exp(np.log([cells[k] for k in keys]).mean(1)), np.array([k[1] for k in keys]), 1 if "-" in part else 0.4**0.5
    u = [np.exp(np.linspace(np.log(k[1]), 0, 60)) for k in keys]
    a = [np.array([hidden(k[0], scale * x) for x in path]) for k, path in zip(keys, u)]
    ways = np.array([[np.sum(np.diff(x) * (y[1:] ** -p + y[:-1] ** -p) / 2) for p in P] for x, y in zip(u, a)])
    one, zero = (line(ways[:, np.argmin(abs(P - p))], t) for p in (1, 0))
    kinds = [list({f for f, _ in keys if (f in PLAIN) == plain}) for plain in (True, False)]
    draws = [[i for kind in map(sorted, kinds) for f in random.choice(kind, len(kind)) for i, k in enumerate(keys) if k[0] == f] for _ in range(200)]
    out = [[i for i, k in enumerate(keys) if without not in k] for without in {*sum(kinds, []), *s}]
    low, high = np.percentile([power(ways[d], t[d]) for d in draws], [2.5, 97.5])
    less = [power(ways[d], t[d]) for d in out]
    print(f"| {part} | {rate} | {loss} | {len(keys)} | {len(cells) - len(keys)} | {len(cells[keys[0]])} | {min(one, zero)[1]:.0f} | {min(one, zero)[2]:.0f} | {one[0]:.1f} | "
          f"{zero[0]:.1f} | {cubic(np.log(s * [y[0] for y in a]), t):.1f} | {cubic(np.log(s), t):.1f} | {line(0 * t, t)[0]:.1f} | {power(ways, t):.2f} | "
          f"{low:.2f} to {high:.2f} | {min(less):.2f} to {max(less):.2f} |")
print("\n| runs | beside | loss | cells | mean ratio | error |\n|---|---|---|---|---|---|")
for one, other in ((("narrow", "0.016"), ("adamw", "0.008")), (("narrow", "0.016"), ("adamw", "0.016")), (("wide", "0.004"), ("adamw", "0.008")),
                   (("wide", "0.004"), ("slow", "0.004")), (("adamw", "0.016"), ("adamw", "0.008")), (("slow", "0.004"), ("adamw", "0.008"))):
    for loss in ("2.451", "2.551"):
        a, b = parts.get((*one, loss), {}), parts.get((*other, loss), {})
        ratio = np.array([np.exp(np.nanmean(np.log(a[k])) - np.nanmean(np.log(b[k]))) for k in a if k in b])
        ratio = ratio[ratio > 0]
        if len(ratio):
            print(f"| {' '.join(one)} | {' '.join(other)} | {loss} | {len(ratio)} | {np.exp(np.log(ratio).mean()):.2f} | {100 * np.mean((ratio - 1) ** 2) ** 0.5:.1f} |")
