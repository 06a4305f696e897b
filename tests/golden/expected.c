/* Reading the reference file: lines "OPERATION SAMPLE WHAT ...", sorted, in one block of text. */
#include "tests/golden/golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t text_size;
static const char **lines; /* each begins with "OPERATION SAMPLE WHAT " and is sorted by that */
static size_t line_count;

/* ---- loading ---- */

static bool read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    char block[65536];
    size_t got;
    bool fine = true;
    while (fine && (got = fread(block, 1, sizeof block, file)) > 0) {
        char *longer = realloc(text, text_size + got + 1);
        fine = longer != NULL;
        if (!fine)
            break;
        text = longer;
        memcpy(text + text_size, block, got);
        text_size += got;
        text[text_size] = 0;
    }
    fclose(file);
    return fine;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool split_lines(void)
{
    size_t most = 0;
    for (size_t i = 0; i < text_size; i++)
        most += text[i] == '\n';
    lines = malloc((most + 1) * sizeof *lines);
    if (!lines)
        return false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (*line && *line != '#' && line_count < most)
            lines[line_count++] = line;
    }
    qsort(lines, line_count, sizeof *lines, compare_lines);
    return line_count > 0;
}

bool expected_load(const char *path)
{
    return read_file(path) && text && split_lines();
}

void expected_free(void)
{
    free(text);
    free(lines);
    text = NULL;
    lines = NULL;
    text_size = line_count = 0;
}

/* ---- finding ---- */

static int starts_with(const void *start, const void *line)
{
    return strncmp(start, *(const char *const *)line, strlen(start));
}

/* The rest of the line that begins with "OPERATION SAMPLE WHAT "; NULL if there is no such line. */
static const char *rest_of(const char *operation, int sample, const char *what)
{
    char start[200];
    snprintf(start, sizeof start, "%s %d %s ", operation, sample, what);
    const char **line = lines ? bsearch(start, lines, line_count, sizeof *lines, starts_with) : NULL;
    return line ? *line + strlen(start) : NULL;
}

static bool read_type(const char **at, tg_dtype *dtype)
{
    for (tg_dtype type = TG_F32; type <= TG_I32; type++) {
        const char *name = tg_dtype_name(type);
        if (strncmp(*at, name, strlen(name)) == 0) {
            *at += strlen(name);
            *dtype = type;
            return true;
        }
    }
    return false;
}

/* "[3,4]". */
static bool read_shape(const char **at, tg_shape *shape)
{
    *shape = TG_SCALAR;
    if (*(*at)++ != '[')
        return false;
    while (**at != ']' && shape->rank < TG_MAX_RANK) {
        char *end;
        shape->dim[shape->rank++] = strtoll(*at, &end, 10);
        if (end == *at)
            return false;
        *at = end + (*end == ',');
    }
    return *(*at)++ == ']';
}

bool expected_find(const char *operation, int sample, const char *what, expected_line *line)
{
    const char *at = rest_of(operation, sample, what);
    if (!at || !read_type(&at, &line->dtype) || !read_shape(&at, &line->shape))
        return false;
    line->text = at;
    return true;
}

double *expected_numbers(const expected_line *line)
{
    int64_t size = tg_shape_size(&line->shape);
    double *numbers = size < 0 ? NULL : malloc((size_t)size * sizeof *numbers + 1);
    const char *at = line->text;
    for (int64_t i = 0; numbers && i < size; i++) {
        char *end;
        numbers[i] = strtod(at, &end);
        if (end == at) {
            free(numbers);
            return NULL;
        }
        at = end;
    }
    return numbers;
}

bool expected_checksum(const char *operation, int sample, uint64_t *checksum)
{
    const char *at = rest_of(operation, sample, "inputs");
    return at && sscanf(at, "%" SCNx64, checksum) == 1;
}

int expected_cases(const char *operation)
{
    char start[100];
    snprintf(start, sizeof start, "%s ", operation ? operation : "");
    int cases = 0;
    for (size_t i = 0; i < line_count; i++)
        if (!operation || strncmp(lines[i], start, strlen(start)) == 0)
            cases += strstr(lines[i], " inputs ") != NULL;
    return cases;
}
