"""`activations --moments` against nets that NumPy draws by the rules of docs/initial-weights.md.

The program measures one net of each kind; here are several, and the program's must look like one of them. Gains come from
quadrature and not from the table of the library.
"""
import math
import subprocess

import numpy as np
from scipy import integrate

import nets
from records import expect, number

NETS, ROWS, DEPTHS = 16, 64, (2, 8, 32)
SQUARES = ("relu_squared", "star_relu", "xielu")


def mean_square(f, centre=0.0, scale=1.0):
    """E f(centre + scale z)^2."""
    def weighted(z):
        return float(f(np.float64(centre + scale * z))) ** 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    kink = -centre / scale
    return integrate.quad(weighted, -12, kink)[0] + integrate.quad(weighted, kink, 12)[0]


def layers(activation, default, depth):
    """For each layer the gains of its weights (of gate and value, or one), and the bias of the first."""
    gated, f = activation in nets.GATES, nets.PLAIN[nets.GATES.get(activation, activation)]
    gain = math.sqrt(2) if activation == "stochastic_gelu" else 1 if gated else mean_square(f) ** -0.5
    if not default:
        return [((gain, gain), 0)] * depth, gain
    opens = gated or activation in SQUARES
    if not opens:
        return [((1, 1), 0)] + [((gain, gain), 0)] * (depth - 1), gain
    alpha = (0.3 if gated else 0.6) * min(1, 8 / (3 * depth))
    own = mean_square(f, 1, alpha) ** -0.5
    return [((alpha * g, g), 1) for g in [1] + [own] * (depth - 1)], own


def one(draw, activation, default, width, depth):
    """Logarithms of the moments of a net: of its outputs, and of the gradient that reaches its inputs."""
    gated, f = activation in nets.GATES, nets.PLAIN[nets.GATES.get(activation, activation)]
    gains, last = layers(activation, default, depth)
    x, back = draw.normal(size=(ROWS, width)), []
    with np.errstate(all="ignore"):
        for (gate_gain, value_gain), bias in gains:
            w = draw.normal(0, gate_gain / math.sqrt(width), (width, width))
            v = draw.normal(0, value_gain / math.sqrt(width), (width, width))
            a, b = x @ w.T + bias, x @ v.T
            h = 1e-6 * np.maximum(1, abs(a))
            slope = (f(a + h) - f(a - h)) / (2 * h)
            back.append((w, v, slope * b if gated else slope, f(a)))
            x = f(a) * b if gated else f(a)
        u = draw.normal(0, last / math.sqrt(width), (width, width))
        y, g = x @ u.T, draw.normal(size=(ROWS, width)) @ u
        for w, v, to_gate, to_value in reversed(back):
            g = (g * to_gate) @ w + ((g * to_value) @ v if gated else 0)
        return [math.log(m) if 0 < m < math.inf else math.nan for m in (np.mean(y * y), np.mean(g * g))]


def check(binaries, width, seed):
    said = subprocess.run([binaries + "/activations", "--moments", str(width)], capture_output=True, text=True, check=True)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in said.stdout.splitlines()[2:] if line[:1] == "|"]
    expect(len(lines) == 2 * len(nets.ACTIVATIONS), "--moments has", len(lines), "lines")
    draw = np.random.default_rng(seed)
    for activation, initialiser, *cells in lines:
        for place, depth in enumerate(DEPTHS):
            logs = np.array([one(draw, activation, initialiser == "default", width, depth) for _ in range(NETS)])
            for direction in range(2):
                what = "--moments %d: %s, %s, depth %d, direction %d:" % (width, activation, initialiser, depth, direction)
                said, ours = cells[place + 3 * direction], logs[:, direction]
                theirs = math.nan if said == "overflows" else number(said)
                if not theirs > 0 or np.isnan(ours).any():  # beyond the range of doubles in some nets
                    expect(np.isnan(ours).any() or ours.min() < -500, what, said, "and not", np.exp(ours))
                    continue
                offs = []
                for scale in (np.asarray, np.arcsinh):  # logarithms of squares grow by factors
                    of = scale(ours)
                    offs.append(abs(scale(math.log(theirs)) - of.mean()) / (of.std(ddof=1) + 0.02))
                off = min(offs)
                expect(off < 6, what, theirs, "is", off, "deviations from", NETS, "nets of NumPy:", np.exp(ours.mean()))
