#!/usr/bin/env python3
"""On which curve do the steps of gated-start lie? Tables from runs.csv beside this file: python3 docs/studies/gated-start/collapse.py

A cell is a form at a scale s. Its steps are the geometric mean over seeds. A cubic in x fits their logarithms, x the logarithm of s, of
the deviation a of hidden activations (gradients of the last weights are proportional to it), or of the output's, o = s a: all known before
training. rms is the fit's error in percent; the power is that of s in gated and squared forms, beside 1 in plain ones, that fits best, with
an offset: 1.5 for o, 2 for a, 1 for s. Intervals: the middle 95 % of 500 bootstrap samples of the forms of either kind. Needs NumPy."""
import csv
import math
import os
import re
import sys

import numpy as np

erf = np.vectorize(math.erf)
FORMS = {"identity": lambda z: z, "relu": lambda z: np.maximum(z, 0), "gelu_exact": lambda z: z * (1 + erf(z / 2**0.5)) / 2,
         "silu": lambda z: z / (1 + np.exp(-z)), "relu_squared": lambda z: np.maximum(z, 0) ** 2}
PLAIN = ["identity", "relu", "gelu_exact", "silu"]
Z = np.linspace(-9, 9, 3601)


def hidden(form, z):
    """Deviation of hidden activations for pre-activations of deviation z."""
    gate = {"swiglu": "silu", "geglu": "gelu_exact"}.get(form, form)
    return (np.sum(FORMS[gate](z * Z) ** 2 * np.exp(-Z * Z / 2)) * (Z[1] - Z[0]) / (2 * np.pi) ** 0.5) ** 0.5 * (z if gate != form else 1)


def read(part, rate, measure, path):
    cells = {}
    for row in csv.DictReader(open(path)):
        m = re.fullmatch(rf"{part}-([a-z_]+)-(?:ffn-)?init-scale([\d.e-]+)-lr{rate}", row["group"])
        if m:
            cells.setdefault((m[1], float(m[2])), []).append(float(row[measure] or "nan"))
    return {key: np.exp(np.mean(np.log(steps))) for key, steps in cells.items()}


def residuals(x, t, degree=3):
    x = (x - x.mean()) / (np.ptp(x) or 1)
    return np.log(t) - np.polyval(np.polyfit(x, np.log(t), degree), x)


def power(keys, t):
    """The power of s in gated and squared forms, and their offset, whose fit is best."""
    gated, s = np.array([f not in PLAIN for f, _ in keys]), np.log([s for _, s in keys])
    grid = [(np.sum(residuals(np.where(gated, p * s + c, s), t) ** 2), p) for p in np.arange(0.4, 3.01, 0.1) for c in np.arange(-2, 3.1, 0.25)]
    return min(grid)[1]


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs.csv") if len(sys.argv) < 2 else sys.argv[1]
    random = np.random.default_rng(1)
    for part, rate, z in (("adamw", "0.008", 0.4**0.5), ("adamw", "0.016", 0.4**0.5), ("slow", "0.004", 0.4**0.5), ("muon", "0.016", 0.4**0.5),
                          ("perldiag", "0.008", 0.4**0.5), ("digits-sgd", "0.004", 1), ("digits-adamw", "0.001", 1), ("digits-muon", "0.001", 1)):
        cells = read(part, rate, "steps_to_" + {"p": "2.551", "d": "1.1513"}.get(part[0], "2.451"), path)
        keys = [key for key in cells if cells[key] > 0]
        forms, t = sorted({f for f, _ in keys}), np.array([cells[key] for key in keys])
        for f in forms:
            print(f"| {part} {rate} | {f} | " + " | ".join(f"{cells[k]:.0f}" for k in sorted(cells) if k[0] == f) + " |")
        if len(forms) < 4:
            continue
        x = {"s": [s for _, s in keys], "a": [hidden(f, s * z) for f, s in keys], "o": [s * hidden(f, s * z) for f, s in keys]}
        rms = {name: 100 * np.mean(residuals(np.log(v), t) ** 2) ** 0.5 for name, v in x.items()}
        samples = []
        for _ in range(100):
            drawn = [f for kind in (PLAIN, [f for f in forms if f not in PLAIN]) for f in random.choice([f for f in forms if f in kind], len([f for f in forms if f in kind]))]
            chosen = [k for f in drawn for k in keys if k[0] == f]
            samples.append(power(chosen, np.array([cells[k] for k in chosen])))
        print(part, rate, {k: round(v, 1) for k, v in rms.items()}, "constant", round(100 * np.std(np.log(t)), 1), "power", round(power(keys, t), 2), np.percentile(samples, [2.5, 97.5]))


main()
