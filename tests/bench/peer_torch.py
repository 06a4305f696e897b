"""PyTorch's side of `bench --peers`; with the argument "compile" a net's loss, gradient and update go through torch.compile. peer_loop.py has the
rest of the arguments and what is asked.
"""
import logging
import sys

import peer_loop

peer_loop.require("torch")

from peer_gpt import PLAIN, Block, gpt_step  # noqa: E402

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402


class SwiGLU(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.gate_proj = nn.Linear(inputs, outputs)
        self.up_proj = nn.Linear(inputs, outputs)
        nn.init.ones_(self.up_proj.bias)  # so that a deep net's numbers do not vanish

    def forward(self, x):
        return functional.silu(self.gate_proj(x)) * self.up_proj(x)


def hidden_layer(activation, inputs, outputs):
    if activation == "swiglu":
        return [SwiGLU(inputs, outputs)]
    return [nn.Linear(inputs, outputs), nn.ReLU(inplace=True) if activation == "relu" else nn.GELU()]


def convnet_step(activation, norm, batch, filters):
    """Images of 28 x 28 pixels, with the channels last, which is the faster layout."""
    layers, inputs = [], 1
    for outputs in filters:
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1)] + ([nn.BatchNorm2d(outputs)] if norm == "batch" else [])
        layers += [nn.ReLU(inplace=True) if activation == "relu" else nn.GELU(), nn.MaxPool2d(2)]
        inputs = outputs
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))
    net = net.to(memory_format=torch.channels_last)
    adamw = torch.optim.AdamW(net.parameters(), lr=1e-5, weight_decay=0, fused=True)
    x = torch.randn(batch, 1, 28, 28).to(memory_format=torch.channels_last)
    labels = torch.randint(10, (batch,))

    def step():
        adamw.zero_grad(set_to_none=True)
        functional.cross_entropy(net(x), labels).backward()
        adamw.step()

    return step


def image_step(direction, batch, channels, filters, side):
    """A convolution, or pooling without filters, with the channels last."""
    net = nn.Conv2d(channels, filters, 3, padding=1).to(memory_format=torch.channels_last) if filters else nn.MaxPool2d(2)
    backward = direction == "backward"
    x = torch.randn(batch, channels, side, side).to(memory_format=torch.channels_last).requires_grad_(backward)
    g = torch.randn_like(net(x))

    def step():
        if not backward:
            with torch.no_grad():
                return net(x)
        x.grad = None
        net.zero_grad(set_to_none=True)
        net(x).backward(g)

    return step


class VisionTransformer(nn.Module):
    def __init__(self, activation, side, patch, layers, heads, width):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, stride=patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn((side // patch)**2 + 1, width))
        self.blocks = nn.Sequential(*[Block(activation, heads, width, 4 * width, causal=False) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.first.expand(len(images), 1, -1), tokens], 1) + self.position
        return self.head(self.norm(self.blocks(tokens))[:, 0])


def vit_step(activation, batch, side, *sizes):
    net = VisionTransformer(activation, side, *sizes)
    adamw = torch.optim.AdamW(net.parameters(), lr=1e-5, weight_decay=0, fused=True)
    x, labels = torch.randn(batch, 1, side, side), torch.randint(10, (batch,))

    def step():
        adamw.zero_grad(set_to_none=True)
        functional.cross_entropy(net(x), labels).backward()
        adamw.step()

    return step


class Recurrent(nn.Module):
    def __init__(self, cell, width, letters):
        super().__init__()
        self.embedding, self.output = nn.Embedding(letters, width), nn.Linear(width, letters)
        self.rnn = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell](width, width, batch_first=True)

    def forward(self, ids):
        return self.output(self.rnn(self.embedding(ids))[0])


def recurrent_step(cell, batch, positions, width, letters):
    net = Recurrent(cell, width, letters)
    adamw = torch.optim.AdamW(net.parameters(), lr=1e-5, weight_decay=0, fused=True)
    ids, following = (torch.randint(letters, (batch, positions)) for _ in range(2))

    def step():
        adamw.zero_grad(set_to_none=True)
        functional.cross_entropy(net(ids).flatten(0, 1), following.flatten()).backward()
        adamw.step()

    return step


# ---- predictions, and texts character by character ----

def prediction(batch, widths):
    layers = [part for pair in zip(widths[:-2], widths[1:-1]) for part in (nn.Linear(*pair), nn.ReLU())]
    net, x = nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1])).eval(), torch.randn(batch, widths[0])

    def step():
        with torch.inference_mode():
            return net(x)

    return step


def onnx_prediction(path, batch, inputs):
    try:
        import numpy
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = peer_loop.threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    x = {session.get_inputs()[0].name: numpy.random.randn(batch, inputs).astype(numpy.float32)}
    return lambda: session.run(None, x)


