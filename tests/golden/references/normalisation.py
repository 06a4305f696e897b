"""Normalised rows, and attention's softmax."""

import torch

from .common import EVERYTHING, GRADIENTS, by_torch


def normalize(x, centred, epsilon):
    """By hand: F.layer_norm leaves rounding of the mean where a row has one element, and cannot be differentiated three times."""
    deviation = x - x.mean(dim=-1, keepdim=True) if centred else x
    return deviation / torch.sqrt((deviation**2).mean(dim=-1, keepdim=True) + epsilon)


def normalize_gradient(cotangent, x, centred, epsilon):
    return torch.autograd.grad(normalize(x, centred, epsilon), x, cotangent, create_graph=True)[0]


def causal_softmax(x):
    """What is not seen is 0, and so is all of a row in which nothing that is seen is above -infinity."""
    seen = torch.ones_like(x).tril() > 0
    scores = torch.where(seen, x, -torch.inf)
    dead = torch.isneginf(scores).all(dim=-1, keepdim=True)
    return torch.where(seen & ~dead, torch.softmax(torch.where(dead, 0.0, scores), dim=-1), 0.0)


def logsumexp(x):
    dead = torch.isneginf(x).all(dim=-1)
    return torch.where(dead, -torch.inf, torch.logsumexp(torch.where(dead.unsqueeze(-1), 0.0, x), dim=-1))


REFERENCES = {
    "normalize": by_torch(normalize, sums=EVERYTHING),
    "normalize_gradient": by_torch(normalize_gradient, sums=EVERYTHING),
    "mul_add": by_torch(lambda a, b, c: a * b + c, sums=EVERYTHING),
    "causal_softmax": by_torch(causal_softmax, sums=GRADIENTS),
    "logsumexp_over": by_torch(logsumexp, sums=EVERYTHING, largest_term=1.0),
}
