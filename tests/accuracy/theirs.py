#!/usr/bin/env python3
"""How many ulp the activations of PyTorch, and the usual forms in NumPy and SciPy, are off: a table for docs/exactness.md.

    python3 tests/accuracy/theirs.py      (needs torch, scipy and the wheel that `make wheel` builds)
"""
import numpy as np
import scipy.special as sp
import tapegrad
import torch


def slope_of(f):
    def slope(x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(f(x).sum(), x)[0]
    return slope


def tanh_form(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def number(x):
    return "no number" if x == float("inf") else f"{x:.3g}"


TORCH = [("PyTorch's gelu", "gelu_exact", torch.nn.functional.gelu), ("PyTorch's gelu, tanh", "gelu_tanh", tanh_form),
         ("PyTorch's silu", "silu", torch.nn.functional.silu)]
NUMPY = [("x/2 (1 + erf(x/sqrt 2)), SciPy", "gelu_exact", lambda x: x / 2 * (1 + sp.erf(x * np.sqrt(0.5, dtype=x.dtype)))),
         ("x ndtr(x), SciPy", "gelu_exact", lambda x: x * sp.ndtr(x)), ("x / (1 + exp(-x)), NumPy", "silu", lambda x: x / (1 + np.exp(-x)))]

np.seterr(all="ignore")
for name, form, f in TORCH + NUMPY:
    is_torch = (name, form, f) in TORCH
    for like in (torch.empty(0), torch.empty(0).double()) if is_torch else (np.empty(0, "f4"), np.empty(0)):
        r = tapegrad.accuracy(f, form, derivative=slope_of(f) if is_torch else None, like=like)
        between = max(ulp for x, ulp in r.curve if abs(x) < 4)
        slope = "" if r.derivative_ulp is None else f"{number(r.derivative_ulp)} at {r.derivative_at:.4g}"
        print(f"| {name} | {r.dtype[:5] if r.dtype == 'float32' else 'double'} | {number(r.ulp)} at {r.at:.4g} | {number(between)} | {slope} |")
