#include "tests/accuracy/yours.h"

#include "autograd/error.h"
#include "examples/programs/report/files.h"
#include "tests/accuracy/accuracy.h"
#include "tests/accuracy/exact.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1024, BINS = 800, EACH = 256, DOUBLES = 1000000000, DOUBLES_MOST = 10000000 };

/* The ranges of the table, each from its number up to the next one's. Beside the zero of a derivative relative errors
 * are large unless a function takes care, so that this is a range of its own. */
static const double starts[] = {-INFINITY, -8, -4, -1, -0x1p-10, 0x1p-10, 1, 4, 8};
static const char *const range_names[] = {"x < -8",     "-8 to -4", "-4 to -1", "-1 to -2^-10", "-2^-10 to 2^-10",
                                          "2^-10 to 1", "1 to 4",   "4 to 8",   "x >= 8",       "beside f' or f'' = 0"};
enum { RANGES = 10, BESIDE_ZERO = RANGES - 1 };

typedef struct worst {
    double ulp, at;
} worst;

typedef union any_function {
    void *address;
    float (*f32)(float);
    double (*f64)(double);
    void (*f32s)(size_t, const float *, float *);
    void (*f64s)(size_t, const double *, double *);
} any_function;

typedef struct yours {
    const yours_request *request;
    const char *names[REFERENCE_ORDERS];
    any_function function[REFERENCE_ORDERS];
    const reference_function *reference;
    exact_place *place;
    int orders;
    size_t numbers;
    worst found[REFERENCE_ORDERS][RANGES];
    struct {
        bool is_wrong;
        double x, result, expected;
    } end[REFERENCE_ORDERS]; /* an infinity or NaN that has a wrong result */
} yours;

/* ---- loading ---- */

static bool load(yours *y, tg_error *error)
{
    const yours_request *r = y->request;
    char path[4096];
    const char *colon = strrchr(r->load, ':');
    if (!colon || colon == r->load || !colon[1] || (size_t)(colon - r->load) >= sizeof path)
        return tg_fail(error, "--load: expected FILE:NAME, as in ./mine.so:my_gelu, found '%.300s'", r->load);
    snprintf(path, sizeof path, "%.*s", (int)(colon - r->load), r->load);
    if (!strchr(path, '/') && access(path, F_OK) == 0) /* dlopen would look for it among the system's libraries */
        return tg_fail(error, "--load: write './%.300s' for the file in this folder", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return tg_fail(error, "--load: %.1000s", dlerror());
    const char *const names[REFERENCE_ORDERS] = {colon + 1, r->derivative, r->second};
    for (int order = 0; order < REFERENCE_ORDERS; order++) {
        y->names[order] = names[order];
        if (!names[order])
            continue;
        y->function[order].address = dlsym(library, names[order]);
        if (!y->function[order].address)
            return tg_fail(error, "--load: '%.300s' has no function '%.100s'", path, names[order]);
    }
    return true;
}

static void call(const yours *y, int order, size_t n, const double *x, double *result)
{
    const any_function f = y->function[order];
    float x32[BLOCK], y32[BLOCK];
    for (size_t i = 0; y->request->single && i < n; i++)
        x32[i] = (float)x[i];
    if (y->request->arrays && y->request->single)
        f.f32s(n, x32, y32);
    else if (y->request->arrays)
        f.f64s(n, x, result);
    else
        for (size_t i = 0; i < n; i++)
            y->request->single ? (void)(y32[i] = f.f32(x32[i])) : (void)(result[i] = f.f64(x[i]));
    for (size_t i = 0; y->request->single && i < n; i++)
        result[i] = (double)y32[i];
}

/* ---- measuring ---- */

/* Infinities and NaN must have the reference's values; the limit 0 may have any sign. */
static void compare_end(yours *y, int order, double x, double result, long double exact)
{
    if ((exact != exact) != (result != result) || (exact == exact && (long double)result != exact))
        y->end[order].is_wrong = true, y->end[order].x = x, y->end[order].result = result,
        y->end[order].expected = (double)exact;
}

/* What long double says, which is exact enough away from the zeros of derivatives. */
static double estimate(const yours *y, long double exact, double result)
{
    const long double ulp = y->request->single ? reference_ulp_f32((double)exact) : reference_ulp_f64(exact);
    const long double error = fabsl(exact - result) / ulp;
    return isfinite(error) ? (double)error : INFINITY;
}

static int range_of(const yours *y, int order, double x)
{
    if (order > 0 && accuracy_near_zero(y->reference, order, x))
        return BESIDE_ZERO;
    int range = BESIDE_ZERO - 1;
    while (range > 0 && x < starts[range])
        range--;
    return range;
}

/* MPFR measures what may be the largest error of its range: to ask it about every number would take hours. */
static void compare(yours *y, int order, double x, double result, long double exact, bool *found)
{
    if (!isfinite(x)) {
        compare_end(y, order, x, result, exact);
        return;
    }
    const int range = range_of(y, order, x);
    worst *w = &y->found[order][range];
    if (range != BESIDE_ZERO && estimate(y, exact, result) < w->ulp - 0.05)
        return;
    if (!*found)
        exact_find(y->place, x);
    *found = true;
    const double ulps = exact_ulps(y->place, order, result, !y->request->single);
    if (!(ulps <= w->ulp))
        *w = (worst){ulps, x};
}

static void add(yours *y, size_t n, const double *x)
{
    double result[REFERENCE_ORDERS][BLOCK];
    for (int order = 0; order < REFERENCE_ORDERS; order++)
        if (y->names[order])
            call(y, order, n, x, result[order]);
    for (size_t i = 0; i < n; i++) {
        long double exact[REFERENCE_ORDERS];
        bool found = false;
        y->reference->f64(x[i], exact);
        for (int order = 0; order < REFERENCE_ORDERS; order++)
            if (y->names[order])
                compare(y, order, x[i], result[order][i], exact[order], &found);
    }
    y->numbers += n;
}

static void add_floats(yours *y)
{
    double x[BLOCK];
    size_t n = 0;
    for (uint64_t word = 0; word < ACCURACY_FLOATS; word += (uint64_t)y->request->every) {
        const uint32_t bits = (uint32_t)word;
        float f;
        memcpy(&f, &bits, sizeof f);
        x[n++] = (double)f;
        if (n == BLOCK)
            add(y, n, x), n = 0;
    }
    add(y, n, x);
}

static void add_doubles(yours *y)
{
    double x[BLOCK];
    tg_rng rng = tg_rng_seed(29);
    const int wanted = DOUBLES / y->request->every;
    const size_t count = (size_t)(wanted < DOUBLES_MOST ? wanted : DOUBLES_MOST);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        x[n++] = accuracy_random_double(&rng, i);
        if (n == BLOCK)
            add(y, n, x), n = 0;
    }
    add(y, n, x);
}

