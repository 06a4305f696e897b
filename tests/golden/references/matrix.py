"""Matrix products."""

import torch
import torch.nn.functional as F

from .common import EVERYTHING, by_torch


def matmul(a, b, transpose_a, transpose_b):
    return (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)


def grouped_linear(x, weight, bias=None, *, groups):
    outputs, inputs = weight.shape
    return F.linear(x, torch.block_diag(*weight.reshape(groups, outputs // groups, inputs)), bias)


REFERENCES = {
    "matmul": by_torch(matmul, sums=EVERYTHING),
    "matmul_of_any_rank": by_torch(torch.matmul, sums=EVERYTHING),
    "dot": by_torch(torch.dot, sums=EVERYTHING),
    "outer": by_torch(torch.outer, sums=EVERYTHING),
    "linear": by_torch(F.linear, sums=EVERYTHING),
    "grouped_linear": by_torch(grouped_linear, sums=EVERYTHING),
}
