#include "tests/bench/blas.h"

#include "autograd/kernels/blas.h"

#include "autograd/threads.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char QUESTION[] = "BENCH_PRINT_CORE"; /* set in the environment of the second process */
static const char *const forcing[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"};
enum { FORCING = sizeof forcing / sizeof forcing[0] };

void bench_blas_answer(void)
{
    if (!getenv(QUESTION))
        return;
    fputs(openblas_get_corename(), stdout);
    fflush(stdout);
    _exit(0);
}

void bench_blas_use_best(char **arguments)
{
    const tg_blas *blas = tg_blas_load(); /* OpenBLAS as linked here */
    const char *core = blas ? tg_blas_better_core(blas) : NULL;
    if (blas && !core && strcmp(tg_blas_core(blas), "Zen") == 0)
        core = "Haswell"; /* as wide as the other, and faster on Zen processors too: docs/products.md */
    if (getenv("OPENBLAS_CORETYPE") || !core)
        return;
    setenv("OPENBLAS_CORETYPE", core, 1);
    execv("/proc/self/exe", arguments); /* OpenBLAS reads the variable once, when it is loaded */
}

/* Reads the core's name from a process like this one without forced settings; an empty text on failure. */
static void ask_unforced(char *name, size_t size)
{
    name[0] = '\0';
    int ends[2];
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < FORCING; i++)
            unsetenv(forcing[i]);
        setenv(QUESTION, "1", 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl("/proc/self/exe", "bench", (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    ssize_t length = child > 0 ? read(ends[0], name, size - 1) : 0;
    name[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

void bench_blas_describe(FILE *out)
{
    const char *core = openblas_get_corename();
    fprintf(out, "OpenBLAS core %s (%s)\n", core, openblas_get_config());
    const char *forced_core = getenv(forcing[0]), *forced_size = getenv(forcing[1]);
    if (!forced_core && !forced_size)
        return;
    char unforced[64];
    ask_unforced(unforced, sizeof unforced);
    if (forced_core && *unforced && strcmp(core, unforced) != 0)
        fprintf(out, "  forced by %s=%s: it would choose %s by itself\n", forcing[0], forced_core, unforced);
    else if (forced_core)
        fprintf(out, "  %s=%s names the core that it would choose anyway\n", forcing[0], forced_core);
    if (forced_size)
        fprintf(out, "  %s=%s forces a cache size, and with it block sizes, that it would not choose by itself\n",
                forcing[1], forced_size);
}

void bench_blas_threads(int count)
{
    tg_set_threads(count);
    openblas_set_num_threads(count);
}
