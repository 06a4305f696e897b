"""Element by element: powers, comparisons and the functions of the C library."""

import math

import torch
from mpmath import mp

from .common import EVERYTHING, GRADIENTS, LEVEL, NOWHERE, RAMP, STEP, INFINITY, by_torch, exactly

expm1 = exactly(mp.expm1, ((-1, 0), (INFINITY,)))
sine = exactly(mp.sin, NOWHERE)
cosine = exactly(mp.cos, NOWHERE)
tanh = exactly(mp.tanh, LEVEL)
tanh_slope = exactly(mp.tanh, LEVEL, order=1)
sigmoid = exactly(lambda x: 1 / (1 + mp.exp(-x)), STEP)
sigmoid_slope = exactly(lambda x: 1 / (1 + mp.exp(-x)), STEP, order=1)
softplus = exactly(lambda x: mp.log1p(mp.exp(x)), RAMP)
erf = exactly(mp.erf, LEVEL)
erfc = exactly(mp.erfc, ((2, 0), (0,)))


def power(x, exponent):
    """Passes the exponent as a tensor: for the number 0.5 PyTorch takes the square root, which differs at -0 and -infinity."""
    return torch.pow(x, torch.tensor(exponent, dtype=torch.float64))


def sign(x):
    """NaN for NaN, as in NumPy."""
    return torch.where(x.isnan(), x, x.sign())


def chosen(choose):
    """The larger or smaller of two; where the result is NaN, both gradients are 0."""

    def choice(a, b):
        c = choose(a, b)
        return torch.where(c.isnan(), c.detach(), c)

    return by_torch(choice, sums=GRADIENTS)


def comparison(compare):
    return by_torch(lambda a, b: compare(a, b).double())


def erf_grad(x):
    """The derivative of erf; it and its gradient are 0 beyond 40."""
    return torch.exp(-torch.clamp(x, -40, 40) ** 2) * (2 / math.sqrt(math.pi))


REFERENCES = {
    "square": by_torch(lambda x: x**2),
    "sqrt": by_torch(torch.sqrt),
    "rsqrt": by_torch(torch.rsqrt),
    "power": by_torch(power),
    "pow": by_torch(torch.pow, sums=GRADIENTS),
    "abs": by_torch(torch.abs),
    "sign": by_torch(sign),
    "clamp": by_torch(lambda x, low, high: x.clamp(low, high)),
    "less": comparison(torch.lt),
    "less_equal": comparison(torch.le),
    "greater": comparison(torch.gt),
    "greater_equal": comparison(torch.ge),
    "equal": comparison(torch.eq),
    "not_equal": comparison(torch.ne),
    "maximum": chosen(torch.maximum),
    "minimum": chosen(torch.minimum),
    "where": by_torch(lambda condition, a, b: torch.where(condition != 0, a, b), sums=GRADIENTS),
    "exp": by_torch(torch.exp),
    "expm1": by_torch(expm1),
    "log": by_torch(torch.log),
    "log1p": by_torch(torch.log1p),
    "sin": by_torch(sine, sums=EVERYTHING),
    "cos": by_torch(cosine, sums=EVERYTHING),
    "tanh": by_torch(tanh),
    "tanh_grad": by_torch(lambda a, x: a * tanh_slope(x), sums=GRADIENTS),
    "sigmoid": by_torch(sigmoid),
    "sigmoid_grad": by_torch(lambda a, x: a * sigmoid_slope(x), sums=GRADIENTS),
    "softplus": by_torch(softplus),
    "erf": by_torch(erf, sums=GRADIENTS),
    "erfc": by_torch(erfc, sums=GRADIENTS),
    "erf_grad": by_torch(erf_grad),
}
