"""What people ask about gradient checks, each remade as a small function, and what five checkers say: the tables of docs/gradcheck.md.

    python3 tests/gradcheck/threads.py BUILD [PYTHON-WITH-TORCH] [PYTHON-WITH-JAX]

All at their default settings, in double. SciPy's check_grad gives an absolute error, which counts as wrong from 1e-6 on; the gradient of
numdifftools counts as contradicting where it differs by 1e-6 of the largest element. tapegrad is also told what the thread knows.
"""
import json
import math
import os
import subprocess
import sys
import time
import zlib

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(1)
noise = lambda x: zlib.crc32(np.ascontiguousarray(x).tobytes()) / 2**31 - 1


def kepler(x, tolerance):
    e, before = x, np.inf
    while abs(e - before) > tolerance:
        before, e = e, x + 0.6 * np.sin(e)
    return e


def soft(x):
    p = np.exp(x - x.max())
    return p / p.sum()


A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])
c3 = np.array([0.3, -0.7, 1.1])
big = 1 + rng.random(200)
unit = lambda q: q / np.sqrt((q * q).sum())
q0 = unit(np.array([0.5, -0.5, 0.7, 0.1]))
many, weights = rng.normal(size=1000), rng.normal(size=1000)
M, v64 = rng.normal(size=(64, 32)), rng.normal(size=64)
cdf, pdf = lambda z: 0.5 * math.erfc(-z / math.sqrt(2)), lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def equilibrium(x):
    """p = H(a + b H(c + d p)), H the normal distribution, by Newton's steps until one is at most the root of the rounding, and dp/dx."""
    a, b, c, d = x
    p, step = 0.5, 1.0
    while abs(step) > 1.5e-8:
        inner = c + d * p
        outer = a + b * cdf(inner)
        slope = pdf(inner) * pdf(outer) * b * d
        step = (cdf(outer) - p) / (1 - slope)
        p += step
    inner = c + d * p
    outer = a + b * cdf(inner)
    by_inner = pdf(outer) * b * pdf(inner)
    return p, np.array([pdf(outer), pdf(outer) * cdf(inner), by_inner, by_inner * p]) / (1 - by_inner * d)


def radiance(x, clamp=-np.inf):
    """Of layers that absorb and emit, seen from above; an absorber below the clamp counts as the clamp. And its gradient."""
    absorbed, warm = np.maximum(x[:4], clamp), x[4:]
    above = np.exp(-np.concatenate([[0], np.cumsum(absorbed)]))
    weight = above[:-1] - above[1:]
    later = np.array([above[k + 1] * warm[k] - (weight[k + 1:] * warm[k + 1:]).sum() for k in range(4)])
    return weight @ warm, np.concatenate([later, weight])


stencil = lambda x: x[2:] * 0.5 - x[:-2] * 0.25 + x[1:-1]


def stencil_adjoint(v, n, first=0):
    """Of an inner range only, if `first` is 1: the ends are never written."""
    g = np.zeros(n)
    g[2:] += 0.5 * v
    g[:-2] -= 0.25 * v
    g[1:-1] += v
    g[:first] = g[n - first:] = 0
    return g


def digamma(z):
    """By steps to 12 and the asymptotic series, to 1e-15."""
    below = 0.0
    while z < 12:
        below, z = below - 1 / z, z + 1
    w = 1 / (z * z)
    return below + math.log(z) - 0.5 / z - w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))


def beta_density(x):
    """The logarithm of the beta distribution's density, by its parameters a and b, and where; and its gradient."""
    a, b, z = x
    if not (a > 0 and b > 0 and 0 < z < 1):
        raise ValueError("outside of the domain")
    both = digamma(a + b)
    return ((a - 1) * math.log(z) + (b - 1) * math.log1p(-z) - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b),
            np.array([math.log(z) - digamma(a) + both, math.log1p(-z) - digamma(b) + both, (a - 1) / z - (b - 1) / (1 - z)]))


sky = np.array([0.02, 0.3, 0.7, 0.4, 2.1, 2.4, 2.7, 2.9])

