"""The cell of an LSTM by the formulas of PyTorch's LSTMCell, and its gradient by differentiation."""

import torch
from mpmath import mp

from .activation import logistic
from .common import EVERYTHING, LEVEL, STEP, by_torch, exactly

sigmoid, tanh = exactly(logistic, STEP), exactly(mp.tanh, LEVEL)


def lstm_cell(x, h, c):
    i, f, g, o = (x + h).chunk(4, 1)
    after = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return torch.stack([sigmoid(o) * tanh(after), after])


def lstm_cell_grad(cotangent, x, h, c):
    with torch.enable_grad():
        gates, c = (x + h).requires_grad_(True), c if c.requires_grad else c.clone().requires_grad_(True)
        found = torch.autograd.grad(lstm_cell(gates, torch.zeros_like(gates), c), (gates, c), cotangent, create_graph=True)
        return torch.cat([g.flatten() for g in found])


REFERENCES = {
    "lstm_cell": by_torch(lstm_cell, sums=EVERYTHING),
    "lstm_cell_grad": by_torch(lstm_cell_grad, sums=EVERYTHING),
}
