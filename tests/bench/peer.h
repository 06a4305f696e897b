/* The same work in PyTorch or JAX, in a separate process that waits while others are timed: peer_torch.py, peer_jax.py.
 *
 *     bench_peer *peer = bench_peer_start(PEER_JAX, "python3", 1);     // 1 thread; NULL, with a message, without JAX
 *     if (bench_peer_prepare(peer, "net relu 32 2 16 16 2"))
 *         printf("%g s a step\n", bench_peer_run(peer, 100) / 100);
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>

typedef enum peer_kind {
    PEER_TORCH,
    PEER_TORCH_COMPILED,
    PEER_JAX,
    PEERS,
    PEER_TORCH_PROCESSES = PEERS /* so many processes of one thread each, by DistributedDataParallel; for bench --mpi */
} peer_kind;

/* "torch", "torch_compiled", "jax"; NULL past the end. */
const char *bench_peer_name(peer_kind kind);

/* The peers that are requested. */
typedef struct peer_settings {
    const char *python; /* NULL: not requested */
    bool required;      /* if it does not start, the benchmark fails */
} peer_settings;

typedef struct bench_peer bench_peer;

bench_peer *bench_peer_start(peer_kind kind, const char *python, int threads);
void bench_peer_stop(bench_peer *peer);

/* Starts all requested peers; false if a required one does not start. Stop them in either case. */
bool bench_peers_start(bench_peer *peers[PEERS], const peer_settings settings[PEERS], int threads);
void bench_peers_stop(bench_peer *peers[PEERS]);

/* Selects the work for the following runs; false if the peer cannot do it, or is NULL. */
bool bench_peer_prepare(bench_peer *peer, const char *work);

/* Runs this many steps and returns the seconds that they took; negative on failure. Takes a bench_peer, as in
 * race_entry. */
double bench_peer_run(void *peer, int steps);

#endif
