"""Writes tests/golden/layers.safetensors: layers of PyTorch with their weights, an input, what comes out, and all gradients.

    /usr/bin/python3 tests/golden/make_layers.py        (needs torch; Debian's 1.13 wrote the files that are kept)

NAME/ stands before the parameters' names of a layer, "input", "output", "cotangent", and the gradients of sum(output * cotangent): "grad.input"
and "grad.NAME". All numbers are doubles.
"""
import json
import math
import os
import struct

import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
FILE = os.path.join(os.path.dirname(__file__), "layers.safetensors")
all_tensors = {}


def write(name, tensors):
    all_tensors.update((name + "/" + key, tensor) for key, tensor in tensors.items())


def write_all(path, tensors):
    header, data = {}, b""
    for key, tensor in sorted(tensors.items()):
        numbers = tensor.detach().contiguous().double()
        raw = struct.pack(f"<{numbers.numel()}d", *numbers.flatten().tolist())
        header[key] = {"dtype": "F64", "shape": list(numbers.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def keep(name, parameters, forward, x, more=None):
    """Runs forward(x), differentiates, and writes all of it. Parameters are drawn anew, so that biases and norms are not trivial."""
    torch.manual_seed(sum(map(ord, name)))
    parameters = dict(parameters)
    with torch.no_grad():
        for key, parameter in parameters.items():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + (1 if "norm" in key and key.endswith("weight") else 0))
    tensors = {key: value.detach().clone() for key, value in parameters.items()}
    tensors["input"] = x.detach().clone()
    tensors.update({key: value.detach().clone() for key, value in (more or {}).items()})
    x = x.requires_grad_(x.dtype == torch.float64)
    output = forward(x)
    cotangent = torch.randn_like(output)
    (output * cotangent).sum().backward()
    tensors.update(output=output, cotangent=cotangent)
    if x.grad is not None:
        tensors["grad.input"] = x.grad
    tensors.update({"grad." + key: value.grad for key, value in parameters.items()})
    write(name, tensors)


def draw(*shape):
    return torch.randn(*shape)


def module(name, layer, x, **more):
    keep(name, layer.named_parameters(), layer, x, more)


def rms_norm(x, weight, epsilon=1e-6):
    return weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon)


def simple_layers():
    module("linear_1", nn.Linear(5, 3), draw(4, 5))
    module("linear_2", nn.Linear(7, 1, bias=False), draw(2, 3, 7))
    module("embedding_1", nn.Embedding(7, 3), torch.tensor([[0, 6, 2], [2, 2, 5]]))
    module("embedding_2", nn.Embedding(1, 5), torch.tensor([0, 0, 0]))
    module("layer_norm_1", nn.LayerNorm(5), draw(3, 5))
    module("layer_norm_2", nn.LayerNorm(7, eps=1e-12), draw(2, 3, 7))
    for number, shape in ((1, (3, 5)), (2, (2, 3, 7))):
        weight = nn.Parameter(torch.ones(shape[-1]))
        keep(f"rms_norm_{number}", {"weight": weight}, lambda x: rms_norm(x, weight), draw(*shape))
    module("group_norm_1", nn.GroupNorm(3, 6), draw(2, 6, 5))
    module("group_norm_2", nn.GroupNorm(1, 4), draw(3, 4, 2, 3))
    for name, layer, x in (("batch_norm_1", nn.BatchNorm1d(3), draw(5, 3)), ("batch_norm_2", nn.BatchNorm2d(3), draw(2, 3, 3, 5))):
        keep(name, layer.named_parameters(), layer, x)  # moves the running statistics
        moved = {"running_mean": layer.running_mean.clone(), "running_var": layer.running_var.clone()}
        layer.zero_grad()
        layer.eval()
        keep(name + "_evaluation", layer.named_parameters(), layer, draw(*x.shape), moved)
    module("conv1d_1", nn.Conv1d(3, 4, 3, padding=1), draw(2, 3, 7))
    module("conv1d_2", nn.Conv1d(4, 6, 2, stride=2, dilation=2, groups=2, bias=False), draw(3, 4, 9))
    module("conv2d_1", nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(1, 0)), draw(2, 3, 7, 5))
    module("conv2d_2", nn.Conv2d(4, 4, 3, padding=2, dilation=2, groups=4), draw(1, 4, 5, 6))


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def sequences():
    dense = nn.Sequential(nn.Linear(5, 6), nn.LayerNorm(6), nn.GELU(), Residual(nn.Linear(6, 7), nn.SiLU(), nn.Linear(7, 6)), nn.GLU(), nn.Linear(3, 2))
    module("sequential_1", dense, draw(4, 5))
    images = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.GELU(), nn.MaxPool2d(2, 1), nn.AvgPool2d((2, 3)), nn.Flatten(), nn.Linear(3 * 3 * 2, 4))
    module("sequential_2", images, draw(3, 2, 7, 7))


