"""Sums, products and broadcasting."""

import torch

from .common import EVERYTHING, GRADIENTS, by_torch


def full(dtype, shape, value):
    return torch.full(shape, value, dtype=[torch.float32, torch.float64, torch.int32][dtype])


def sum_over(x, axes, keep):
    """`axes` is a set of bits; a sum over no axis is x itself."""
    chosen = [axis for axis in range(x.dim()) if axes >> axis & 1]
    return x.sum(dim=chosen, keepdim=keep) if chosen else x.clone()


REFERENCES = {
    "add": by_torch(lambda a, b: a + b, sums=GRADIENTS),
    "sub": by_torch(lambda a, b: a - b, sums=GRADIENTS),
    "mul": by_torch(lambda a, b: a * b, sums=GRADIENTS),
    "div": by_torch(lambda a, b: a / b, sums=GRADIENTS),
    "mul_scalar": by_torch(lambda x, number: x * number),
    "add_scalar": by_torch(lambda x, number: x + number),
    "copy": by_torch(lambda x: x.clone()),
    "stop_gradient": by_torch(lambda x: x.detach()),
    "full": by_torch(full),
    "expand": by_torch(lambda x, shape: x.expand(shape), sums=GRADIENTS),
    "sum_over": by_torch(sum_over, sums=EVERYTHING),
    "reshape": by_torch(lambda x, shape: x.reshape(shape)),
}
