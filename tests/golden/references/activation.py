"""Activations, each with its first and second derivative where these are operations of their own, and gated products."""

import torch
import torch.nn.functional as F
from mpmath import mp

from .common import EVERYTHING, GRADIENTS, LEVEL, RAMP, STEP, by_torch, exactly

SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def gelu_exact(x):
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def gelu_tanh(x):
    """x/2 (1 + tanh u) as x logistic(2 u), in which nothing cancels."""
    return x * logistic(2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3))


def gelu_quick(x):
    return x * logistic(mp.mpf("1.702") * x)


def silu(x):
    return x * logistic(x)


def mish(x):
    return x * mp.tanh(mp.log1p(mp.exp(x)))


SMOOTH = {"gelu_exact": gelu_exact, "gelu_tanh": gelu_tanh, "gelu_quick": gelu_quick, "silu": silu, "mish": mish}


def elu_slope(x, alpha):
    """The first and the second derivative where x is not positive."""
    return alpha * torch.exp(torch.clamp(x, max=0))


def elu_grad(x, alpha):
    return torch.where(x > 0, torch.ones_like(x), elu_slope(x, alpha))


def elu_grad_grad(x, alpha):
    return torch.where(x > 0, torch.zeros_like(x), elu_slope(x, alpha))


def softsign(x):
    """x / (1 + |x|); for large x as 1 - 1 / (1 + |x|), whose derivative does not cancel."""
    inner = torch.clamp(x, -1, 1)
    return torch.where(x.abs() > 1, torch.sign(x) * (1 - 1 / (1 + x.abs())), inner / (1 + inner.abs()))


def hardswish(x):
    """F.hardswish, but 0 and not NaN at -infinity."""
    inner = torch.clamp(x, -3, 3)
    return torch.where(x >= 3, x, torch.where(x <= -3, torch.zeros_like(x), inner * (inner + 3) / 6))


def hardswish_grad(x):
    inner = torch.clamp(x, -3, 3)
    return torch.where(x >= 3, 1.0, torch.where(x <= -3, 0.0, (2 * inner + 3) / 6))


def softsign_grad(x):
    return (1 / (1 + x.abs())) ** 2


def softsign_grad_grad(x):
    """The second derivative of softsign: 0 at 0, where it jumps. Its own derivative there is the limit from both sides."""
    return torch.where(x == 0, 6 * x, -2 * torch.sign(x) * (1 / (1 + x.abs())) ** 3)


def penalized_tanh(order):
    """tanh or a derivative of it where x is positive, a quarter of that elsewhere."""
    function = exactly(mp.tanh, LEVEL, order=order) if order else exactly(mp.tanh, LEVEL)
    return lambda x: function(x) * torch.where(x > 0, 1.0, 0.25)


def relu_squared_grad_grad(x):
    return torch.where(x > 0, 2.0, torch.where(x.isnan(), x, 0.0))


def negative(x):
    """x where it is not positive, else 0: the unused branch of torch.where must be finite."""
    return torch.where(x > 0, 0.0, x)


def xielu(x):
    """With the negative branch multiplied out."""
    low, high = negative(x), F.relu(x)
    return torch.where(x > 0, 0.8 * high * high + 0.5 * high, 0.8 * torch.expm1(low) - 0.3 * low)


def xielu_grad(x):
    return torch.where(x > 0, 1.6 * x + 0.5, 0.8 * torch.expm1(negative(x)) + 0.5)


def xielu_grad_grad(x):
    return torch.where(x > 0, 1.6, 0.8 * torch.exp(negative(x)))


def gated(activation):
    return by_torch(lambda a, b: activation(a) * b, sums=GRADIENTS)


def gated_gradients(activation):
    """Both gradients of activation(a) b for the cotangent g, one after the other."""

    def both(g, a, b):
        with torch.enable_grad():
            a, b = (x if x.requires_grad else x.clone().requires_grad_(True) for x in (a, b))
            return torch.stack(torch.autograd.grad(activation(a) * b, (a, b), g, create_graph=True)).reshape(2, -1)

    return by_torch(both, sums=EVERYTHING)