/* All powers of two with their neighbours, the critical numbers, and the numbers beside the zeros of derivatives. */
static void add_edges(yours *y)
{
    const bool single = y->request->single;
    double x[ACCURACY_EDGES_MOST], kept[BLOCK];
    const size_t edges = accuracy_edge_doubles(x);
    size_t n = 0;
    for (size_t i = 0; i < edges; i++)
        if (!single || (double)(float)x[i] == x[i] || x[i] != x[i])
            kept[n++] = x[i];
    add(y, n, kept);
    n = 0;
    for (int power = single ? -149 : -1074; power < (single ? FLT_MAX_EXP : DBL_MAX_EXP); power++)
        for (int side = -1; side <= 1; side++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const double exact = ldexp(sign, power);
                kept[n++] = !side    ? exact
                            : single ? (double)nextafterf((float)exact, (float)side * INFINITY)
                                     : nextafter(exact, side * (double)INFINITY);
                if (n == BLOCK)
                    add(y, n, kept), n = 0;
            }
    add(y, n, kept);
}

/* The 1,000 numbers around each zero: found by halving, as only the reference knows it. */
static void add_zeros(yours *y)
{
    for (int order = 1; order < REFERENCE_ORDERS; order++)
        for (int k = 0; k < REFERENCE_ZEROS && y->reference->zeros[order][k] != 0; k++) {
            const double guess = y->reference->zeros[order][k];
            double low = guess - 0.01, high = guess + 0.01, x[BLOCK];
            for (int i = 0; i < 60; i++) {
                const double middle = (low + high) / 2;
                long double at_low[REFERENCE_ORDERS], at_middle[REFERENCE_ORDERS];
                y->reference->f64(low, at_low);
                y->reference->f64(middle, at_middle);
                (at_low[order] < 0) == (at_middle[order] < 0) ? (low = middle) : (high = middle);
            }
            const double step = y->request->single ? reference_ulp_f32(guess) : (double)reference_ulp_f64(guess);
            for (int i = 0; i < BLOCK; i++)
                x[i] = (y->request->single ? (double)(float)low : low) + (i - BLOCK / 2) * step;
            add(y, BLOCK, x);
        }
}

/* ---- printing ---- */

static worst worst_of_all(const yours *y, int order)
{
    worst all = {0};
    for (int range = 0; range < RANGES; range++)
        if (y->found[order][range].ulp > all.ulp)
            all = y->found[order][range];
    return all;
}

static void print_row(const yours *y, const char *name, int range, FILE *out)
{
    fprintf(out, "%-22s", name);
    for (int order = 0; order < REFERENCE_ORDERS; order++) {
        const worst w = range < 0 ? worst_of_all(y, order) : y->found[order][range];
        if (!y->names[order])
            continue;
        range == BESIDE_ZERO &&order == 0 ? fprintf(out, "%12s%16s", "", "")
                                          : fprintf(out, "%12.4g%16.9g", w.ulp, w.at);
    }
    putc('\n', out);
}

