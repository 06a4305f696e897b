#include "tests/accuracy/report.h"

#include "tests/accuracy/accuracy.h"
#include "examples/programs/data/words.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/system/signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUNCTIONS_MOST = 40, SLICES = 1024, STRIDE = 1000, DOUBLES = 100000, DOUBLES_EXHAUSTIVE = 10000000 };

typedef struct report {
    const accuracy_request *request;
    int count;
    const char *names[FUNCTIONS_MOST];
    accuracy_survey survey[FUNCTIONS_MOST];
} report;

/* ---- which kernels ---- */

static const char *wanted_names(const accuracy_request *request)
{
    return request->kernels ? request->kernels : request->exhaustive ? "gelu_exact,gelu_tanh,gelu_quick,silu" : "all";
}

static bool is_wanted(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return strcmp(names, "all") == 0;
}

bool accuracy_request_check(const accuracy_request *request, char *message, size_t size)
{
    const char *names = wanted_names(request);
    for (const char *at = strcmp(names, "all") == 0 ? NULL : names; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int length = (int)strcspn(at, ",");
        char name[64];
        snprintf(name, sizeof name, "%.*s", length, at);
        if (reference_find(name))
            continue;
        int used = snprintf(message, size, "there is no kernel '%s'; there are", name);
        for (size_t i = 0; reference_at(i) && used > 0 && (size_t)used < size; i++)
            used += snprintf(message + used, size - (size_t)used, "%s %s", i ? "," : "", reference_at(i)->name);
        return false;
    }
    return true;
}

/* ---- measuring: a process for each kernel ---- */

static int measure(int job, jobs_link *link, void *context)
{
    report *r = context;
    const uint64_t stride = r->request->exhaustive ? 1 : STRIDE, slice = ACCURACY_FLOATS / SLICES;
    const double begin = jobs_clock();
    accuracy_survey survey = accuracy_begin(r->names[job]);
    accuracy_edges(&survey);
    accuracy_powers(&survey);
    accuracy_doubles(&survey, 17, r->request->exhaustive ? DOUBLES_EXHAUSTIVE : DOUBLES);
    for (uint64_t i = 0; i < SLICES; i++) {
        const uint64_t first = (i * slice + stride - 1) / stride * stride; /* the next multiple */
        accuracy_floats(&survey, first, (i + 1) * slice, stride);
        jobs_progress now = {.fraction = (double)(i + 1) / SLICES, .loss = NAN, .accuracy = NAN};
        now.rate = (double)((i + 1) * slice / stride) / (jobs_clock() - begin);
        jobs_report(link, &now);
    }
    r->survey[job] = survey; /* points to constants, which have the same address in every copy of the process */
    return 0;
}

static const char *name_of(int job, void *context)
{
    return ((report *)context)->names[job];
}

static jobs_outcome measure_all(report *r)
{
    const bool shown = r->request->exhaustive || isatty(STDERR_FILENO);
    return jobs_run(&(jobs_config){.count = r->count,
                                   .at_once = r->request->at_once,
                                   .context = r,
                                   .run = measure,
                                   .name = name_of,
                                   .out = shown ? stderr : NULL,
                                   .unit = "floats"});
}

/* ---- printing ---- */

static const accuracy *found_at(const accuracy_survey *survey, bool is_double, int set, int order)
{
    return is_double ? &survey->f64[set][order] : &survey->f32[set][order];
}

static void print_csv(const report *r, FILE *out)
{
    fputs("kernel,precision,order,isa,max_ulp,max_abs,at\n", out);
    for (int f = 0; f < r->count; f++)
        for (int is_double = 0; is_double < 2; is_double++)
            for (int order = 0; order < r->survey[f].function->orders; order++)
                for (int s = 0; s < r->survey[f].sets; s++) {
                    const accuracy *found = found_at(&r->survey[f], is_double, s, order);
                    fprintf(out, "%s,%s,%d,%s,%.4g,%.4g,%.*g\n", r->names[f], is_double ? "double" : "float", order,
                            r->survey[f].set[s]->isa, found->max_ulp, found->max_abs, is_double ? 17 : 9,
                            found->ulp_at);
                }
}