# What it is; is the gradient right; f, gradient, x; what the thread knows.
cases = [
    ("a coefficient of 2e4 beside a field of 1, solved to 1e-9 (tesseract-core 706, 713)", True, lambda x: (x[0] / 2e4 * x[1] ** 2 + x[1]) * (1 + 1e-9 * noise(x)), lambda x: np.array([x[1] ** 2 / 2e4, 2 * x[0] / 2e4 * x[1] + 1]), [2.1e4, 0.8], {"value_rtol": 1e-9}),
    ("the same, 3 % off in one term", False, lambda x: (x[0] / 2e4 * x[1] ** 2 + x[1]) * (1 + 1e-9 * noise(x)), lambda x: np.array([1.03 * x[1] ** 2 / 2e4, 2 * x[0] / 2e4 * x[1] + 1]), [2.1e4, 0.8], {"value_rtol": 1e-9}),
    ("a solver that converges to 1e-9 (tesseract-core 740)", True, lambda x: kepler(x[0], 1e-9) * x[1], lambda x: np.array([x[1] / (1 - 0.6 * np.cos(kepler(x[0], 1e-9))), kepler(x[0], 1e-9)]), [1.1, 2.0], {"value_rtol": 1e-9}),
    ("the same, 3 % off in one term (tesseract-core 740)", False, lambda x: kepler(x[0], 1e-9) * x[1], lambda x: np.array([1.03 * x[1] / (1 - 0.6 * np.cos(kepler(x[0], 1e-9))), kepler(x[0], 1e-9)]), [1.1, 2.0], {"value_rtol": 1e-9}),
    ("a solver stopped at 1e-5 (tesseract-core 749)", True, lambda x: kepler(x[0], 1e-5) * x[1], lambda x: np.array([x[1] / (1 - 0.6 * np.cos(kepler(x[0], 1e-12))), kepler(x[0], 1e-12)]), [1.1, 2.0], {"value_rtol": 1e-5}),
    ("values with noise of 1e-6 (tesseract-core 749)", True, lambda x: (x @ A @ x) * (1 + 1e-6 * noise(x)), lambda x: 2 * A @ x, c3, {"value_rtol": 1e-6}),
    ("the same, 3 % off", False, lambda x: (x @ A @ x) * (1 + 1e-6 * noise(x)), lambda x: 2.06 * A @ x, c3, {"value_rtol": 1e-6}),
    ("a small gradient, twice as large as it should be (scipy 7766)", False, lambda x: 1e-8 * (x @ x), lambda x: 4e-8 * x, c3, {}),
    ("a large gradient (scipy 7766)", True, lambda x: 1e8 * (x ** 4).sum(), lambda x: 4e8 * x ** 3, c3, {}),
    ("a large gradient, off by 1e-3", False, lambda x: 1e8 * (x ** 4).sum(), lambda x: 4.004e8 * x ** 3, c3, {}),
    ("a sum of squared differences at 200 inputs (nlopt 328)", True, lambda x: ((x - 0.5) ** 2).sum(), lambda x: 2 * (x - 0.5), np.arange(1.0, 201), {}),
    ("the same, one element off by 1e-2", False, lambda x: ((x - 0.5) ** 2).sum(), lambda x: 2 * (x - 0.5) * np.where(np.arange(200) == 77, 1.01, 1), np.arange(1.0, 201), {}),
    ("a unit quaternion that must stay one (ceres-solver 917)", True, lambda q: q[0] * q[1] if abs(q @ q - 1) < 1e-9 else float("nan"), lambda q: np.array([q[1], q[0], 0, 0]) + 3 * q, q0, {"project": unit}),
    ("the same, 1 % off along it", False, lambda q: q[0] * q[1] if abs(q @ q - 1) < 1e-9 else float("nan"), lambda q: np.array([q[1], 1.01 * q[0], 0, 0]) + 3 * q, q0, {"project": unit}),
    ("steps chosen for another scale: x near 1e-6 (ceres-solver 1206)", True, lambda x: np.sin(1e6 * x).sum(), lambda x: 1e6 * np.cos(1e6 * x), 1e-6 * c3, {}),
    ("central differences of a steep function (ceres-solver 554)", True, lambda x: np.exp(20 * x).sum(), lambda x: 20 * np.exp(20 * x), c3, {}),
    ("the same, off by 1e-4", False, lambda x: np.exp(20 * x).sum(), lambda x: 20.002 * np.exp(20 * x), c3, {}),
    ("an input of 3e5 beside one of 1 (jax-gcm 820)", True, lambda x: np.sin(x[0] / 1e5) * x[1], lambda x: np.array([np.cos(x[0] / 1e5) / 1e5 * x[1], np.sin(x[0] / 1e5)]), [3.1e5, 0.8], {}),
    ("the same, nothing arrives at the large one (jax-gcm 820)", False, lambda x: np.sin(x[0] / 1e5) * x[1], lambda x: np.array([0, np.sin(x[0] / 1e5)]), [3.1e5, 0.8], {}),
    ("a logarithm that fails below 0", True, lambda x: np.log(x).sum(), lambda x: 1 / x, [1e-7, 2.0], {"low": 0.0}),
    ("a square root at its bound beside others", True, lambda x: (x ** 1.5).sum(), lambda x: 1.5 * x ** 0.5, [0.0, 2.0], {"low": 0.0}),
    ("a divergence of a softmax from itself", True, lambda x: float((soft(x) * (np.log(soft(x)) - np.log(soft(c3)))).sum()), lambda x: soft(x) * (np.log(soft(x)) - np.log(soft(c3)) - (soft(x) * (np.log(soft(x)) - np.log(soft(c3)))).sum()), c3, {}),
    ("an absolute value beside its kink, at 1e-7", True, lambda x: np.abs(x).sum(), np.sign, [1e-7, -0.4], {}),
    ("the same with the sign of the other side", False, lambda x: np.abs(x).sum(), lambda x: np.array([-1.0, -1.0]), [1e-7, -0.4], {}),
    ("a mean without its division", False, lambda x: (x ** 2).mean(), lambda x: 2 * x, c3, {}),
    ("a product of 200 numbers, whose gradient divides by each: NaN where one is 0", True, lambda x: float(np.prod(x / 1.5)), lambda x: np.prod(x / 1.5) / x, big, {"here_only": True}),
    ("a tail of 1e-30", True, lambda x: np.exp(-x).sum(), lambda x: -np.exp(-x), [69.0, 70.0], {}),
    ("a linear map of 32 numbers to 64 (tesseract-core 687)", True, lambda x: v64 @ (M @ x), lambda x: M.T @ v64, many[:32], {}),
    ("numbers that have nothing to do with the gradient (Ipopt 737)", False, lambda x: np.exp(-x * x).sum() / 10, lambda x: np.array([-9.17, -0.91, 6.7]), c3, {}),
    ("1,000 inputs, along random directions (scipy 10888)", True, lambda x: np.tanh(weights * x).sum(), lambda x: weights / np.cosh(weights * x) ** 2, many, {"directions": 3}),
    ("the same, one element 5 % off (scipy 10888, jax 3130)", False, lambda x: np.tanh(weights * x).sum(), lambda x: weights / np.cosh(weights * x) ** 2 * np.where(np.arange(1000) == 77, 1.05, 1), many, {"directions": 3}),
    ("c + r sin(phi + a) with the other sign (scipy 2993, 6992)", False, lambda a: (1 + np.sin(np.pi / 12 + a)).sum(), lambda a: -np.cos(np.pi / 12 + a), c3, {}),
    ("an equilibrium found by Newton's steps to 1.5e-8 (Mooncake 764)", True, lambda x: equilibrium(x)[0], lambda x: equilibrium(x)[1], [0.2, 0.8, -0.3, 0.9], {}),
    ("the same without what the fixed point adds", False, lambda x: equilibrium(x)[0], lambda x: equilibrium(x)[1] * 0.8, [0.2, 0.8, -0.3, 0.9], {}),
    ("radiance of absorbing layers (CRTMv3 280)", True, lambda x: radiance(x)[0], lambda x: radiance(x)[1], sky, {}),
    ("the same with a clamp that its derivative lacks (CRTMv3 367)", False, lambda x: radiance(x, 0.05)[0], lambda x: radiance(x, 0.05)[1], sky, {}),
    ("rain, whose adjoint is scaled by 1e-3 twice too often (WRF 2356)", False, lambda x: x[0] * x[1] + 5.4 * (x[2] * 1e3) ** 0.125 * x[0], lambda x: np.array([x[1] + 5.4 * (x[2] * 1e3) ** 0.125, x[0], 5.4e3 * 0.125 * (x[2] * 1e3) ** -0.875 * x[0] * 1e-6]), [7.0, 0.5, 2e-3], {"low": 0.0}),
    ("an adjoint that never writes the ends of its range (ectrans 242)", False, lambda x: v64[:30] @ stencil(x), lambda x: stencil_adjoint(v64[:30], 32, 1), many[:32], {}),
    ("the same, written to the ends", True, lambda x: v64[:30] @ stencil(x), lambda x: stencil_adjoint(v64[:30], 32), many[:32], {}),
    ("values that differ from call to call by 1e-12 (pytorch 2710)", True, lambda x: np.sin(x).sum() * (1 + 1e-12 * rng.uniform(-1, 1)), np.cos, c3, {"value_rtol": 1e-12}),
    ("the same, 3 % off", False, lambda x: np.sin(x).sum() * (1 + 1e-12 * rng.uniform(-1, 1)), lambda x: 1.03 * np.cos(x), c3, {"value_rtol": 1e-12}),
    ("a tail of 1e-30, 10 % off", False, lambda x: np.exp(-x).sum(), lambda x: -1.1 * np.exp(-x), [69.0, 70.0], {}),
    ("a derivative of 7e-8 beside a residual of 0.56 (ceres-solver 225)", True, lambda x: 0.555855 + x[0] ** 2 * x[1], lambda x: np.array([2 * x[0] * x[1], x[0] ** 2]), [0.263672, 1.35e-7], {}),
    ("the same, 2.6 times as large", False, lambda x: 0.555855 + x[0] ** 2 * x[1], lambda x: np.array([5.2 * x[0] * x[1], x[0] ** 2]), [0.263672, 1.35e-7], {}),
    ("a density beside the end of its domain, behind which it raises (StatsFuns 215)", True, lambda x: beta_density(x)[0], lambda x: beta_density(x)[1], [1.3, 4e-3, 0.6], {"low": 0.0}),
    ("the same, 1 % off in one term", False, lambda x: beta_density(x)[0], lambda x: beta_density(x)[1] * [1, 1.01, 1], [1.3, 4e-3, 0.6], {"low": 0.0}),
]