class CachedBlock(nn.Module):
    """A block of GPT-2 that is given one position and keeps the keys and values of those before."""

    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x, cache, at):
        q, k, v = (part.view(1, 1, self.heads, -1).transpose(1, 2) for part in self.attention(self.norms[0](x)).chunk(3, -1))
        cache[0][:, :, at:at + 1], cache[1][:, :, at:at + 1] = k, v
        y = functional.scaled_dot_product_attention(q, cache[0][:, :, :at + 1], cache[1][:, :, :at + 1])
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norms[1](x))


class CachedGPT(nn.Module):
    def __init__(self, context, layers, heads, width, letters):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks, self.norm = nn.ModuleList(CachedBlock(heads, width) for _ in range(layers)), nn.LayerNorm(width)
        self.cache = [[torch.zeros(1, heads, context, width // heads) for _ in range(2)] for _ in range(layers)]

    def forward(self, token, at):
        x = self.tokens(token) + self.positions.weight[at]
        for block, cache in zip(self.blocks, self.cache):
            x = block(x, cache, at)
        return self.norm(x) @ self.tokens.weight.T


def writing(kind, context, sizes):
    """A step is a character; after `context` of them a new text begins."""
    state = {"at": 0, "token": torch.ones(1, 1, dtype=torch.long), "lstm": None}
    net = (CachedGPT(context, *sizes) if kind == "gpt" else Recurrent("lstm", *sizes)).eval()

    def step():
        with torch.inference_mode():
            if kind == "gpt":
                logits = net(state["token"], state["at"])
            else:
                y, state["lstm"] = net.rnn(net.embedding(state["token"]), state["lstm"] if state["at"] else None)
                logits = net.output(y)
            state["token"] = logits.argmax(-1)
            state["at"] = (state["at"] + 1) % context
            return logits

    return step


def training_step(activation, batch, widths, compiled=False, wrap=lambda net: net):
    if activation.startswith("gpt:"):
        return gpt_step(activation[4:], batch, *widths, compiled, wrap)
    if activation.startswith("vit:"):
        return vit_step(activation[4:], batch, *widths) if activation[4:] in PLAIN else None
    if activation.startswith("infer:"):
        return prediction(batch, widths)
    if activation.startswith("onnx:"):
        return onnx_prediction(activation[5:], batch, *widths)
    if activation.startswith("write:"):
        return writing(activation[6:], batch, widths)
    if activation.startswith("recurrent:"):
        return recurrent_step(activation[10:], batch, *widths)
    if activation.startswith("images:"):
        return image_step(activation[7:], batch, *widths)
    if activation.startswith("convnet:"):
        name, norm = activation.split(":")[1:]
        return convnet_step(name, norm, batch, widths) if name in ("relu", "gelu_exact") else None
    layers = [part for pair in zip(widths[:-2], widths[1:-1]) for part in hidden_layer(activation, *pair)]
    net = wrap(nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1])))
    adamw = torch.optim.AdamW(net.parameters(), lr=1e-5, weight_decay=0, foreach=True)
    x, labels = torch.randn(batch, widths[0]), torch.randint(widths[-1], (batch,))

    def loss():
        return functional.cross_entropy(net(x), labels)

    update = adamw.step
    if compiled:
        torch.compiler.reset()
        loss, update = torch.compile(loss), torch.compile(update)

    def step():
        adamw.zero_grad(set_to_none=True)
        loss().backward()
        update()

    return step


# ---- kernels ----

COLUMNS = 128  # of operations on rows
aten = torch.ops.aten


