#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <unistd.h>

char train_output[TRAIN_OUTPUT];

enum { ARGUMENTS = 1200, COMMAND = 2400 };

/* Writes the folder of the built programs, and the arguments. */
static void prepare(char build[PATH_MAX], char arguments[ARGUMENTS], const char *format, va_list list)
{
    vsnprintf(arguments, ARGUMENTS, format, list);
    ck_assert_ptr_nonnull(realpath(getenv("TG_BUILD") ? getenv("TG_BUILD") : "build", build));
}

int train_run(const char *program, const char *format, ...)
{
    char build[PATH_MAX], arguments[ARGUMENTS], command[COMMAND + PATH_MAX];
    va_list list;
    va_start(list, format);
    prepare(build, arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command,
             "cd '%s' && PATH='%s/bin':$PATH; export OPENBLAS_NUM_THREADS=1; %s </dev/null 2>&1 %s", temporary_folder(),
             build, program, arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    train_output[fread(train_output, 1, sizeof train_output - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_there(const char *program, const char *arguments)
{
    return train_run(program, "%s > out 2>&1", arguments);
}

pid_t train_start(const char *program, const char *format, ...)
{
    char build[PATH_MAX], arguments[ARGUMENTS], command[COMMAND + PATH_MAX];
    va_list list;
    va_start(list, format);
    prepare(build, arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "cd '%s' && export OPENBLAS_NUM_THREADS=1; exec '%s/bin/%s' </dev/null %s",
             temporary_folder(), build, program, arguments);
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return child;
}

void wait_for_row(const char *name)
{
    const char *heading = NULL;
    for (int i = 0; i < 12000 && !(heading && heading[1]); i++) {
        usleep(5000);
        heading = temporary_exists(name) ? strchr(temporary_text(name), '\n') : NULL;
    }
    ck_assert_msg(heading && heading[1], "%s has no row", name);
}

void expect_fine(int status)
{
    ck_assert_msg(status == 0, "%d: %.600s", status, train_output);
}

void expect_refused(int status, const char *part)
{
    ck_assert_msg(status == 2 && strstr(train_output, part), "%d, and no '%s' in: %.300s", status, part, train_output);
    ck_assert_msg(strchr(train_output, '\n') == train_output + strlen(train_output) - 1, "not one line: %.300s",
                  train_output);
}

/* ---- data ---- */

void write_table(const char *name, const char *header, const char *row, int rows)
{
    FILE *file = fopen(temporary_path(name), "w");
    tg_rng rng = tg_rng_seed(5);
    fputs(header, file);
    for (int i = 0; i < rows; i++) {
        static const char *const colours[] = {"red", "green", "blue, dark"};
        const double a = 1000 + 50 * tg_rng_normal(&rng), b = 0.01 * tg_rng_normal(&rng);
        const int colour = (int)tg_rng_below(&rng, 3);
        const double sum = (a - 1000) / 50 + b / 0.01 + colour;
        for (const char *c = row; *c; c++)
            switch (*c) {
            case 'a':
                fprintf(file, "%.6f", a);
                break;
            case 'b':
                fprintf(file, "%.6f", b);
                break;
            case 'c':
                fprintf(file, "\"%s\"", colours[colour]);
                break;
            case 'k':
                fputs(sum > 1 ? "large" : "small", file);
                break;
            case 't':
                fprintf(file, "%.6f", 5e5 + 1e4 * sum);
                break;
            default:
                fputc(*c, file);
            }
    }
    fclose(file);
}

static void put_number(FILE *file, unsigned number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(number >> shift & 255), file);
}

/* Images of 8 x 8 with a bright row or column, and its index as the label. */
static void write_images(const char *images, const char *labels, unsigned count, uint64_t seed)
{
    FILE *pixels = fopen(temporary_path(images), "wb"), *classes = fopen(temporary_path(labels), "wb");
    tg_rng rng = tg_rng_seed(seed);
    put_number(pixels, 0x803), put_number(pixels, count), put_number(pixels, 8), put_number(pixels, 8);
    put_number(classes, 0x801), put_number(classes, count);
    for (unsigned i = 0; i < count; i++) {
        const unsigned line = (unsigned)tg_rng_below(&rng, 8), column = i % 2;
        fputc((int)column, classes);
        for (unsigned p = 0; p < 64; p++)
            fputc((column ? p % 8 : p / 8) == line ? 255 : (int)tg_rng_below(&rng, 60), pixels);
    }
    fclose(pixels);
    fclose(classes);
}

static void write_text(void)
{
    FILE *file = fopen(temporary_path("text"), "w");
    tg_rng rng = tg_rng_seed(6);
    for (int i = 0; i < 600; i++)
        fprintf(file, "%s", (const char *[]){"one ", "two ", "three\n"}[tg_rng_below(&rng, 3)]);
    fclose(file);
}

void train_folder_make(void)
{
    temporary_folder_make();
    write_table("train.csv", "a,b,colour,size\n", "a,b,c,k\n", 300);
    write_table("price.csv", "a,b,colour,price\n", "a,b,c,t\n", 300);
    write_text();
    train_run("mkdir", "images");
    write_images("images/train-images-idx3-ubyte", "images/train-labels-idx1-ubyte", 200, 1);
    write_images("images/t10k-images-idx3-ubyte", "images/t10k-labels-idx1-ubyte", 50, 2);
}

double csv_cell(const char *file, const char *row, const char *column)
{
    char *text = strdup(temporary_text(file)), *rest = text, *line = strsep(&rest, "\n");
    int place = 0;
    for (const char *field; (field = strsep(&line, ",")) && strcmp(field, column) != 0;)
        place++;
    while ((line = strsep(&rest, "\n")) && (strncmp(line, row, strlen(row)) != 0 || line[strlen(row)] != ','))
        continue;
    ck_assert_msg(line != NULL, "no %s in %s", row, file);
    for (int i = 0; i < place; i++)
        strsep(&line, ",");
    const double value = line && *line && *line != ',' ? strtod(line, NULL) : NAN;
    free(text);
    return value;
}

/* ---- compare ---- */

const char *compare_build(void)
{
    const char *folder = getenv("TG_BUILD");
    return folder ? folder : "build";
}

int compare_run(const char *arguments, char *errors, size_t size)
{
    char command[2000];
    snprintf(command, sizeof command, "%s/bin/compare %s 2>&1 >/dev/null </dev/null", compare_build(), arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = fread(errors, 1, size - 1, pipe);
    errors[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *rows_without_seconds(const char *folder)
{
    char path[400], line[400], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/curves.csv", folder);
    FILE *file = fopen(path, "r"), *rows = open_memstream(&text, &size);
    ck_assert_msg(file && rows, "no %s", path);
    while (fgets(line, sizeof line, file))
        fprintf(rows, "%.*s\n", (int)(strrchr(line, ',') - line), line);
    fclose(file);
    fclose(rows);
    return text;
}
