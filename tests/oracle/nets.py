"""Nets of the programs in NumPy: model files, forward passes of models, and a trainer of full batches.

    meta, tensors = nets.read("results/iris/best.safetensors")
    outputs = nets.forward(json.loads(meta["tapegrad.model"]), tensors, x)
"""
import json
import math
import struct

import numpy as np
from scipy.special import erf, expit

TYPES = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64}


def read(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    meta = header.pop("__metadata__", {})
    tensors = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], TYPES[about["dtype"]]).reshape(about["shape"])
    return meta, tensors


def write(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        raw = np.ascontiguousarray(values, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


# ---- activations ----

def softplus(x):
    return np.logaddexp(0, x)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


SELU = 1.0507009873554805, 1.6732632423543772

PLAIN = {
    "gelu_exact": lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))),
    "gelu_tanh": tanh_gelu,
    "gelu_quick": lambda x: x * expit(1.702 * x),
    "stochastic_gelu": lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))),
    "silu": lambda x: x * expit(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, x / 100),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(np.minimum(x, 0))),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "softplus": softplus,
    "tanh": np.tanh,
    "sigmoid": expit,
    "relu_squared": lambda x: np.maximum(x, 0) ** 2,
    "star_relu": lambda x: 0.8944 * np.maximum(x, 0) ** 2 - 0.4472,
    "sine": np.sin,
    "snake": lambda x: x + np.sin(x) ** 2,
    "xielu": lambda x: np.where(x > 0, 0.8 * x * x + 0.5 * x, 0.8 * (np.expm1(np.minimum(x, 0)) - x) + 0.5 * x),
    "penalized_tanh": lambda x: np.where(x > 0, np.tanh(x), np.tanh(x) / 4),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "identity": lambda x: x,
}
GATES = {"glu": "sigmoid", "bilinear": "identity", "reglu": "relu", "geglu": "gelu_exact", "swiglu": "silu",
         "geglu_tanh": "gelu_tanh", "reglu_squared": "relu_squared"}
ACTIVATIONS = list(PLAIN) + list(GATES)
NORMS = ["none", "layer", "rms", "batch", "group"]


# ---- the forward pass ----

def widths(text):
    """The widths of "128x4" or "512,256x2"."""
    all_widths = []
    for part in text.split(",") if text and text != "none" else []:
        width, _, times = part.partition("x")
        all_widths += [int(width)] * int(times or 1)
    return all_widths


def part_of(t, start):
    """The tensors whose names begin like this, by the rest of their names."""
    return {name[len(start):]: values for name, values in t.items() if name.startswith(start)}


def normalise(kind, x, w, epsilon=None):
    if kind == "none":
        return x
    if kind == "rms":
        return w["weight"] * x / np.sqrt(np.mean(x * x, -1, keepdims=True) + (epsilon or 1e-6))
    mean, variance = np.mean(x, -1, keepdims=True), np.var(x, -1, keepdims=True)  # layer, and group with one group
    if kind == "batch":  # the last axis has the channels
        mean, variance = w["running_mean"], w["running_var"]
    return w["weight"] * (x - mean) / np.sqrt(variance + (epsilon or 1e-5)) + w["bias"]


def linear(t, name, x):
    weight = t[name + "weight"]  # [out, in / groups]: each group of outputs sees its group of inputs
    groups = x.shape[-1] // weight.shape[1]
    parts = zip(np.split(x, groups, -1), np.split(weight, groups))
    return np.concatenate([part @ own.T for part, own in parts], -1) + t[name + "bias"]


def hidden(spec, t, name, x, norm=True):
    """A hidden layer: linear, activation, normalisation."""
    activation = spec["activation"]
    if activation in GATES:
        y = PLAIN[GATES[activation]](linear(t, name + "gate_proj.", x)) * linear(t, name + "up_proj.", x)
    else:
        y = PLAIN[activation](linear(t, name, x))
    return normalise(spec["norm"], y, part_of(t, name + "norm.")) if norm else y