class Counted:
    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, *x):
        self.calls += 1
        return self.f(*x)


def by_scipy(f, g, x, known):
    from scipy.optimize import check_grad
    return check_grad(f, g, x) < 1e-6


def by_numdifftools(f, g, x, known):
    import numdifftools
    found, own = np.atleast_1d(numdifftools.Gradient(f)(x)), g(x)
    return bool(np.abs(found - own).max() <= 1e-6 * np.abs(own).max())


def by_tapegrad(f, g, x, known):
    import tapegrad
    result = tapegrad.gradcheck(lambda x: float(f(x)), g, x, **known)
    return None if result.status == "cannot tell" else result.passed


def by_plain_tapegrad(f, g, x, known):
    return by_tapegrad(f, g, x, {})


def by_torch(f, g, x, known):
    import torch

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return torch.tensor(float(f(x.detach().numpy())), dtype=torch.float64)

        @staticmethod
        def backward(context, v):
            return v * torch.tensor(g(context.saved_tensors[0].detach().numpy()))

    return torch.autograd.gradcheck(Own.apply, (torch.tensor(x, requires_grad=True),), raise_exception=False)


def by_jax(f, g, x, known):
    import jax
    jax.config.update("jax_enable_x64", True)
    from jax.test_util import check_grads
    call = lambda f, x, like: jax.pure_callback(lambda x: np.asarray(f(np.asarray(x)), np.float64), like, x)
    own = jax.custom_vjp(lambda x: call(f, x, jax.ShapeDtypeStruct((), np.float64)))
    own.defvjp(lambda x: (own(x), x), lambda x, v: (v * call(g, x, jax.ShapeDtypeStruct(x.shape, np.float64)),))
    try:
        check_grads(own, (jax.numpy.asarray(x),), order=1, modes=["rev"])
        return True
    except AssertionError:
        return False


