"""Reductions over axes."""

import torch

from .common import EVERYTHING, GRADIENTS, by_torch


def merged(x, axes):
    """x with the axes to be reduced, a set of bits, joined to one axis; and the number of this axis."""
    chosen = [axis for axis in range(x.dim()) if axes >> axis & 1]
    first, count = (chosen or [0])[0], len(chosen)
    n = x.shape[first : first + count].numel()
    return x.reshape([*x.shape[:first], n, *x.shape[first + count :]]), first


def over_axes(reduce):
    """A reduction of adjacent axes. No sample keeps the reduced axes. The variance has a correction, too."""
    return lambda x, axes, keep: reduce(*merged(x, axes))


def variance(x, axes, keep, correction):
    together, axis = merged(x, axes)
    return together.var(dim=axis, correction=correction)


def cumsum(x, axis, reverse):
    return x.flip(axis).cumsum(axis).flip(axis) if reverse else x.cumsum(axis)


def div_or_zero(a, b):
    zero = b == 0
    return torch.where(zero, 0.0, a / torch.where(zero, 1.0, b))


def of_axes(reduce):
    """A function whose axes are a list (empty: all axes); with `keep` the reduced axes stay, with size 1."""
    return lambda x, axes, keep: reduce(x, axes or list(range(x.dim())), keep)


REFERENCES = {
    "var_over": by_torch(variance, sums=EVERYTHING),
    "norm_over": by_torch(over_axes(lambda x, axis: torch.linalg.vector_norm(x, dim=axis)), sums=GRADIENTS),
    "max_over": by_torch(over_axes(lambda x, axis: x.max(dim=axis).values)),
    "min_over": by_torch(over_axes(lambda x, axis: x.min(dim=axis).values)),
    "argmax": by_torch(over_axes(lambda x, axis: x.argmax(dim=axis))),
    "argmin": by_torch(over_axes(lambda x, axis: x.argmin(dim=axis))),
    "cumsum": by_torch(cumsum, sums=EVERYTHING),
    "div_or_zero": by_torch(div_or_zero, sums=GRADIENTS),
    "sum_over_axes": by_torch(of_axes(torch.sum), sums=EVERYTHING),
    "mean_over_axes": by_torch(of_axes(torch.mean), sums=EVERYTHING),
    "var_over_axes": by_torch(of_axes(lambda x, axes, keep: x.var(axes, keepdim=keep)), sums=EVERYTHING),
    "norm_over_axes": by_torch(
        of_axes(lambda x, axes, keep: torch.linalg.vector_norm(x, dim=axes, keepdim=keep)), sums=GRADIENTS
    ),
    "max_over_axes": by_torch(of_axes(lambda x, axes, keep: x.amax(axes, keep))),
    "min_over_axes": by_torch(of_axes(lambda x, axes, keep: x.amin(axes, keep))),
}