def feed_forwards():
    gates = {"glu": torch.sigmoid, "bilinear": lambda z: z, "reglu": torch.relu, "geglu": F.gelu, "swiglu": F.silu}
    for name, gate in gates.items():
        for number, (width, hidden, bias) in ((1, (5, 7, False)), (2, (4, 3, True))):
            p = nn.ModuleDict({"gate_proj": nn.Linear(width, hidden, bias), "up_proj": nn.Linear(width, hidden, bias),
                               "down_proj": nn.Linear(hidden, width, bias)})
            keep(f"feed_forward_{name}_{number}", p.named_parameters(),
                 lambda x: p["down_proj"](gate(p["gate_proj"](x)) * p["up_proj"](x)), draw(2, 3, width))
    for name, act in (("gelu_exact", F.gelu), ("gelu_quick", lambda z: z * torch.sigmoid(1.702 * z))):  # the second is CLIP's
        for number, (width, hidden) in ((1, (5, 7)), (2, (3, 12))):
            p = nn.ModuleDict({"fc1": nn.Linear(width, hidden), "fc2": nn.Linear(hidden, width)})
            keep(f"feed_forward_{name}_{number}", p.named_parameters(), lambda x: p["fc2"](act(p["fc1"](x))), draw(3, width))


def rotate(x, base=10000):
    """LLaMA's: the first half of the numbers is paired with the second."""
    size = x.shape[-1]
    rates = base ** (-torch.arange(0, size, 2) / size)
    angle = torch.outer(torch.arange(x.shape[-2]).double(), rates)
    cosine, sine = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
    half = torch.cat([-x[..., size // 2:], x[..., :size // 2]], -1)
    return x * cosine + half * sine


def grouped_attention(p, x, heads, shared, rotary):
    batch, positions, width = x.shape
    size = width // heads
    q = p["q_proj"](x).view(batch, positions, heads, size).transpose(1, 2)
    k = p["k_proj"](x).view(batch, positions, shared, size).transpose(1, 2)
    v = p["v_proj"](x).view(batch, positions, shared, size).transpose(1, 2)
    if rotary:
        q, k = rotate(q), rotate(k)
    k, v = (t.repeat_interleave(heads // shared, 1) for t in (k, v))
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(size)
    scores = scores.masked_fill(torch.ones(positions, positions).triu(1).bool(), -math.inf)
    return p["o_proj"]((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, positions, width))


def projections(width, heads, shared, bias):
    sizes = {"q_proj": width, "k_proj": width // heads * shared, "v_proj": width // heads * shared, "o_proj": width}
    return nn.ModuleDict({key: nn.Linear(width, size, bias) for key, size in sizes.items()})


def attentions():
    a = nn.MultiheadAttention(6, 3, batch_first=True)
    keep("attention_plain_1", a.named_parameters(), lambda x: a(x, x, x)[0], draw(2, 5, 6))
    b = nn.MultiheadAttention(5, 1, bias=False, batch_first=True)
    keep("attention_plain_2", b.named_parameters(), lambda x: b(x, x, x)[0], draw(1, 7, 5))
    for number, (width, heads, positions) in ((1, (6, 2, 5)), (2, (9, 3, 3))):
        c = nn.MultiheadAttention(width, heads, batch_first=True)
        ahead = torch.ones(positions, positions).triu(1).bool()
        padding = torch.ones(2, positions)
        padding[1, -2:] = 0
        keep(f"attention_causal_{number}", c.named_parameters(),
             lambda x: c(x, x, x, attn_mask=ahead, key_padding_mask=padding == 0)[0], draw(2, positions, width), {"padding": padding})
    for number, (width, heads, shared, bias, rotary) in ((1, (12, 6, 2, False, True)), (2, (8, 4, 1, True, False))):
        p = projections(width, heads, shared, bias)
        keep(f"attention_grouped_{number}", p.named_parameters(), lambda x: grouped_attention(p, x, heads, shared, rotary),
             draw(2, 5, width))


def blocks():
    for number, (width, heads, hidden) in ((1, (6, 3, 11)), (2, (5, 1, 20))):
        for name, first, epsilon, act in (("bert", False, 1e-12, F.gelu), ("vit", True, 1e-6, F.gelu),
                                          ("gpt", True, 1e-5, lambda z: 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))))):
            layer = nn.TransformerEncoderLayer(width, heads, hidden, 0, act, epsilon, True, first)
            ahead = torch.ones(4, 4).triu(1).bool() if name == "gpt" else None
            keep(f"block_{name}_{number}", layer.named_parameters(), lambda x: layer(x, ahead), draw(2, 4, width))
    for number, (width, heads, shared, hidden) in ((1, (8, 2, 2, 21)), (2, (12, 6, 3, 7))):
        p = nn.ModuleDict({"self_attn": projections(width, heads, shared, False), "mlp": nn.ModuleDict(
            {"gate_proj": nn.Linear(width, hidden, False), "up_proj": nn.Linear(width, hidden, False), "down_proj": nn.Linear(hidden, width, False)}),
            "norm1": nn.LayerNorm(width), "norm2": nn.LayerNorm(width)})
        del p["norm1"].bias, p["norm2"].bias

        def llama(x):
            x = x + grouped_attention(p["self_attn"], rms_norm(x, p["norm1"].weight), heads, shared, True)
            h, m = rms_norm(x, p["norm2"].weight), p["mlp"]
            return x + m["down_proj"](F.silu(m["gate_proj"](h)) * m["up_proj"](h))

        keep(f"block_llama_{number}", p.named_parameters(), llama, draw(2, 5, width))


class Transformer(nn.Module):
    """Embeddings, PyTorch's blocks, a norm, and a head that may be the embedding's weight."""

    def __init__(self, vocabulary, context, width, heads, layers, first, causal, tied):
        super().__init__()
        self.token_embedding, self.position_embedding = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        epsilon = 1e-5 if first else 1e-12
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 4 * width, 0, F.gelu, epsilon, True, first) for _ in range(layers))
        if first:
            self.norm = nn.LayerNorm(width, epsilon)
        else:
            self.embedding_norm = nn.LayerNorm(width, epsilon)
        if not tied:
            self.head = nn.Linear(width, vocabulary, False)
        self.first, self.causal, self.tied = first, causal, tied

    def forward(self, ids):
        positions = ids.shape[1]
        x = self.token_embedding(ids) + self.position_embedding.weight[:positions]
        x = x if self.first else self.embedding_norm(x)
        ahead = torch.ones(positions, positions).triu(1).bool() if self.causal else None
        for layer in self.layers:
            x = layer(x, ahead)
        x = self.norm(x) if self.first else x
        return x @ (self.token_embedding if self.tied else self.head).weight.T


class ConvNet(nn.Module):
    """Blocks of convolution, norm, activation and pooling; the mean over positions, or all of them, into a linear layer."""

    def __init__(self, channels, filters, kernel, pool, norm, act, head, flatten=False, gated=False):
        super().__init__()
        self.blocks = nn.ModuleList()
        for outputs in filters:
            block = nn.Module()
            block.conv = nn.Conv2d(channels, outputs * (2 if gated else 1), kernel, padding=kernel // 2, bias=norm is None)
            if norm:
                block.norm = norm(outputs)
            self.blocks.append(block)
            channels = outputs
        self.head, self.pool, self.act, self.flatten = nn.Linear(*head), pool, act, flatten

    def forward(self, x):
        for block in self.blocks:
            x = block.conv(x)
            x = F.max_pool2d(self.act(block.norm(x) if hasattr(block, "norm") else x), self.pool)
        return self.head(x.flatten(1) if self.flatten else x.mean((2, 3)))


class ViT(nn.Module):
    def __init__(self, channels, patch, tokens, width, heads, hidden, layers, outputs, mean_pool):
        super().__init__()
        self.patch_embedding = nn.Conv2d(channels, width, patch, patch)
        if not mean_pool:
            self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.position_embedding = nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, hidden, 0, F.gelu, 1e-6, True, True) for _ in range(layers))
        self.norm, self.head, self.mean_pool = nn.LayerNorm(width, 1e-6), nn.Linear(width, outputs), mean_pool

    def forward(self, x):
        x = self.patch_embedding(x).flatten(2).transpose(1, 2)
        if not self.mean_pool:
            x = torch.cat([self.class_token.expand(len(x), -1, -1), x], 1)
        x = x + self.position_embedding.weight
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return self.head(x.mean(1) if self.mean_pool else x[:, 0])


