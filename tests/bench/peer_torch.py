"""PyTorch's side of `bench --peers`: does what the lines on its standard input ask for, and answers each with one line.

    net relu 128 784 128 10         a net of these widths, batch 128            -> ready
    kernel gelu_exact forward 16384 an elementwise operation on so many numbers -> ready
    run 100                         100 steps of it                             -> the seconds they took

The first line it prints is its version. Argument: the number of threads.
"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional


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


def training_step(activation, batch, widths):
    layers = [part for pair in zip(widths[:-2], widths[1:-1]) for part in hidden_layer(activation, *pair)]
    net = nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1]))
    adamw = torch.optim.AdamW(net.parameters(), lr=1e-5, weight_decay=0, foreach=True)
    x, labels = torch.randn(batch, widths[0]), torch.randint(widths[-1], (batch,))

    def step():
        adamw.zero_grad(set_to_none=True)
        functional.cross_entropy(net(x), labels).backward()
        adamw.step()

    return step


def main():
    threads = int(sys.argv[1])
    clock = time.process_time if threads == 1 else time.perf_counter  # as race.h has it
    torch.set_num_threads(threads)
    print("PyTorch", torch.__version__, flush=True)
    step = None
    for line in sys.stdin:
        command, *words = line.split()
        if command == "net":
            step = training_step(words[0], int(words[1]), [int(word) for word in words[2:]])
            print("ready", flush=True)
        elif command == "run":
            start = clock()
            for _ in range(int(words[0])):
                step()
            print(clock() - start, flush=True)


if __name__ == "__main__":
    main()
