#include "tests/bench/blas.h"

#include "autograd/kernels/kernels.h"

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

/* What OpenBLAS has at best for this processor: for our kernels' instruction set, cores of its name or wider. */
static const char *best_core(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
    if (strcmp(tg_kernels.isa, "v4") == 0)
        return __builtin_cpu_supports("avx512bf16") ? "Cooperlake" : "SkylakeX";
    if (strcmp(tg_kernels.isa, "v3") == 0)
        return "Haswell";
#endif
    return NULL;
}

/* Whether the core in use has vectors as wide as the processor's. */
static bool is_wide_enough(const char *core)
{
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", "Haswell", "Zen"};
    enum { WIDEST = 3, ALL = sizeof wide / sizeof *wide };
    const char *best = best_core();
    const int enough = !best ? 0 : strcmp(best, "Haswell") == 0 ? ALL : WIDEST;
    for (int i = 0; i < enough; i++)
        if (strcmp(core, wide[i]) == 0)
            return true;
    return !best;
}

void bench_blas_use_best(char **arguments)
{
    if (getenv("OPENBLAS_CORETYPE") || is_wide_enough(openblas_get_corename()))
        return;
    setenv("OPENBLAS_CORETYPE", best_core(), 1);
    execv("/proc/self/exe", arguments); /* OpenBLAS looks once, when it is loaded */
}

/* Reads the core's name from a process like this one whose environment forces nothing; an empty text if that fails. */
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
    if (!is_wide_enough(core))
        fprintf(out,
                "  less than this processor can: %s=%s is its best. tapegrad's own products do not depend on "
                "it\n",
                forcing[0], best_core());
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
        fprintf(out,
                "  %s=%s forces a cache size, and with it block sizes, that it would not choose by itself\n",
                forcing[1], forced_size);
}

void bench_blas_threads(int count)
{
    tg_set_threads(count);
}
