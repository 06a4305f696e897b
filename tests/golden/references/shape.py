"""Elements in another order: parts, joins, indices."""

import torch

from .common import GRADIENTS, by_torch


def concat(*tensors, axis, stack):
    return torch.stack(tensors, axis) if stack else torch.cat(tensors, axis)


def slice_of(x, start, step, size):
    for axis in range(x.dim()):
        x = x.index_select(axis, start[axis] + step[axis] * torch.arange(size[axis]))
    return x


def place(x, start, step, shape, fill):
    whole = torch.full(shape, fill, dtype=torch.float64)
    numbers = torch.arange(whole.numel()).reshape(shape)
    places = slice_of(numbers, start, step, x.shape)
    return whole.reshape(-1).index_put((places.reshape(-1),), x.reshape(-1)).reshape(shape)


def with_size(shape, axis, size):
    return torch.zeros([*shape[:axis], size, *shape[axis + 1 :]], dtype=torch.float64)


def scatter_add(x, index, axis, size):
    return with_size(x.shape, axis, size).scatter_add(axis, index, x)


def index_select(x, index, axis, size):
    chosen = x.index_select(axis, index.reshape(-1))
    return chosen.reshape([*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]])


def index_add(x, index, axis, size):
    rows = x.reshape([*x.shape[:axis], index.numel(), *x.shape[axis + index.dim() :]])
    return with_size(rows.shape, axis, size).index_add(axis, index.reshape(-1), rows)


def one_hot(index, classes, dtype):
    return (index.unsqueeze(-1) == torch.arange(classes)).double()


def slice_of_range(x, axis, start, stop, step):
    """Python's own idea of a range."""
    return x.index_select(axis, torch.arange(x.shape[axis])[[*range(x.shape[axis])[start:stop:step]]])


def pad(x, list, other, fill):
    """PyTorch names the padding from the last axis on."""
    widths = [width for pair in zip(list[::-1], other[::-1]) for width in pair]
    return torch.nn.functional.pad(x, widths, value=fill)


REFERENCES = {
    "permute": by_torch(lambda x, order: x.permute(order)),
    "concat": by_torch(concat),
    "tril": by_torch(lambda x, diagonal: x.tril(diagonal)),
    "triu": by_torch(lambda x, diagonal: x.triu(diagonal)),
    "slice": by_torch(slice_of),
    "narrow": by_torch(slice_of),
    "scatter_slice": by_torch(place),
    "gather": by_torch(lambda x, index, axis, size: x.gather(axis, index), sums=GRADIENTS),
    "scatter_add": by_torch(scatter_add, sums=("output",)),
    "index_select": by_torch(index_select, sums=GRADIENTS),
    "index_add": by_torch(index_add, sums=("output",)),
    "one_hot": by_torch(one_hot),
    "slice_of_range": by_torch(slice_of_range),
    "split": by_torch(lambda x, axis, parts, number: torch.tensor_split(x, parts, axis)[number]),
    "flip": by_torch(lambda x, list, other, fill: x.flip(list or [*range(x.dim())])),
    "pad": by_torch(pad),
    "tile": by_torch(lambda x, list, other, fill: x.tile(list), sums=GRADIENTS),
    "repeat": by_torch(lambda x, list, other, fill: x.repeat_interleave(list[1], dim=list[0]), sums=GRADIENTS),
    "transpose": by_torch(lambda x, list, other, fill: x.transpose(*list)),
    "embedding": by_torch(lambda table, index: table[index], sums=GRADIENTS),
}
