"""Softmax and losses."""

import torch
import torch.nn.functional as F

from .common import EVERYTHING, GRADIENTS, by_torch


def softmax(x, axis):
    """Softmax, but zeros instead of NaN for a row without a finite element."""
    dead = torch.isneginf(x).all(dim=-1, keepdim=True)
    return torch.where(dead, 0.0, torch.softmax(torch.where(dead, 0.0, x), axis))


def log_softmax(x, axis):
    """Log-softmax, but a row without a finite element stays as it is."""
    dead = torch.isneginf(x).all(dim=-1, keepdim=True)
    return torch.where(dead, x, torch.log_softmax(torch.where(dead, 0.0, x), axis))


def cross_entropy(logits, labels, smoothing, ignore_index):
    rows = logits.reshape(labels.numel(), logits.shape[-1])
    return F.cross_entropy(rows, labels.reshape(-1), ignore_index=ignore_index, label_smoothing=smoothing)


def cross_entropy_grad(logits, labels, **attributes):
    if labels.numel() == 0:
        return logits  # which has no elements either
    return torch.autograd.grad(cross_entropy(logits, labels, **attributes), logits, create_graph=True)[0]


def label_weights(logits, labels, smoothing, ignore_index):
    counted = (labels != ignore_index).double()
    return counted / counted.sum().clamp(min=1)


def nll(log_probabilities, labels):
    return F.nll_loss(log_probabilities.reshape(labels.numel(), log_probabilities.shape[-1]), labels.reshape(-1))


def cross_entropy_to(logits, probabilities):
    rows = logits.reshape(-1, logits.shape[-1]) if logits.numel() > 0 else logits
    return F.cross_entropy(rows, probabilities.expand_as(logits).reshape(rows.shape))


def kl(log_probabilities, target):
    rows = target.numel() / target.shape[-1] if target.dim() > 0 and target.numel() > 0 else target.numel()
    return F.kl_div(log_probabilities, target, reduction="sum") / rows


def softmax_grad(a, s):
    return s * (a - (a * s).sum(dim=-1, keepdim=True))


def log_softmax_grad(a, l):
    return a - torch.exp(l) * a.sum(dim=-1, keepdim=True)


REFERENCES = {
    "softmax": by_torch(softmax, sums=GRADIENTS),
    "softmax_grad": by_torch(softmax_grad, sums=EVERYTHING),
    "log_softmax": by_torch(log_softmax, sums=EVERYTHING, unseen={"output": 1.0}),
    "log_softmax_grad": by_torch(log_softmax_grad, sums=EVERYTHING),
    "cross_entropy": by_torch(cross_entropy, sums=EVERYTHING),
    "cross_entropy_grad": by_torch(cross_entropy_grad, sums=EVERYTHING),
    "label_weights": by_torch(label_weights),
    "softmax_along": by_torch(torch.softmax, sums=GRADIENTS),
    "log_softmax_along": by_torch(torch.log_softmax, sums=EVERYTHING, unseen={"output": 1.0}),
    "nll": by_torch(nll, sums=EVERYTHING),
    "cross_entropy_to": by_torch(cross_entropy_to, sums=EVERYTHING),
    "mse": by_torch(F.mse_loss, sums=EVERYTHING),
    "l1": by_torch(F.l1_loss, sums=EVERYTHING),
    "huber": by_torch(lambda a, b, delta: F.huber_loss(a, b, delta=delta), sums=EVERYTHING),
    "bce_on_logits": by_torch(F.binary_cross_entropy_with_logits, sums=EVERYTHING),
    "kl": by_torch(kl, sums=EVERYTHING),
}
