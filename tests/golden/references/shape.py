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


REFERENCES = {
    "permute": by_torch(lambda x, order: x.permute(order)),
    "concat": by_torch(concat),
    "tril": by_torch(lambda x, diagonal: x.tril(diagonal)),
    "triu": by_torch(lambda x, diagonal: x.triu(diagonal)),
    "slice": by_torch(slice_of),
    "part": by_torch(slice_of),
    "place": by_torch(place),
    "gather": by_torch(lambda x, index, axis, size: x.gather(axis, index), sums=GRADIENTS),
    "scatter_add": by_torch(scatter_add, sums=("output",)),
    "index_select": by_torch(index_select, sums=GRADIENTS),
    "index_add": by_torch(index_add, sums=("output",)),
    "one_hot": by_torch(one_hot),
}
