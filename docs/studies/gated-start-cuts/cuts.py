#!/usr/bin/env python3
"""What the cuts change: python3 docs/studies/gated-start-cuts/cuts.py prints cuts.md, beside the same cells of gated-start. Needs pandas;
shares no code with the program."""
import pathlib

import numpy as np
import pandas as pd

here, to = pathlib.Path(__file__).resolve().parent, "steps_to_2.551"
runs = pd.concat([pd.read_csv(here.parent / "gated-start" / "runs.csv").query("lr == 0.008 and group.str.startswith('adamw-')"), pd.read_csv(here / "runs.csv")])
runs[["cut", "form", "s"]] = runs.group.str.extract(r"^(\w+)-(\w+)-ffn-init-scale([\d.]+)")
runs = runs.assign(s=runs.s.str.rstrip(".").astype(float)).pivot(index=["cut", "form", "s"], columns="seed", values=[to, "test_loss", "val_loss_2", "best_val_loss"])
CUTS = {"adamw": "none", "depth1": "1 layer", "depth8": "8 layers", "batch6": "batch 6", "batch48": "batch 48", "epsilon": "epsilon 1e-4"}


def points(values, text):
    return ", ".join("-" if pd.isna(x) else format(x, text) for x in values)


print("| cut | form | steps from s = 1/4, by seed | from 1 | as many times | least | greatest | steps more |\n" + "|---" * 8 + "|")
for cut, name in CUTS.items():
    for form in ("identity", "relu", "gelu_exact", "swiglu"):
        if (cut, form, 0.25) in runs.index:
            small, one = (runs.loc[(cut, form, s), to].dropna() for s in (0.25, 1.0))
            times, more = (small / one).dropna(), (small - one).mean()
            print(f"| {name} | {form} | {points(small, '.0f')} | {points(one, '.0f')} | {np.exp(np.log(times).mean()):.2f} | {times.min():.2f} | "
                  f"{times.max():.2f} | {more:.0f} |")

print("\n| steps | form | test loss from s = 1/8, by seed | from 1 | difference |\n" + "|---" * 5 + "|")
for cut, steps in (("adamw", "400"), ("steps1600", "1,600")):
    for form in ("relu", "swiglu"):
        if (cut, form, 0.125) in runs.index:
            small, one = (runs.loc[(cut, form, s), "test_loss"].dropna() for s in (0.125, 1.0))
            print(f"| {steps} | {form} | {points(small, '.3f')} | {points(one, '.3f')} | {(small - one).mean():.3f} |")
