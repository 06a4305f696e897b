"""Windows of images [batch, channels, height, width], as convolutions and pools take them."""

import torch.nn.functional as F

from .common import GRADIENTS, by_torch


def windows(size, kernel, stride, padding, dilation):
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)]


def unfold(image, size, **window):
    """PyTorch's [batch, channels x kernel, windows] with the axes taken apart and in our order."""
    batch, channels = image.shape[:2]
    across = windows(size, **window)
    columns = unfold_columns(image, **window) if batch > 0 else image.new_zeros(0)
    return columns.reshape(batch, channels, *window["kernel"], *across).permute(1, 2, 3, 0, 4, 5)


def unfold_columns(image, kernel, stride, padding, dilation):
    return F.unfold(image, kernel, dilation=dilation, padding=padding, stride=stride)


def fold(columns, kernel, stride, padding, dilation, size):
    channels, height, width, batch, down, across = columns.shape
    if batch == 0:
        return columns.reshape(0, channels, *size)
    rows = columns.permute(3, 0, 1, 2, 4, 5).reshape(batch, channels * height * width, down * across)
    return F.fold(rows, size, kernel, dilation=dilation, padding=padding, stride=stride)


def max_pool2d(x, kernel, stride, padding, dilation, size, index=False):
    return F.max_pool2d(x, kernel, stride, padding, dilation, return_indices=True)[1 if index else 0]


REFERENCES = {
    "unfold": by_torch(unfold, sums=GRADIENTS),
    "fold": by_torch(fold, sums=("output",)),
    "max_pool2d": by_torch(max_pool2d, sums=GRADIENTS),
    "max_pool2d_index": by_torch(lambda x, **window: max_pool2d(x, **window, index=True)),
}