REFERENCES = {
    "relu": by_torch(F.relu),
    "relu_grad": by_torch(lambda a, y: torch.where(y <= 0, 0.0, a), sums=GRADIENTS),
    "leaky_relu": by_torch(lambda x, slope: F.leaky_relu(x, slope)),
    "leaky_relu_grad": by_torch(lambda a, x, slope: torch.where(x > 0, a, slope * a), sums=GRADIENTS),
    "hardsigmoid": by_torch(lambda x: torch.clamp(x + 3, 0, 6) / 6),
    "hardsigmoid_grad": by_torch(lambda x: torch.where(x.abs() < 3, 1 / 6, torch.zeros_like(x))),
    "softsign": by_torch(softsign),
    "softsign_grad": by_torch(softsign_grad),
    "softsign_grad_grad": by_torch(softsign_grad_grad),
    "penalized_tanh": by_torch(penalized_tanh(0), sums=GRADIENTS),
    "penalized_tanh_grad": by_torch(penalized_tanh(1), sums=EVERYTHING),
    "penalized_tanh_grad_grad": by_torch(penalized_tanh(2), sums=EVERYTHING),
    "relu_squared": by_torch(lambda x: F.relu(x) ** 2),
    "relu_squared_grad": by_torch(lambda x: 2 * F.relu(x)),
    "relu_squared_grad_grad": by_torch(relu_squared_grad_grad),
    "star_relu": by_torch(lambda x: 0.8944 * F.relu(x) ** 2 - 0.4472, sums=EVERYTHING),
    "star_relu_grad": by_torch(lambda x: 0.8944 * 2 * F.relu(x)),
    "star_relu_grad_grad": by_torch(lambda x: 0.8944 * relu_squared_grad_grad(x)),
    "xielu": by_torch(xielu, sums=EVERYTHING),
    "xielu_grad": by_torch(xielu_grad, sums=EVERYTHING),
    "xielu_grad_grad": by_torch(xielu_grad_grad),
    "snake": by_torch(lambda x: x + torch.sin(x) ** 2, sums=EVERYTHING),
    "snake_grad": by_torch(lambda x: 1 + 2 * torch.sin(x) * torch.cos(x), sums=EVERYTHING),
    "snake_grad_grad": by_torch(lambda x: 2 - 4 * torch.sin(x) ** 2, sums=EVERYTHING),
    "hardswish": by_torch(hardswish),
    "hardswish_grad": by_torch(hardswish_grad),
    "elu": by_torch(lambda x, alpha: F.elu(x, alpha)),
    "elu_grad": by_torch(elu_grad),
    "elu_grad_grad": by_torch(elu_grad_grad),
    "selu": by_torch(F.selu),
    "selu_grad": by_torch(lambda x: SELU_SCALE * elu_grad(x, SELU_ALPHA)),
    "selu_grad_grad": by_torch(lambda x: SELU_SCALE * elu_grad_grad(x, SELU_ALPHA)),
}
for name, function in SMOOTH.items():
    REFERENCES[name] = by_torch(exactly(function, RAMP), sums=GRADIENTS)
    REFERENCES[f"{name}_grad"] = by_torch(exactly(function, RAMP, order=1), sums=EVERYTHING)
    REFERENCES[f"{name}_grad_grad"] = by_torch(exactly(function, RAMP, order=2), sums=EVERYTHING)

GATES = {
    "glu": exactly(logistic, STEP),
    "reglu": F.relu,
    "geglu": exactly(gelu_exact, RAMP),
    "swiglu": exactly(silu, RAMP),
    "geglu_tanh": exactly(gelu_tanh, RAMP),
    "reglu_squared": lambda x: F.relu(x) ** 2,
}
for name, activation in GATES.items():
    REFERENCES[name] = gated(activation)
    REFERENCES[f"{name}_grad"] = gated_gradients(activation)
