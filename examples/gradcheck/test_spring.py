import tapegrad

x = [0.0, 1.2, 1.9, 3.5]
energy = lambda x: sum((b - a) ** 2 / 2 for a, b in zip(x, x[1:]))
def gradient(x, sign=-1): return [(x[i] - x[i - 1] if i else 0) + sign * (x[i + 1] - x[i] if i + 1 < len(x) else 0) for i in range(len(x))]

def test_right(): assert tapegrad.gradcheck(energy, gradient, x)
def test_wrong(): assert not tapegrad.gradcheck(energy, lambda x: gradient(x, 1), x)