def run(check):
    rows = []
    for _, _, f, g, x, known in cases:
        f, g, x = Counted(f), Counted(g), np.array(x, np.float64)
        begin = time.perf_counter()
        with np.errstate(all="ignore"):
            try:
                says = check(f, g, x, known)
            except Exception as error:
                says = type(error).__name__
        rows.append((says if says is None or isinstance(says, str) else bool(says), f.calls + g.calls, time.perf_counter() - begin))
    return rows


def main():
    if sys.argv[1] in ("torch", "jax"):
        run({"torch": by_torch, "jax": by_jax}[sys.argv[1]])  # warm: what is imported and compiled is not timed
        return print(json.dumps(run({"torch": by_torch, "jax": by_jax}[sys.argv[1]])))
    build, pythons = sys.argv[1], dict(zip(("torch", "jax"), sys.argv[2:]))
    sys.path.insert(0, os.path.join(here, "../../examples/gradcheck"))
    os.environ["TAPEGRAD_LIBRARY"] = os.path.join(os.path.abspath(build), "libtapegrad.so")
    columns = {"tapegrad": run(by_plain_tapegrad), "tapegrad, told": run(by_tapegrad), "SciPy": run(by_scipy), "numdifftools": run(by_numdifftools)}
    for name, python in pythons.items():
        columns[{"torch": "PyTorch", "jax": "JAX"}[name]] = json.loads(subprocess.run([python, __file__, name], stdout=subprocess.PIPE, check=True).stdout)
    words = lambda says: "passed" if says is True else "wrong" if says is False else "cannot tell" if says is None else says
    mark = lambda says, right: words(says) if says is None or says is right else f"**{words(says)}**"
    print("| function | its gradient | " + " | ".join(columns) + " |\n|---" * 1 + "|---" * (1 + len(columns)) + "|")
    for i, (what, right, *_) in enumerate(cases):
        print(f"| {what} | {'right' if right else 'wrong'} | " + " | ".join(mark(rows[i][0], right) for rows in columns.values()) + " |")
    print("\n| function | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for i in (2, 3, 7, 8, 10, 11, 15, 17, 24, 26):
        print(f"| {cases[i][0]} | " + " | ".join(f"{rows[i][1]}, {1e3 * rows[i][2]:.1f} ms" for rows in columns.values()) + " |")


main()
