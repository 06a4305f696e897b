"""Windows of images [batch, channels, height, width], as convolutions and pools take them."""

import torch
import torch.nn.functional as F

from .common import EVERYTHING, GRADIENTS, by_torch


def windows(size, kernel, stride, padding, dilation):
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)]


def unfold(image, size, **window):
    """PyTorch's unfold, [batch, channels x kernel, windows], with its axes split and in our order."""
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


def conv2d(x, weight, bias=None, *, kernel, stride, padding, dilation, size, groups):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


def conv2d_grad_image(cotangent, weight, kernel, stride, padding, dilation, size, groups):
    """The transposed convolution; rows and columns that no window reaches are added as zeros."""
    unread = [(n + 2 * p - d * (k - 1) - 1) % s for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)]
    return F.conv_transpose2d(cotangent, weight, None, stride, padding, unread, groups, dilation)


def conv2d_grad_weight(cotangent, image, kernel, stride, padding, dilation, size, groups):
    batch, outputs = cotangent.shape[:2]
    channels = image.shape[1] // groups
    if batch == 0:
        return (cotangent.sum() + image.sum()) * image.new_zeros(outputs, channels, *kernel)
    columns = unfold_columns(image, kernel, stride, padding, dilation).reshape(batch, groups, channels * kernel[0] * kernel[1], -1)
    rows = cotangent.reshape(batch, groups, outputs // groups, -1)
    return torch.einsum("ngop,ngkp->gok", rows, columns).reshape(outputs, channels, *kernel)


def max_pool2d(x, kernel, stride, padding, dilation, size, index=False):
    return F.max_pool2d(x, kernel, stride, padding, dilation, return_indices=True)[1 if index else 0]


def of_settings(function, dimensions, pool):
    """Calls a function with PyTorch's arguments, made from our settings, where 0 stands for the default."""

    def call(*x, groups, **settings):
        def pair(name, default):
            values = (settings[f"{name}_height"], settings[f"{name}_width"])[:dimensions]
            return tuple(value or default for value in values)

        kernel = pair("kernel", 1)
        default_stride = kernel if pool else (1, 1)
        stride = tuple(s or d for s, d in zip(pair("stride", 0), default_stride))
        padding, dilation = pair("padding", 0), pair("dilation", 1)
        if pool:
            return function(*x, kernel, stride, padding)
        bias = x[2] if len(x) == 3 else None
        return function(x[0], x[1], bias, stride, padding, dilation, groups or 1)

    return by_torch(call, sums=EVERYTHING)


REFERENCES = {
    "unfold": by_torch(unfold, sums=GRADIENTS),
    "fold": by_torch(fold, sums=("output",)),
    "conv2d": by_torch(conv2d, sums=EVERYTHING),
    "conv2d_grad_image": by_torch(conv2d_grad_image, sums=EVERYTHING),
    "conv2d_grad_weight": by_torch(conv2d_grad_weight, sums=EVERYTHING),
    "conv1d": of_settings(F.conv1d, 1, pool=False),
    "average_pool2d": of_settings(F.avg_pool2d, 2, pool=True),
    "average_pool1d": of_settings(F.avg_pool1d, 1, pool=True),
    "max_pool2d_of_settings": of_settings(F.max_pool2d, 2, pool=True),
    "max_pool1d": of_settings(F.max_pool1d, 1, pool=True),
    "max_pool2d": by_torch(max_pool2d, sums=GRADIENTS),
    "max_pool2d_index": by_torch(lambda x, **window: max_pool2d(x, **window, index=True)),
}
