#include "nn/fit/fit_internal.h"

#include "autograd/base/numbers.h"
#include "autograd/base/platform.h"
#include "nn/files/file_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 1000 };

/* An empty field is NaN. */
static void write_rows(const tg_fit *fit, FILE *to)
{
    fputs("epoch,step,rate,train_loss,valid_loss,valid_score,gradient_norm,best\n", to);
    for (int64_t i = 0; i < fit->epoch_count; i++) {
        const tg_fit_epoch *e = &fit->epochs[i];
        const double numbers[] = {e->rate, e->train_loss, e->valid_loss, e->valid_score, e->gradient_norm};
        fprintf(to, "%" PRId64 ",%" PRId64, e->epoch, e->step);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            char text[32] = "";
            if (!isnan(numbers[k]))
                tg_print(text, sizeof text, "%.9g", numbers[k]);
            fprintf(to, ",%s", text);
        }
        fprintf(to, ",%d\n", e->best);
    }
}

/* The file's name without its folder, for gnuplot's quotes, in which a quote is written twice and a newline cannot be.
 */
static void write_name(const char *path, const char *ending, FILE *to)
{
    const char *slash = strrchr(path, '/');
    fputc('\'', to);
    for (const char *c = slash ? slash + 1 : path; *c; c++)
        fputs(*c == '\'' ? "''" : *c == '\n' ? "'.\"\\n\".'" : (char[]){*c, '\0'}, to);
    fprintf(to, "%s'", ending);
}

static void write_script(const tg_fit *fit, const char *path, FILE *to)
{
    const bool validates = fit->config.valid.count > 0;
    const bool scored = validates && fit->epoch_count && !isnan(fit->epochs[0].valid_score);
    fputs("# Loss over epochs; made by tg_fit_write_curves. Run it where it lies, or from elsewhere: it finds the "
          "table beside it.\n"
          "folder = ARG0[1:strlen(ARG0) - strlen(",
          to);
    write_name(path, ".gp", to);
    fputs(")]\n"
          "folder = folder eq '' ? './' : folder[1:1] eq '/' ? folder : './' . folder\n" /* '|x' would be a command */
          "set datafile separator ','\nset key autotitle columnhead noenhanced\n"
          "set border 3 linecolor rgb '#606060'\nset tics nomirror out textcolor rgb '#404040'\n"
          "set grid ytics linecolor rgb '#e0e0e0' linetype 1 linewidth 1\n"
          "set key outside right center vertical Left reverse samplen 2.5 spacing 1.3\n"
          "set xlabel 'epoch'\nset ylabel 'mean loss'\n"
          "set terminal pngcairo size 900, 560 font 'DejaVu Sans,12' background rgb 'white'\n",
          to);
    if (scored)
        fputs("set border 11\nset y2label 'score'\nset y2tics\n", to);
    fputs("set output folder . ", to);
    write_name(path, ".png", to);
    fputs("\nplot folder . ", to);
    write_name(path, ".csv", to);
    fputs(" using 1:4 with lines linewidth 1.2 dashtype (12, 8) linecolor rgb '#0072B2'", to);
    if (validates)
        fputs(", '' using 1:5 with linespoints linewidth 2 pointtype 7 pointsize 0.8 linecolor rgb '#0072B2'", to);
    if (scored)
        fputs(", '' using 1:6 axes x1y2 with linespoints linewidth 2 pointtype 5 pointsize 0.8 linecolor rgb '#D55E00'",
              to);
    fputs("\nset output\n", to);
}

/* Writes one of the two in memory first, so that the file is complete or absent. */
static bool write_file(tg_fit *fit, const char *path, bool script)
{
    char *text = NULL, name[PATH];
    size_t size = 0;
    if (snprintf(name, sizeof name, "%s%s", path, script ? ".gp" : ".csv") >= PATH)
        return tg_fail_first(&fit->error, "%.300s: the name is too long", path);
    FILE *to = tg_memory_open(&text, &size);
    if (to && script)
        write_script(fit, path, to);
    else if (to)
        write_rows(fit, to);
    const bool written =
        to && tg_memory_close(to, &text, &size) &&
        tg_file_write(name, &(tg_file_piece){text, size, 0}, 1, fit->error.text[0] ? NULL : &fit->error);
    free(text);
    return written || tg_fail_first(&fit->error, "out of memory for the curves");
}

bool tg_fit_write_curves(tg_fit *fit, const char *path)
{
    if (!fit || !path)
        return fit && tg_fail_first(&fit->error, "the curves have no name");
    return write_file(fit, path, false) && write_file(fit, path, true);
}
