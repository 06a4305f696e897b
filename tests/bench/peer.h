/* The same work in PyTorch, in a process of its own that waits while others are timed: peer_torch.py.
 *
 *     bench_peer *peer = bench_peer_start("python3", 1);         // 1 thread; NULL, with a word on stderr, without PyTorch
 *     if (bench_peer_prepare(peer, "net relu 32 2 16 16 2"))
 *         printf("%g s a step\n", bench_peer_run(peer, 100) / 100);
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>

typedef struct bench_peer bench_peer;

bench_peer *bench_peer_start(const char *python, int threads);
void bench_peer_stop(bench_peer *peer);

/* What to run from now on; false if the peer cannot, or is NULL. */
bool bench_peer_prepare(bench_peer *peer, const char *work);

/* Runs so many steps and returns the seconds they took; negative on failure. Takes a bench_peer, as a race_entry does. */
double bench_peer_run(void *peer, int steps);

#endif
