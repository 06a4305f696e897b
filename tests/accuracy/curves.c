#include "tests/accuracy/report.h"

#include "autograd/kernels/kernels.h"
#include "tests/accuracy/reference.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { BINS = 800, EACH = 256, NUMBERS = BINS * EACH };
static const double low = -14, high = 6;

typedef struct curves {
    float x[NUMBERS], y[NUMBERS];
    double exact[NUMBERS];
} curves;

/* ---- the forms ---- */

static void naive(curves *c)
{
    for (size_t i = 0; i < NUMBERS; i++)
        c->y[i] = 0.5f * c->x[i] * (1.f + erff(c->x[i] * 0.70710678f));
}

static void with_erfc(curves *c)
{
    for (size_t i = 0; i < NUMBERS; i++)
        c->y[i] = 0.5f * c->x[i] * erfcf(-c->x[i] * 0.70710678f);
}

/* Passes the numbers to Python in a file and reads the results from another. */
static bool with_pytorch(curves *c, const char *python)
{
    static char program[] = "import sys, array, torch\n"
                            "x = array.array('f', sys.stdin.buffer.read())\n"
                            "y = torch.nn.functional.gelu(torch.tensor(x, dtype=torch.float32))\n"
                            "sys.stdout.buffer.write(array.array('f', y.tolist()).tobytes())\n";
    char execute[] = "-c";
    FILE *in = tmpfile(), *out = tmpfile();
    bool complete = in && out && fwrite(c->x, sizeof c->x, 1, in) == 1 && fflush(in) == 0;
    if (complete) {
        char *const arguments[] = {(char *)(size_t)python, execute, program, NULL};
        posix_spawn_file_actions_t actions;
        pid_t pid;
        int status = 0;
        rewind(in);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        complete = posix_spawnp(&pid, python, &actions, NULL, arguments, environ) == 0 &&
                   waitpid(pid, &status, 0) == pid && status == 0;
        posix_spawn_file_actions_destroy(&actions);
        rewind(out);
        complete = complete && fread(c->y, sizeof c->y, 1, out) == 1;
    }
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    return complete;
}

/* ---- the file ---- */

/* Two empty lines end a curve: gnuplot separates data sets by them. */
static void write_form(FILE *file, const char *name, const curves *c)
{
    for (size_t bin = 0; bin < BINS; bin++) {
        double worst = 0;
        for (size_t i = bin * EACH; i < (bin + 1) * EACH; i++)
            worst = fmax(worst, fabs((double)c->y[i] - c->exact[i]) / reference_ulp_f32(c->exact[i]));
        fprintf(file, "%s,%.6g,%.4g\n", name, low + (high - low) * ((double)bin + 0.5) / BINS, worst);
    }
    fputs("\n\n", file);
}

typedef struct request {
    const char *python;
    bool *has_pytorch;
} request;

static bool write_forms(const void *context, FILE *file)
{
    const request *r = context;
    curves *c = malloc(sizeof *c);
    if (!c)
        return false;
    for (size_t i = 0; i < NUMBERS; i++) {
        double exact[REFERENCE_ORDERS];
        c->x[i] = (float)(low + (high - low) * ((double)i + 0.5) / NUMBERS);
        reference_find("gelu_exact")->f32((double)c->x[i], exact);
        c->exact[i] = exact[0];
    }
    fputs("form,x,ulp\n", file);
    naive(c);
    write_form(file, "naive", c);
    with_erfc(c);
    write_form(file, "erfc", c);
    *r->has_pytorch = with_pytorch(c, r->python);
    if (*r->has_pytorch)
        write_form(file, "pytorch", c);
    tg_kernels.of[TG_F32]->gelu_exact(NUMBERS, c->x, c->y);
    write_form(file, "tapegrad", c);
    free(c);
    return true;
}

bool accuracy_curves_write(const char *folder, const char *python, bool *has_pytorch, tg_error *error)
{
    bool torch = false;
    const request r = {python, has_pytorch ? has_pytorch : &torch};
    return files_write(folder, "exactness.csv", write_forms, &r, error);
}