/* The largest relative and the largest absolute error over all instruction sets. */
static accuracy worst_of(const accuracy_survey *survey, bool is_double, int order)
{
    accuracy worst = {0};
    for (int s = 0; s < survey->sets; s++) {
        const accuracy *found = found_at(survey, is_double, s, order);
        if (s == 0 || found->max_ulp > worst.max_ulp)
            worst.max_ulp = found->max_ulp, worst.ulp_at = found->ulp_at;
        if (s == 0 || found->max_abs > worst.max_abs)
            worst.max_abs = found->max_abs, worst.abs_at = found->abs_at;
    }
    return worst;
}

static void print_row(const accuracy_survey *survey, int order, bool near_zero, FILE *out)
{
    static const char *const orders[] = {"f", "f'", "f''"};
    fprintf(out, "%-12s%-4s", survey->function->name, orders[order]);
    for (int is_double = 0; is_double < 2; is_double++) {
        const accuracy worst = worst_of(survey, is_double, order);
        const accuracy_bound bound = accuracy_bound_of(survey->function->name, is_double, order);
        if (near_zero)
            fprintf(out, "%9.1e%c%8.1e%14.7g", worst.max_abs, worst.max_abs > bound.absolute ? '!' : ' ',
                    bound.absolute, worst.abs_at);
        else
            fprintf(out, "%9.3f%c%8g%14.7g", worst.max_ulp, worst.max_ulp > bound.ulp ? '!' : ' ', bound.ulp,
                    worst.ulp_at);
    }
    putc('\n', out);
}

static void print_table(const report *r, FILE *out)
{
    fputs("Largest error in units in the last place, on", out);
    for (int s = 0; s < r->survey[0].sets; s++)
        fprintf(out, "%s %s", s ? "," : "", r->survey[0].set[s]->isa);
    fprintf(out, "\n%16s%32s%32s\n", "", "---- single precision ----", "---- double precision ----");
    fprintf(out, "%16s%9s%9s%14s%9s%9s%14s\n", "", "error", "allowed", "at x =", "error", "allowed", "at x =");
    for (int f = 0; f < r->count; f++)
        for (int order = 0; order < r->survey[f].function->orders; order++)
            print_row(&r->survey[f], order, false, out);
    bool headed = false;
    for (int f = 0; f < r->count; f++)
        for (int order = 0; order < r->survey[f].function->orders; order++)
            if (r->survey[f].function->zeros[order][0] != 0 ||
                (order > 0 && r->survey[f].function->periodic_from > 0)) {
                if (!headed)
                    fputs("Largest absolute error near a zero of a derivative (within a factor of 1.6)\n", out);
                headed = true;
                print_row(&r->survey[f], order, true, out);
            }
}

static int count_broken(const report *r)
{
    int broken = 0;
    for (int f = 0; f < r->count; f++)
        for (int order = 0; order < r->survey[f].function->orders; order++)
            for (int s = 0; s < r->survey[f].sets; s++)
                for (int is_double = 0; is_double < 2; is_double++)
                    broken += !accuracy_holds(found_at(&r->survey[f], is_double, s, order),
                                              accuracy_bound_of(r->names[f], is_double, order));
    return broken;
}

/* Removes the kernels that were not finished. */
static void keep_finished(report *r)
{
    int kept = 0;
    for (int f = 0; f < r->count; f++)
        if (r->survey[f].function) {
            r->survey[kept] = r->survey[f];
            r->names[kept++] = r->names[f];
        }
    r->count = kept;
}

int accuracy_report(const accuracy_request *request, FILE *out)
{
    report *r =
        mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* with the children */
    if (r == MAP_FAILED)
        return fputs("accuracy: out of memory\n", stderr), 1;
    r->request = request;
    for (size_t i = 0; reference_at(i) && r->count < FUNCTIONS_MOST; i++)
        if (is_wanted(wanted_names(request), reference_at(i)->name))
            r->names[r->count++] = reference_at(i)->name;
    const jobs_outcome outcome = measure_all(r);
    keep_finished(r);
    const int broken = count_broken(r);
    if (r->count > 0) {
        FILE *words = request->csv ? stderr : out;
        request->csv ? print_csv(r, out) : print_table(r, out);
        fprintf(words, "%s and the edges: ",
                request->exhaustive ? "All 4,294,967,296 floats, 10,000,000 doubles"
                                    : "Every 1,000th float, 100,000 doubles");
        broken ? fprintf(words, "%d bound%s broken (!)\n", broken, plural(broken)) : fputs("all bounds hold\n", words);
    }
    munmap(r, sizeof *r);
    return outcome.interrupted ? signals_status() : outcome.failed || broken > 0;
}