static void print_table(const yours *y, FILE *out)
{
    static const char *const orders[] = {"f", "f'", "f''"};
    const char *type = y->request->single ? "float" : "double";
    fprintf(out, "%s against %s, in %s: largest error in units in the last place\n%-22s", y->names[0],
            y->request->against, type, "");
    for (int order = 0; order < REFERENCE_ORDERS; order++)
        if (y->names[order])
            fprintf(out, "%12s%16s", orders[order], "at x =");
    putc('\n', out);
    for (int range = 0; range < RANGES - (y->names[1] || y->names[2] ? 0 : 1); range++)
        print_row(y, range_names[range], range, out);
    print_row(y, "all", -1, out);
    fprintf(out, "%zu numbers: %s, all powers of two and edges", y->numbers,
            !y->request->single      ? "random doubles of all exponents"
            : y->request->every == 1 ? "every float"
                                     : "floats of all exponents");
    fputs(y->names[1]
              ? "\n"
              : "; the derivative is not measured (--derivative NAME: differences do not know its last place)\n",
          out);
}

/* A line for each function that is wrong at an infinity or NaN. */
static void print_ends(const yours *y, FILE *out)
{
    for (int order = 0; order < REFERENCE_ORDERS; order++)
        if (y->end[order].is_wrong)
            fprintf(out, "%s(%g) is %g, where %g is right\n", y->names[order], y->end[order].x, y->end[order].result,
                    y->end[order].expected);
}

static void print_csv(const yours *y, FILE *out)
{
    fputs("function,order,range,max_ulp,at\n", out);
    for (int order = 0; order < REFERENCE_ORDERS; order++)
        for (int range = 0; y->names[order] && range <= RANGES; range++) {
            const worst w = range == RANGES ? worst_of_all(y, order) : y->found[order][range];
            if (order > 0 || range != BESIDE_ZERO)
                fprintf(out, "%s,%d,%s,%.4g,%.17g\n", y->names[order], order,
                        range == RANGES ? "all" : range_names[range], w.ulp, w.at);
        }
}

/* ---- the curve ---- */

/* The largest error among a few hundred numbers around each x; two empty lines end a curve. */
static bool write_curve(const void *context, FILE *file)
{
    const yours *y = context;
    const double low = y->request->single ? -14 : -40, high = y->request->single ? 6 : 10;
    fputs("order,x,ulp\n", file);
    for (int order = 0; order < REFERENCE_ORDERS; order++) {
        for (int bin = 0; y->names[order] && bin < BINS; bin++) {
            double x[EACH], result[EACH], largest = 0;
            for (int i = 0; i < EACH; i++) {
                x[i] = low + (high - low) * ((double)bin + (i + 0.5) / EACH) / BINS;
                x[i] = y->request->single ? (double)(float)x[i] : x[i];
            }
            call(y, order, EACH, x, result);
            for (int i = 0; i < EACH; i++) {
                long double exact[REFERENCE_ORDERS];
                y->reference->f64(x[i], exact);
                largest = fmax(largest, estimate(y, exact[order], result[i]));
            }
            fprintf(file, "%d,%.6g,%.4g\n", order, low + (high - low) * ((double)bin + 0.5) / BINS,
                    fmin(largest, 1e17));
        }
        fputs("\n\n", file);
    }
    return true;
}

static int judge(const yours *y, tg_error *error)
{
    for (int order = 0; order < REFERENCE_ORDERS && y->request->at_most > 0; order++) {
        const worst w = worst_of_all(y, order);
        if (y->end[order].is_wrong)
            return tg_fail(error, "%s is wrong at %g", y->names[order], y->end[order].x), 1;
        if (y->names[order] && !(w.ulp <= y->request->at_most))
            return tg_fail(error, "%s is off by %.4g ulp at %.17g, and %g are allowed", y->names[order], w.ulp, w.at,
                           y->request->at_most),
                   1;
    }
    return 0;
}

int yours_report(const yours_request *request, FILE *out, tg_error *error)
{
    yours *y = calloc(1, sizeof *y);
    int status = 2;
    if (!y)
        return tg_fail(error, "out of memory"), status;
    y->request = request;
    y->reference = reference_find(request->against);
    y->place = exact_new(request->against);
    if (!exact_is_built())
        tg_fail(error, "--load: this program was built without MPFR: install libmpfr-dev and make it again");
    else if (!y->place)
        tg_fail(error, "--against: expected gelu_exact, gelu_tanh, gelu_quick or silu, found '%.100s'",
                request->against);
    else if (load(y, error)) {
        add_edges(y);
        add_zeros(y);
        request->single ? add_floats(y) : add_doubles(y);
        request->csv ? print_csv(y, out) : print_table(y, out);
        print_ends(y, request->csv ? stderr : out);
        status = judge(y, error);
        if (request->out && !files_write(request->out, "yours.csv", write_curve, y, error))
            status = 1;
    }
    exact_free(y->place);
    free(y);
    return status;
}