class Autoencoder(nn.Module):
    def __init__(self, widths, act, linear_code):
        super().__init__()
        self.encoder = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.decoder = nn.ModuleList(nn.Linear(b, a) for a, b in reversed(list(zip(widths, widths[1:]))))
        self.act, self.linear_code = act, linear_code

    def forward(self, x):
        for i, layer in enumerate(self.encoder):
            x = layer(x)
            x = x if self.linear_code and i == len(self.encoder) - 1 else self.act(x)
        for i, layer in enumerate(self.decoder):
            x = layer(self.act(x) if i else x)
        return x


class CharMLP(nn.Module):
    def __init__(self, vocabulary, context, embedding, hidden, act, norm):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip([context * embedding] + hidden, hidden))
        if norm:
            for layer in self.layers:
                layer.norm = nn.LayerNorm(layer.out_features)
        self.output, self.act, self.norm = nn.Linear(hidden[-1], vocabulary), act, norm

    def forward(self, ids):
        x = self.embedding(ids).flatten(1)
        for layer in self.layers:
            x = self.act(layer(x))
            x = layer.norm(x) if self.norm else x
        return self.output(x)


def small_models():
    net = ConvNet(3, [4, 5], 3, 2, nn.BatchNorm2d, F.gelu, (5, 3))
    module("convnet_1", net, draw(4, 3, 7, 5))
    moved = {key: value.clone() for key, value in net.named_buffers() if "running" in key}
    net.zero_grad()
    net.eval()
    keep("convnet_1_evaluation", net.named_parameters(), net, draw(2, 3, 7, 5), moved)
    module("convnet_2", ConvNet(1, [6], 5, 3, lambda size: nn.GroupNorm(3, size), F.silu, (54, 2), True), draw(2, 1, 9, 10))
    module("convnet_3", ConvNet(2, [3], 3, 1, None, lambda x: F.glu(x, 1), (3, 4), gated=True), draw(3, 2, 5, 4))
    module("vit_1", ViT(3, 3, 7, 6, 3, 11, 2, 4, False), draw(2, 3, 6, 9))
    module("vit_2", ViT(1, 2, 4, 5, 1, 20, 1, 3, True), draw(3, 1, 4, 4))
    module("autoencoder_1", Autoencoder([7, 5, 4, 3], F.gelu, False), draw(3, 7))
    module("autoencoder_2", Autoencoder([5, 4, 2], torch.tanh, True), draw(2, 3, 5))
    module("char_mlp_1", CharMLP(7, 3, 2, [5], torch.tanh, False), torch.tensor([[0, 6, 2], [2, 2, 5], [1, 0, 3], [6, 6, 6]]))
    module("char_mlp_2", CharMLP(5, 4, 3, [7, 3], F.gelu, True), torch.tensor([[0, 4, 2, 1], [3, 3, 1, 0]]))


def models():
    ids = torch.tensor([[0, 4, 2, 2], [1, 6, 3, 0], [5, 5, 6, 1]])
    module("transformer_gpt", Transformer(7, 5, 6, 2, 2, True, True, True), ids)
    module("transformer_bert", Transformer(7, 4, 6, 3, 1, False, False, False), ids)


if __name__ == "__main__":
    torch.manual_seed(0)
    simple_layers()
    feed_forwards()
    attentions()
    blocks()
    models()
    small_models()
    sequences()

    write_all(FILE, all_tensors)