def mlp(spec, t, x):
    configured = widths(spec["hidden"])
    for i, width in enumerate(configured):
        y = hidden(spec, t, "layers.%d." % i, x)
        x = y + x if spec["residual"] and i > 0 and width == configured[i - 1] else y
    return linear(t, "layers.%d." % len(configured), x)


def autoencoder(spec, t, x):
    count = len(widths(spec["hidden"]))
    for i in range(count + 1):
        x = hidden(spec, t, "encoder.%d." % i, x, i < count)
    for i in range(count):
        x = hidden(spec, t, "decoder.%d." % i, x)
    return linear(t, "decoder.%d." % count, x)


def convnet(spec, t, x):
    """3x3 convolutions that keep the size, batch norm, activation, the maximum of each 2x2; a linear layer."""
    x = x.reshape(len(x), 1, spec["image_height"], spec["image_width"])
    for i in range(len(widths(spec["filters"]))):
        w = part_of(t, "blocks.%d." % i)
        height, width = x.shape[2:]
        around = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        y = sum(np.einsum("rcij,oc->roij", around[:, :, a:a + height, b:b + width], w["conv.weight"][:, :, a, b])
                for a in range(3) for b in range(3))
        y = y + w["conv.bias"][:, None, None] if "conv.bias" in w else y
        if spec["norm"] != "none":
            y = np.moveaxis(normalise(spec["norm"], np.moveaxis(y, 1, -1), part_of(w, "norm.")), -1, 1)
        if spec["activation"] in GATES:
            half = y.shape[1] // 2
            y = PLAIN[GATES[spec["activation"]]](y[:, half:]) * y[:, :half]  # the second half is the gate
        else:
            y = PLAIN[spec["activation"]](y)
        height, width = height // 2 * 2, width // 2 * 2
        y = y[:, :, :height, :width]
        x = y.reshape(*y.shape[:2], height // 2, 2, width // 2, 2).max((3, 5))
    return linear(t, "head.", x.reshape(len(x), -1))


def charmlp(spec, t, ids):
    x = t["embedding.weight"][ids].reshape(len(ids), -1)
    for i in range(len(widths(spec["hidden"]))):
        x = hidden(spec, t, "layers.%d." % i, x)
    return linear(t, "output.", x)


def recurrent(spec, t, ids):
    """Elman's net with tanh, an LSTM or a GRU, as PyTorch's; hidden layers, logits [rows, positions, vocabulary]."""
    x = t["embedding.weight"][ids]
    for layer in range(spec["layers"]):
        w = {name: t["rnn.%s_l%d" % (name, layer)] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        size, states = w["weight_hh"].shape[1], []
        h = c = np.zeros((len(x), size))
        for step in range(x.shape[1]):
            ours, before = x[:, step] @ w["weight_ih"].T + w["bias_ih"], h @ w["weight_hh"].T + w["bias_hh"]
            if spec["model"] == "rnn":
                h = np.tanh(ours + before)
            elif spec["model"] == "lstm":
                i, f, g, o = np.split(ours + before, 4, 1)
                c = expit(f) * c + expit(i) * np.tanh(g)
                h = expit(o) * np.tanh(c)
            else:
                (r, z, n), (of_r, of_z, of_n) = np.split(ours, 3, 1), np.split(before, 3, 1)
                z, n = expit(z + of_z), np.tanh(n + expit(r + of_r) * of_n)
                h = (1 - z) * n + z * h
            states.append(h)
        x = np.stack(states, 1)
    for i in range(len(widths(spec["hidden"]))):
        x = hidden(spec, t, "layers.%d." % i, x)
    return linear(t, "output.", x)


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def rotated(x):
    """The halves of each head turned by angles that grow with the position; x is [rows, heads, positions, size]."""
    positions, size = x.shape[2:]
    angle = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(0, size, 2) / size)
    first, second = np.split(x, 2, 3)
    return np.concatenate([first * np.cos(angle) - second * np.sin(angle), second * np.cos(angle) + first * np.sin(angle)], 3)


def blocks(spec, t, x, causal, epsilon):
    """Blocks of attention and a feed-forward net, with a norm before each and at the end, or after each and before all."""
    rows, positions, width = x.shape
    heads, post = spec["heads"], spec["post-norm"]
    size = width // heads
    later = np.triu(np.full((positions, positions), -np.inf), 1) if causal else 0

    def norm(w, name, x, wanted=True):
        return normalise(spec["norm"], x, part_of(w, name), epsilon) if wanted else x

    def attention(w, h):
        qkv = h @ w["self_attn.in_proj_weight"].T + w["self_attn.in_proj_bias"]
        of_keys = (qkv.shape[2] - width) // 2
        q, k, v = (a.reshape(rows, positions, -1, size).transpose(0, 2, 1, 3)
                   for a in np.split(qkv, [width, width + of_keys], 2))
        q, k = (rotated(q), rotated(k)) if spec["rotary"] else (q, k)
        k, v = (np.repeat(a, heads // a.shape[1], 1) for a in (k, v))
        h = softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(size) + later) @ v
        return linear(w, "self_attn.out_proj.", h.transpose(0, 2, 1, 3).reshape(x.shape))

    def feed_forward(w, h):
        if spec["activation"] in GATES:
            gate = PLAIN[GATES[spec["activation"]]](linear(w, "mlp.gate_proj.", h))
            return linear(w, "mlp.down_proj.", gate * linear(w, "mlp.up_proj.", h))
        return linear(w, "linear2.", PLAIN[spec["activation"]](linear(w, "linear1.", h)))

    x = norm(t, "embedding_norm.", x, post)
    for i in range(spec["layers"]):
        w = part_of(t, "layers.%d." % i)
        for name, part in (("norm1.", attention), ("norm2.", feed_forward)):
            x = norm(w, name, x + part(w, norm(w, name, x, not post)), post)
    return norm(t, "norm.", x, not post)


def gpt(spec, t, ids):
    """Causal blocks, the output tied to the embedding. Logits [rows, positions, vocabulary]."""
    x = t["token_embedding.weight"][ids]
    x = x if spec["rotary"] else x + t["position_embedding.weight"][:ids.shape[1]]
    return blocks(spec, t, x, True, 1e-5) @ t["token_embedding.weight"].T


def vit(spec, t, x):
    """Patches, a class token in front, whose result a linear layer reads."""
    side = spec["patch"]
    down, across = spec["image_height"] // side, spec["image_width"] // side
    x = x.reshape(len(x), down, side, across, side).transpose(0, 1, 3, 2, 4).reshape(len(x), down * across, side * side)
    x = x @ t["patch_embedding.weight"].reshape(-1, side * side).T + t["patch_embedding.bias"]
    x = np.concatenate([np.repeat(t["class_token"], len(x), 0), x], 1) + t["position_embedding.weight"]
    return linear(t, "head.", blocks(spec, t, x, False, 1e-6)[:, 0])


def bucket(distance, causal, buckets=32, most=128):
    """T5's bucket of the distance of a key and a query."""
    first = 0
    if not causal:
        buckets //= 2
        first = buckets if distance > 0 else 0
    d, exact = (max(-distance, 0) if causal else abs(distance)), buckets // 2
    grown = d if d < exact else exact + int(math.log(d / exact) / math.log(most / exact) * (buckets - exact))
    return first + min(grown, buckets - 1)


def seq2seq(spec, t, ids):
    """An encoder and a decoder of T5's blocks. Logits [rows, targets, vocabulary]."""
    context, heads = spec["context"], spec["heads"]

    def attention(w, x, memory, scores):
        q, k, v = (h @ w[name + "_proj.weight"].T for name, h in (("q", x), ("k", memory), ("v", memory)))
        size = q.shape[-1] // heads
        q, k, v = (a.reshape(len(a), a.shape[1], -1, size).transpose(0, 2, 1, 3) for a in (q, k, v))
        k, v = (np.repeat(a, heads // a.shape[1], 1) for a in (k, v))
        y = softmax(q @ k.transpose(0, 1, 3, 2) + scores) @ v
        return y.transpose(0, 2, 1, 3).reshape(x.shape) @ w["o_proj.weight"].T

    def feed_forward(w, x):
        if spec["activation"] in GATES:
            h = PLAIN[GATES[spec["activation"]]](x @ w["mlp.gate_proj.weight"].T) * (x @ w["mlp.up_proj.weight"].T)
            return h @ w["mlp.down_proj.weight"].T
        return PLAIN[spec["activation"]](x @ w["linear1.weight"].T) @ w["linear2.weight"].T

    def stack(side, ids, masked, memory=None, memory_masked=None):
        w, positions = part_of(t, side + "."), ids.shape[1]
        x = t["token_embedding.weight"][ids]
        if spec["relative"]:
            table = [[bucket(j - i, side == "decoder") for j in range(positions)] for i in range(positions)]
            masked = masked + w["relative_attention_bias.weight"][table].transpose(2, 0, 1)
        else:
            x = x + t["position_embedding.weight"][:positions]

        def norm(name, x, post):
            return normalise(spec["norm"], x, part_of(w, name), 1e-6) if post == spec["post-norm"] else x

        x = norm("embedding_norm.", x, True)
        for i in range(spec["layers"]):
            b = part_of(w, "layers.%d." % i)
            parts = [lambda h: attention(part_of(b, "self_attn."), h, h, masked)]
            parts += [] if memory is None else [lambda h: attention(part_of(b, "multihead_attn."), h, memory, memory_masked)]
            for k, part in enumerate(parts + [lambda h: feed_forward(b, h)]):
                name = "layers.%d.norm%d." % (i, k + 1)
                x = norm(name, x + part(norm(name, x, False)), True)
        return norm("norm.", x, False)

    source, target = ids[:, :context], ids[:, context:]
    padding = np.where(source == 0, -np.inf, 0.0)[:, None, None]
    later = np.triu(np.full((target.shape[1], target.shape[1]), -np.inf), 1)
    return stack("decoder", target, later, stack("encoder", source, padding), padding) @ t["head.weight"].T


MODELS = {"seq2seq": seq2seq, "mlp": mlp, "autoencoder": autoencoder, "convnet": convnet, "charmlp": charmlp, "gpt": gpt,
          "vit": vit, "rnn": recurrent, "lstm": recurrent, "gru": recurrent}


def forward(spec, tensors, x):
    """Outputs [rows, outputs] in evaluation, in double precision. `spec` is the model of a model file; x are rows of
    inputs, or of characters."""
    t = {name: np.asarray(values, np.float64) for name, values in tensors.items()}
    return MODELS[spec["model"]](spec, t, x if spec["vocabulary"] else np.asarray(x, np.float64))


# ---- training with full batches: the order of rows makes no difference ----

SLOPES = {
    "tanh": lambda x: 1 - np.tanh(x) ** 2,
    "relu": lambda x: np.where(x > 0, 1.0, 0.0),
    "silu": lambda x: expit(x) * (1 + x * (1 - expit(x))),
    "gelu_exact": lambda x: 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "sine": np.cos,
    "softplus": expit,
}


def to_bfloat16(a):
    """The nearest numbers of 8 binary digits, ties to even; for numbers far from the largest and the least."""
    fraction, exponent = np.frexp(a)
    return np.ldexp(np.rint(np.ldexp(fraction, 8)), exponent - 8)


def to_float16(a):
    with np.errstate(all="ignore"):
        return a.astype(np.float16).astype(np.float64)


ROUND = {"float32": lambda a: a, "bfloat16": to_bfloat16, "float16": to_float16}


def loss_and_gradient(activation, w, x, labels, targets, smoothing, of_rows, r=ROUND["float32"], scale=1):
    """Of a plain mlp without norms; w: [(weight, bias), ...]; of_rows: weights of the rows. `r` rounds what
    operations read and make; the gradient is that of the loss times `scale`, divided by it."""
    w, inputs, before = [(r(weight), r(bias)) for weight, bias in w], [r(x)], []
    for weight, bias in w[:-1]:
        before.append(r(inputs[-1] @ weight.T + bias))
        inputs.append(r(PLAIN[activation](before[-1])))
    out = r(inputs[-1] @ w[-1][0].T + w[-1][1])
    targets = None if targets is None else r(targets)
    share = (of_rows / of_rows.sum())[:, None]
    if labels is not None:
        classes = out.shape[1]
        wanted = np.eye(classes)[labels] * (1 - smoothing) + smoothing / classes
        logs = out - out.max(1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(1, keepdims=True))
        loss, g = -(wanted * logs * share).sum(), (np.exp(logs) - wanted) * share
    else:
        share = share / out.shape[1]
        loss, g = ((out - targets) ** 2 * share).sum(), 2 * (out - targets) * share
    gradient, g = [], r(g * scale)
    for i in reversed(range(len(w))):
        gradient.append((r(g.T @ inputs[i]) / scale, r(g.sum(0)) / scale))
        if i:
            g = r(r(g @ w[i][0]) * r(SLOPES[activation](before[i - 1])))
    return loss, gradient[::-1]


def factor(schedule, step, steps, warmup, end):
    if step < warmup:
        return (step + 1) / warmup
    after, length = step - warmup, steps - warmup
    if schedule == "cosine":
        return end + (1 - end) * (1 + math.cos(math.pi * after / length)) / 2
    if schedule == "linear":
        return 1 - (1 - end) * after / length
    if schedule == "inverse_sqrt":
        return 1 / math.sqrt(1 + after / warmup)
    if schedule == "step":
        return 0.1 ** (after // max(1, steps // 3))
    return 1


def train(o, w, x, labels, targets, of_rows):
    """Trains with options `o` (lr, optimizer, schedule, ...) a step an epoch; yields the loss of the step, the norm of
    the gradient and the weights, averaged if asked for, after each epoch."""
    w = [[np.array(part, np.float64) for part in layer] for layer in w]
    first = [[np.zeros_like(part) for part in layer] for layer in w]
    second = [[np.zeros_like(part) for part in layer] for layer in w]
    average, scale = None, 65536 if o["round"] == "float16" else 1
    steps, warmup, step = o["epochs"], int(o["warmup"] * o["epochs"]), -1
    if o["schedule"] == "inverse_sqrt" and o["warmup"] > 0:
        warmup = max(warmup, 1)
    for _ in range(steps):
        loss, gradient = loss_and_gradient(o["activation"], w, x, labels, targets, o["smoothing"], of_rows,
                                           ROUND[o["round"]], scale)
        norm = math.sqrt(sum((part**2).sum() for layer in gradient for part in layer))
        if scale > 1 and not math.isfinite(norm):  # the step is left out
            scale /= 2
            yield loss, 0, average or w
            continue
        step += 1
        shrunk = o["clip"] / norm if o["clip"] and norm > o["clip"] else 1
        rate = o["lr"] * factor(o["schedule"], step, steps, warmup, o["end"])
        for i, layer in enumerate(w):
            for k, part in enumerate(layer):
                g, decay = gradient[i][k] * shrunk, o["decay"] if k == 0 else 0
                if o["optimizer"] == "sgd":
                    g = g + decay * part
                    if o["momentum"]:
                        first[i][k] = g + (o["momentum"] * first[i][k] if step else 0)
                        g = g + o["momentum"] * first[i][k]  # Nesterov's
                    part -= rate * g
                    continue
                if o["optimizer"] == "adam":
                    g = g + decay * part
                first[i][k] = 0.9 * first[i][k] + 0.1 * g
                second[i][k] = 0.999 * second[i][k] + 0.001 * g * g
                part *= 1 - (rate * decay if o["optimizer"] == "adamw" else 0)
                root = np.sqrt(second[i][k] / (1 - 0.999 ** (step + 1))) + 1e-8
                part -= rate * first[i][k] / (1 - 0.9 ** (step + 1)) / root
        if o["ema"]:
            beta = min(o["ema"], (1 + step) / (10 + step))
            if average is None:
                average = [[part.copy() for part in layer] for layer in w]
            else:
                for mean, layer in zip(average, w):
                    for k in range(2):
                        mean[k] += (1 - beta) * (layer[k] - mean[k])
        yield loss, norm, average or w
