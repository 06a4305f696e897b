"""Normalised rows, and attention's softmax."""

import torch
import torch.nn.functional as F

from .common import EVERYTHING, GRADIENTS, by_torch


def normalize(x, centred, epsilon):
    """Written out: F.layer_norm leaves a rounding error of the mean in rows of one element, and has no third derivative."""
    deviation = x - x.mean(dim=-1, keepdim=True) if centred else x
    return deviation / torch.sqrt((deviation**2).mean(dim=-1, keepdim=True) + epsilon)


def normalize_grad(cotangent, x, centred, epsilon):
    return torch.autograd.grad(normalize(x, centred, epsilon), x, cotangent, create_graph=True)[0]


def normalize_channels(x, weight, bias, centred, epsilon):
    deviation = x - x.mean(dim=(0, 2), keepdim=True)
    u = deviation / torch.sqrt((deviation**2).mean(dim=(0, 2), keepdim=True) + epsilon)
    return u * weight[:, None] + bias[:, None]


def normalize_channels_grad(cotangent, x, weight, centred, epsilon):
    inputs = (x, weight, torch.zeros_like(weight, requires_grad=True))
    y = normalize_channels(*inputs, centred, epsilon)
    return torch.cat([g.flatten() for g in torch.autograd.grad(y, inputs, cotangent, create_graph=True)])


def channel_moments(x):
    return torch.stack([x.mean(dim=(0, 2)), x.var(dim=(0, 2), correction=1)])


def causal_softmax(x):
    """Masked positions are 0. A row whose visible elements are all -infinity is 0 everywhere."""
    seen = torch.ones_like(x).tril() > 0
    scores = torch.where(seen, x, -torch.inf)
    dead = torch.isneginf(scores).all(dim=-1, keepdim=True)
    return torch.where(seen & ~dead, torch.softmax(torch.where(dead, 0.0, scores), dim=-1), 0.0)


def logsumexp(x, axes, keep):
    """All samples reduce the last axis, and do not keep it."""
    dead = torch.isneginf(x).all(dim=-1)
    return torch.where(dead, -torch.inf, torch.logsumexp(torch.where(dead.unsqueeze(-1), 0.0, x), dim=-1))


def layer_norm(x, weight=None, bias=None, *, epsilon, groups):
    return F.layer_norm(x, x.shape[-1:], weight, bias, epsilon)


def rms_norm(x, weight=1.0, *, epsilon, groups):
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + epsilon) * weight


def batch_norm(x, weight=None, bias=None, *, epsilon, groups):
    return F.batch_norm(x, None, None, weight, bias, training=True, eps=epsilon)


def batch_norm_with(x, mean, variance, weight=None, bias=None, *, epsilon, groups):
    """Written out: F.batch_norm has no gradients of the mean and the variance."""
    mean, variance, weight, bias = (
        None if v is None else v.reshape(-1, *[1] * (x.dim() - 2)) for v in (mean, variance, weight, bias)
    )
    y = (x - mean) / torch.sqrt(variance + epsilon)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def group_norm(x, weight=None, bias=None, *, epsilon, groups):
    return F.group_norm(x, groups, weight, bias, epsilon)


def attention(query, key, value, mask=None, *, causal):
    """A fully masked position gives zeros."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores) > 0 if mask is None else (mask != 0).expand_as(scores)
    seen = seen.tril() if causal else seen
    blind = ~seen.any(dim=-1, keepdim=True)
    weights = torch.softmax(torch.where(seen | blind, scores, -torch.inf), dim=-1)
    return torch.where(blind, 0.0, weights) @ value


def self_attention(x, heads, key_value_heads, causal):
    """Queries of all heads, then keys, then values side by side."""
    size, shared = x.shape[-1] // (heads + 2 * key_value_heads), key_value_heads
    columns = x.split([heads * size, shared * size, shared * size], dim=-1)
    query, key, value = (part.unflatten(-1, (-1, size)).transpose(-2, -3) for part in columns)
    key, value = (part.repeat_interleave(heads // shared, dim=-3) for part in (key, value))
    return attention(query, key, value, causal=causal).transpose(-2, -3).flatten(-2)


def self_attention_last(x, heads, key_value_heads, causal):
    return self_attention(x, heads, key_value_heads, causal)[..., -1:, :]


def self_attention_grad(cotangent, x, heads, key_value_heads, causal):
    return torch.autograd.grad(self_attention(x, heads, key_value_heads, causal), x, cotangent, create_graph=True)[0]


REFERENCES = {
    "normalize": by_torch(normalize, sums=EVERYTHING),
    "normalize_grad": by_torch(normalize_grad, sums=EVERYTHING),
    "normalize_channels": by_torch(normalize_channels, sums=EVERYTHING),
    "normalize_channels_grad": by_torch(normalize_channels_grad, sums=EVERYTHING),
    "channel_moments": by_torch(channel_moments, sums=EVERYTHING),
    "mul_add": by_torch(lambda a, b, c: a * b + c, sums=EVERYTHING),
    "causal_softmax": by_torch(causal_softmax, sums=GRADIENTS),
    "self_attention": by_torch(self_attention, sums=EVERYTHING, unseen={"gradients": 1.0}),
    "self_attention_last": by_torch(self_attention_last, sums=EVERYTHING, unseen={"gradients": 1.0}),
    "self_attention_grad": by_torch(self_attention_grad, sums=EVERYTHING, unseen={"output": 1.0, "gradients": 4.0}),
    "layer_norm": by_torch(layer_norm, sums=EVERYTHING, unseen={"gradients": 1.0}),
    "rms_norm": by_torch(rms_norm, sums=EVERYTHING),
    "batch_norm": by_torch(batch_norm, sums=EVERYTHING),
    "batch_norm_with": by_torch(batch_norm_with, sums=EVERYTHING),
    "group_norm": by_torch(group_norm, sums=EVERYTHING, unseen={"gradients": 1.0}),
    "scaled_dot_product_attention": by_torch(attention, sums=EVERYTHING, unseen={"gradients": 1.0}),
    "logsumexp_over": by_torch(logsumexp, sums=EVERYTHING, unseen={"output": 1.0}),
}
