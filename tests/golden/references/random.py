"""Random numbers: Philox 4x32-10 (Salmon et al., 2011) under the key {stream[0], stream[1]}, where element i takes word i % 4
at the counter {i / 4, stream[2], stream[3]}."""

import math

import torch
from mpmath import mp

from .common import by_torch

MASK = 2**32 - 1


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(stream, count):
    s = [int(word) & MASK for word in stream]
    blocks = [philox((block & MASK, block >> 32, s[2], s[3]), s[:2]) for block in range((count + 3) // 4)]
    return [word for block in blocks for word in block][:count]


def as_tensor(numbers, shape):
    return torch.tensor(numbers, dtype=torch.float64).reshape(tuple(shape))


def random_uniform(stream, dtype, shape, low, high):
    return as_tensor([low + (high - low) * word / 2**32 for word in words(stream, math.prod(shape))], shape)


def random_normal(stream, dtype, shape, mean, deviation):
    """Two words make two numbers (Box and Muller, 1958): the radius from the first, the angle from the second."""
    count, numbers = math.prod(shape), []
    drawn = words(stream, count + count % 2)
    for first, second in zip(drawn[::2], drawn[1::2]):
        radius, angle = mp.sqrt(-2 * mp.log(mp.mpf(first + 1) / 2**32)), 2 * mp.pi * second / 2**32
        numbers += [mean + deviation * float(radius * mp.cos(angle)), mean + deviation * float(radius * mp.sin(angle))]
    return as_tensor(numbers[:count], shape)


def dropout(x, stream, drop):
    uniform = as_tensor([word / 2**32 for word in words(stream, x.numel())], x.shape)
    return torch.where(uniform < 1 - drop, x / (1 - drop), 0.0) if drop < 1 else 0 * x


def stochastic_gate(x, p, stream):
    uniform = as_tensor([word / 2**32 for word in words(stream, x.numel())], x.shape)
    return torch.where(uniform < p, x, 0.0)


def stochastic_gelu(x, stream):
    return stochastic_gate(x, torch.special.ndtr(x.detach()), stream)


REFERENCES = {
    "random_uniform": by_torch(random_uniform),
    "random_normal": by_torch(random_normal),
    "dropout": by_torch(dropout),
    "stochastic_gate": by_torch(stochastic_gate),
    "stochastic_gelu": by_torch(stochastic_gelu),
}
