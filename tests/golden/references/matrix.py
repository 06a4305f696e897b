"""Matrix products."""

import torch.nn.functional as F

from .common import EVERYTHING, by_torch


def matmul(a, b, transpose_a, transpose_b):
    return (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)


REFERENCES = {
    "matmul": by_torch(matmul, sums=EVERYTHING),
    "linear": by_torch(F.linear, sums=EVERYTHING),
}
