"""PyTorch's side of `bench --mpi --peers`: the training step by as many processes of one thread as the argument says, with DistributedDataParallel
and gloo; each has its share of the batch. peer_loop.py has what is asked.
"""
import multiprocessing
import sys
import tempfile
import time

import peer_loop

peer_loop.require("torch")


def work(rank, processes, meeting, lines):
    """What a process does; lines yields what is asked, and the first process answers."""
    import torch
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    import peer_torch

    torch.set_num_threads(1)
    wrap = lambda net: net  # noqa: E731
    if processes > 1:
        distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=processes)
        wrap = DistributedDataParallel
    if rank == 0:
        print(f"PyTorch {torch.__version__} with gloo", flush=True)
    step = None
    for line in lines:
        command, *words = line.split()
        if command == "run":
            start = time.perf_counter()
            for _ in range(int(words[0])):
                step()
            answer = time.perf_counter() - start
        else:
            step = peer_torch.training_step(words[0], int(words[1]) // processes, [int(word) for word in words[2:]], wrap=wrap)
            for _ in range(3):
                step()
            answer = "ready"
        if rank == 0:
            print(answer, flush=True)
    if processes > 1:
        distributed.destroy_process_group()


def lines_of(connection):
    while line := connection.recv():
        yield line


def follow(rank, processes, meeting, connection):
    work(rank, processes, meeting, lines_of(connection))


def lines_for_all(connections):
    for line in sys.stdin:
        for connection in connections:
            connection.send(line)
        yield line
    for connection in connections:
        connection.send("")


if __name__ == "__main__":
    count, context = peer_loop.threads(), multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ends = [context.Pipe() for _ in range(1, count)]
        meeting = folder + "/meeting"
        others = [context.Process(target=follow, args=(rank, count, meeting, ends[rank - 1][1]), daemon=True)
                  for rank in range(1, count)]
        for other in others:
            other.start()
        work(0, count, meeting, lines_for_all([end[0] for end in ends]))
        for other in others:
            other.join(10)
