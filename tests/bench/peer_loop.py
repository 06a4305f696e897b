"""What the peers of `bench --peers` have in common: a peer does what the lines on its standard input ask for, and answers each with one line.

    net relu 128 784 128 10         a training step of a net of these widths, batch 128 -> ready
    net gpt:swiglu 32 4 4 64 64 65 170      of a GPT: batch, layers, heads, width, context, letters, hidden -> ready
    net convnet:relu:batch 128 32 64 64     of a ConvNet: norm (batch or none), batch, filters -> ready
    net images:backward 128 16 32 14        of a convolution, or pooling with 0 filters: batch, channels, filters, side -> ready
    net vit:relu 128 28 7 4 4 64    of a vision transformer: batch, side, patch, layers, heads, width -> ready
    net recurrent:lstm 32 200 256 65        of a recurrent model of text: batch, characters, width, letters -> ready
    net infer:relu 256 784 128 10   a prediction of 256 rows -> ready
    net onnx:/tmp/net.onnx 256 784          the same by onnxruntime from a file: rows, inputs -> ready
    net write:gpt 256 4 4 128 65    a character of a text: context, layers, heads, width, letters; write:lstm: context, width, letters -> ready
    kernel gelu_exact forward 16384 an operation on so many numbers                     -> ready
                                                   ... or anything that it does not have -> no
    run 100                         100 steps of it                                     -> the seconds they took

The first line it prints is its name and version. Its first argument is the number of threads.
"""
import importlib.util
import sys
import time


def threads():
    return int(sys.argv[1])


def require(*modules):
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(f"bench: {sys.executable} has no {' and no '.join(missing)}")


def answer(version, training_step, kernel=None, wait=lambda result: None):
    """training_step(activation, batch, widths) and kernel(name, direction, elements) return a function to call, or None if there is none;
    wait(what it returned last) returns when all of it is computed."""
    clock = time.process_time if threads() == 1 else time.perf_counter  # as race.h has it
    print(version, flush=True)
    step = None
    for line in sys.stdin:
        command, *words = line.split()
        if command == "run":
            start = clock()
            for _ in range(int(words[0])):
                result = step()
            wait(result)
            print(clock() - start, flush=True)
            continue
        step = None  # what it held is free before the next one is made
        if command == "net":
            step = training_step(words[0], int(words[1]), [int(word) for word in words[2:]])
        elif kernel:
            step = kernel(words[0], words[1], int(words[2]))
        print("ready" if step else "no", flush=True)