def rms_norm(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


# For autograd: functions of x, or of x and second.
OF_TWO = ("log", "glu", "reglu", "geglu", "swiglu")
FUNCTIONS = {
    "relu": torch.relu,
    "leaky_relu": functional.leaky_relu,
    "gelu_exact": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "gelu_quick": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": functional.silu,
    "softplus": functional.softplus,
    "mish": functional.mish,
    "elu": functional.elu,
    "selu": torch.selu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
    "exp": torch.exp,
    "log": lambda x, second: torch.log(second),
    "glu": lambda x, second: torch.sigmoid(x) * second,
    "reglu": lambda x, second: torch.relu(x) * second,
    "geglu": lambda x, second: functional.gelu(x) * second,
    "swiglu": lambda x, second: functional.silu(x) * second,
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "layer_norm": lambda x: functional.layer_norm(x, (COLUMNS,)),
    "rms_norm": rms_norm,
    "dropout": lambda x: functional.dropout(x, 0.1),
}

# Single operations that write into an array that is there already; x and second come in, y goes out.
FORWARD = {
    "copy": lambda x, second, y: y.copy_(x),
    "relu": lambda x, second, y: torch.clamp_min(x, 0, out=y),
    "leaky_relu": lambda x, second, y: aten.leaky_relu.out(x, 0.01, out=y),
    "gelu_exact": lambda x, second, y: aten.gelu.out(x, approximate="none", out=y),
    "gelu_tanh": lambda x, second, y: aten.gelu.out(x, approximate="tanh", out=y),
    "silu": lambda x, second, y: aten.silu.out(x, out=y),
    "softplus": lambda x, second, y: aten.softplus.out(x, out=y),
    "mish": lambda x, second, y: aten.mish.out(x, out=y),
    "elu": lambda x, second, y: aten.elu.out(x, out=y),
    "tanh": lambda x, second, y: torch.tanh(x, out=y),
    "sigmoid": lambda x, second, y: torch.sigmoid(x, out=y),
    "erf": lambda x, second, y: torch.erf(x, out=y),
    "exp": lambda x, second, y: torch.exp(x, out=y),
    "log": lambda x, second, y: torch.log(second, out=y),
    "softmax": lambda x, second, y: aten._softmax.out(x, -1, False, out=y),
    "log_softmax": lambda x, second, y: aten._log_softmax.out(x, -1, False, out=y),
}

# The same for the cotangent g of y, which gives the cotangent dx of x.
BACKWARD = {
    "copy": lambda g, x, second, y, dx: dx.copy_(g),
    "relu": lambda g, x, second, y, dx: aten.threshold_backward.grad_input(g, y, 0, grad_input=dx),
    "leaky_relu": lambda g, x, second, y, dx: aten.leaky_relu_backward.grad_input(g, x, 0.01, False, grad_input=dx),
    "gelu_exact": lambda g, x, second, y, dx: aten.gelu_backward.grad_input(g, x, approximate="none", grad_input=dx),
    "gelu_tanh": lambda g, x, second, y, dx: aten.gelu_backward.grad_input(g, x, approximate="tanh", grad_input=dx),
    "silu": lambda g, x, second, y, dx: aten.silu_backward.grad_input(g, x, grad_input=dx),
    "softplus": lambda g, x, second, y, dx: aten.softplus_backward.grad_input(g, x, 1, 20, grad_input=dx),
    "mish": lambda g, x, second, y, dx: aten.mish_backward(g, x),
    "elu": lambda g, x, second, y, dx: aten.elu_backward.grad_input(g, 1, 1, 1, False, x, grad_input=dx),
    "tanh": lambda g, x, second, y, dx: aten.tanh_backward.grad_input(g, y, grad_input=dx),
    "sigmoid": lambda g, x, second, y, dx: aten.sigmoid_backward.grad_input(g, y, grad_input=dx),
    "exp": lambda g, x, second, y, dx: torch.mul(g, y, out=dx),
    "log": lambda g, x, second, y, dx: torch.div(g, second, out=dx),
    "softmax": lambda g, x, second, y, dx: aten._softmax_backward_data.out(g, y, -1, torch.float32, grad_input=dx),
    "log_softmax": lambda g, x, second, y, dx: aten._log_softmax_backward_data.out(g, y, -1, torch.float32, out=dx),
}


def through_autograd(name, rows):
    function = FUNCTIONS[name]
    inputs = [torch.randn(rows, COLUMNS), torch.rand(rows, COLUMNS) + 0.1][:2 if name in OF_TWO else 1]
    for x in inputs:
        x.requires_grad_()
    cotangent = torch.randn(rows, COLUMNS)

    def step():
        for x in inputs:
            x.grad = None
        function(*inputs).backward(cotangent)

    return step


def operation(name, direction, rows):
    if direction == "tape":
        return through_autograd(name, rows) if name in FUNCTIONS else None
    forward, backward = FORWARD.get(name), BACKWARD.get(name)
    if not forward or (direction != "forward" and not backward):
        return None
    x, second, g = torch.randn(rows, COLUMNS), torch.rand(rows, COLUMNS) + 0.1, torch.randn(rows, COLUMNS)
    y, dx = torch.zeros(rows, COLUMNS), torch.zeros(rows, COLUMNS)
    forward(x, second, y)

    def both():
        forward(x, second, y)
        backward(g, x, second, y, dx)

    return {"forward": lambda: forward(x, second, y), "backward": lambda: backward(g, x, second, y, dx),
            "both": both}[direction]


def kernel(name, direction, elements):
    """A function to call; None if there is none, or not in this version of PyTorch."""
    try:
        step = operation(name, direction, elements // COLUMNS)
        if step:
            step()
        return step
    except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
        print(f"bench: PyTorch's {name} {direction}: {error}", file=sys.stderr)
        return None


if __name__ == "__main__":
    threads, compiled = peer_loop.threads(), "compile" in sys.argv[2:]
    torch.set_num_threads(threads)
    logging.disable(logging.WARNING)  # what the compiler does without, such as a GPU
    peer_loop.answer(f"PyTorch {torch.__version__}{', compiled' if compiled else ''}",
                     lambda *net: training_step(*net, compiled), None if compiled else kernel)
