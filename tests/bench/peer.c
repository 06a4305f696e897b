#include "tests/bench/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_peer {
    pid_t process;
    FILE *to, *from;
};

static const struct {
    const char *name, *title, *script, *argument;
} kinds[PEERS + 1] = {
    [PEER_TORCH] = {"torch", "PyTorch", "peer_torch.py", NULL},
    [PEER_TORCH_COMPILED] = {"torch_compiled", "PyTorch, compiled,", "peer_torch.py", "compile"},
    [PEER_JAX] = {"jax", "JAX", "peer_jax.py", NULL},
    [PEER_TORCH_PROCESSES] = {"torch_processes", "PyTorch", "peer_processes.py", NULL},
};

const char *bench_peer_name(peer_kind kind)
{
    return kind < PEERS ? kinds[kind].name : NULL;
}

/* The script in tests/bench of the nearest folder above the program, or else of the current folder. */
static void find_script(const char *script, char *path, size_t size)
{
    char folder[2048];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    for (char *slash; (slash = strrchr(folder, '/'));) {
        *slash = '\0';
        snprintf(path, size, "%s/tests/bench/%s", folder, script);
        if (access(path, R_OK) == 0)
            return;
    }
    snprintf(path, size, "tests/bench/%s", script);
}

static void become_python(peer_kind kind, const char *python, int threads)
{
    static const char *const limits[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};
    char script[4096], count[16];
    find_script(kinds[kind].script, script, sizeof script);
    snprintf(count, sizeof count, "%d", threads);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        setenv(limits[i], count, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    execlp(python, python, script, count, kinds[kind].argument, (char *)NULL);
    fprintf(stderr, "bench: %s: %s\n", python, strerror(errno));
    _exit(127);
}

bench_peer *bench_peer_start(peer_kind kind, const char *python, int threads)
{
    bench_peer *peer = calloc(1, sizeof *peer);
    int in[2], out[2];
    /* A peer that is started later must not inherit this one's input. */
    if (!peer || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        free(peer);
        return NULL;
    }
    fflush(NULL);
    peer->process = fork();
    if (peer->process == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        become_python(kind, python, threads);
    }
    signal(SIGPIPE, SIG_IGN); /* the death of a peer shows when it does not answer */
    close(in[0]), close(out[1]);
    peer->to = fdopen(in[1], "w");
    peer->from = fdopen(out[0], "r");
    char version[128];
    if (!fgets(version, sizeof version, peer->from)) {
        fprintf(stderr, "bench: %s is not timed: %s did not start it\n", kinds[kind].title, python);
        bench_peer_stop(peer);
        return NULL;
    }
    fprintf(stderr, "bench: peer %.*s, threads: %d\n", (int)strcspn(version, "\n"), version, threads);
    return peer;
}

void bench_peer_stop(bench_peer *peer)
{
    if (!peer)
        return;
    fclose(peer->to); /* the script ends when its input is closed */
    fclose(peer->from);
    waitpid(peer->process, NULL, 0);
    free(peer);
}

bool bench_peers_start(bench_peer *peers[PEERS], const peer_settings settings[PEERS], int threads)
{
    bool fine = true;
    for (peer_kind k = 0; k < PEERS; k++) {
        peers[k] = settings[k].python ? bench_peer_start(k, settings[k].python, threads) : NULL;
        fine = fine && (peers[k] || !settings[k].required);
    }
    return fine;
}

void bench_peers_stop(bench_peer *peers[PEERS])
{
    for (int k = 0; k < PEERS; k++)
        bench_peer_stop(peers[k]);
}

/* Sends a line and waits for the answer. */
static bool ask(bench_peer *peer, const char *question, char *answer, int size)
{
    return fprintf(peer->to, "%s\n", question) > 0 && fflush(peer->to) == 0 && fgets(answer, size, peer->from);
}

bool bench_peer_prepare(bench_peer *peer, const char *work)
{
    char answer[128];
    return peer && ask(peer, work, answer, sizeof answer) && strcmp(answer, "ready\n") == 0;
}

double bench_peer_run(void *context, int steps)
{
    bench_peer *peer = context;
    char question[32], answer[128];
    snprintf(question, sizeof question, "run %d", steps);
    return ask(peer, question, answer, sizeof answer) ? strtod(answer, NULL) : -1;
}
