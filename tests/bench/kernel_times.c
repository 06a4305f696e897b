#include "tests/bench/modes.h"

#include "autograd/kernels/kernels.h"
#include "tests/bench/blas.h"
#include "tests/bench/kernel_work.h"
#include "tests/bench/nets.h"
#include "tests/bench/peer.h"
#include "tests/bench/race.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- directions ---- */

typedef enum direction { FORWARD, BACKWARD, BOTH, TAPE, DIRECTIONS } direction;
static const char *const direction_names[DIRECTIONS] = {"forward", "backward", "both", "tape"};

/* In cache and from memory; through the tape as tensors of 128x128 and 512x3072, of which the first is as large. */
enum { PLACES = 2 };
static const size_t places[DIRECTIONS][PLACES] = {
    {16384, 16777216}, {16384, 16777216}, {16384, 16777216}, {128 * 128, 512 * 3072}};

static bool has_direction(const kernel_work *work, direction d)
{
    return d == FORWARD || (d == TAPE ? work->record != NULL : work->backward != NULL);
}

/* ---- contestants ---- */

typedef struct contestant {
    const kernel_work *work;
    direction direction;
    const kernel_data *data;
    tg_tape *tape;
} contestant;

static double run_kernel(void *context, int steps)
{
    const contestant *c = context;
    const kernel_call forward = c->direction == BACKWARD                ? NULL
                                : c->direction == BOTH && c->work->keep ? c->work->keep
                                                                        : c->work->forward;
    const kernel_call backward = c->direction == FORWARD ? NULL : c->work->backward;
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++) {
        if (forward)
            forward(c->data);
        if (backward)
            backward(c->data);
    }
    return race_clock(1) - start;
}

/* The inputs are parameters, so that no step copies them and their gradients have buffers. */
static double run_tape(void *context, int steps)
{
    const contestant *c = context;
    const kernel_data *d = c->data;
    const tg_shape shape = TG_SHAPE((int64_t)d->n / KERNEL_COLUMNS, KERNEL_COLUMNS);
    tg_parameter parameters[] = {{"x", TG_F32, shape, d->x, d->dx}, {"second", TG_F32, shape, d->second, d->dsecond}};
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++) {
        tg_tape_reset(c->tape);
        tg_tensor in[2];
        for (int k = 0; k < 2; k++) {
            parameters[k].has_gradient = false;
            in[k] = tg_parameter_tensor(c->tape, &parameters[k]);
        }
        if (!tg_backward_from(c->work->record(in), tg_borrow(c->tape, TG_F32, d->cotangent, shape)))
            return -1;
    }
    return race_clock(1) - start;
}

/* ---- one figure ---- */

typedef struct figure {
    double gelem_per_s, over_relu, over_copy, torch_over_ours; /* NaN: not measured */
} figure;

static bool prepare_peer(bench_peer *peer, const contestant *c)
{
    char work[128];
    snprintf(work, sizeof work, "kernel %s %s %zu", c->work->name, direction_names[c->direction], c->data->n);
    return bench_peer_prepare(peer, work);
}

static figure measure(const contestant *c, const kernel_times_settings *settings, bench_peer *peer)
{
    enum { OURS, RELU, COPY, TORCH };
    contestant relu = *c, copy = *c;
    relu.work = kernel_work_find("relu");
    copy.work = kernel_work_find("copy");
    copy.direction = FORWARD;
    double (*const run)(void *context, int steps) = c->direction == TAPE ? run_tape : run_kernel;
    race_entry entries[] = {{.run = run, .context = (void *)c},
                            {.run = run, .context = &relu},
                            {.run = run_kernel, .context = &copy},
                            {.run = bench_peer_run, .context = peer}};
    const bool with_peer = peer && prepare_peer(peer, c);
    race(entries, with_peer ? TORCH + 1 : TORCH, settings->seconds);
    return (figure){.gelem_per_s = 1e-9 * (double)c->data->n / entries[OURS].seconds,
                    .over_relu = 1 / entries[RELU].ratio,
                    .over_copy = 1 / entries[COPY].ratio,
                    .torch_over_ours = with_peer ? entries[TORCH].ratio : NAN};
}

/* ---- printing ---- */

static void print_titles(bool csv, bool peer)
{
    if (csv) {
        printf("kernel,direction,elements,threads,gelem_per_s,time_over_relu,time_over_copy,torch_time_over_"
               "ours\n");
        return;
    }
    const int width = peer ? 31 : 23;
    printf("One thread, %s. Gelem/s: billions of elements a second; then our time over that of ReLU in the\n"
           "same direction and of a copy%s.\n\n",
           tg_kernels.isa, peer ? ", and PyTorch's time over ours" : "");
    printf("%-13s %-8s |%-*s|%-*s\n", "", "", width, " in cache: 16,384", width, " memory: 16,777,216");
    printf("%-13s %-8s |%-*s|%-*s\n", "", "", width, " (tape: 128x128)", width, " (tape: 512x3072)");
    printf("%-13s %-8s ", "kernel", "");
    for (int place = 0; place < PLACES; place++)
        printf("|%8s%7s%7s%s", "Gelem/s", "/ReLU", "/copy", peer ? "   torch" : " ");
    printf("\n");
}

static void print_number(const char *format, double number, const char *without)
{
    if (isnan(number))
        printf("%s", without);
    else
        printf(format, number);
}

static void print_csv(const contestant *c, size_t elements, const figure *f)
{
    printf("%s,%s,%zu,1", c->work->name, direction_names[c->direction], elements);
    print_number(",%.4f", f->gelem_per_s, ",");
    print_number(",%.4f", f->over_relu, ",");
    print_number(",%.4f", f->over_copy, ",");
    print_number(",%.4f\n", f->torch_over_ours, ",\n");
}

static void print_row(const contestant *c, const figure *figures, bool peer)
{
    printf("%-13s %-8s ", c->work->name, direction_names[c->direction]);
    for (int place = 0; place < PLACES; place++) {
        print_number("|%8.2f", figures[place].gelem_per_s, "|       -");
        print_number("%7.2f", figures[place].over_relu, "      -");
        print_number("%7.2f", figures[place].over_copy, "      -");
        if (peer)
            print_number("%8.2f", figures[place].torch_over_ours, "       -");
        else
            printf(" ");
    }
    printf("\n");
}

/* ---- all of them ---- */

static bool are_kernels(const char *list)
{
    char name[32];
    for (const char *word = list; *word; word += *word == ',') {
        const size_t length = strcspn(word, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        word += length;
        if (kernel_work_find(name))
            continue;
        fprintf(stderr, "bench: --only: '%s' is not one of", name);
        for (int i = 0; kernel_work_at(i); i++)
            fprintf(stderr, "%s %s", i ? "," : "", kernel_work_at(i)->name);
        fputc('\n', stderr);
        return false;
    }
    return true;
}

static void measure_kernel(contestant *c, kernel_data *data, const kernel_times_settings *settings, bench_peer *peer)
{
    for (direction d = FORWARD; d < DIRECTIONS; d++) {
        if (!has_direction(c->work, d))
            continue;
        figure figures[PLACES];
        c->direction = d;
        for (int place = 0; place < PLACES; place++) {
            data->n = places[d][place];
            figures[place] = measure(c, settings, peer);
            if (settings->csv)
                print_csv(c, data->n, &figures[place]);
        }
        if (!settings->csv)
            print_row(c, figures, peer != NULL);
        fflush(stdout);
    }
}

static void measure_all(contestant *c, kernel_data *data, const kernel_times_settings *settings, bench_peer *peer)
{
    const bool all = strcmp(settings->only, "all") == 0;
    print_titles(settings->csv, peer != NULL);
    for (int i = 0; (c->work = kernel_work_at(i)); i++) {
        if (!all && !bench_is_listed(settings->only, c->work->name))
            continue;
        if (settings->csv)
            fprintf(stderr, "bench: %s\n", c->work->name);
        measure_kernel(c, data, settings, peer);
    }
}

bool kernel_times(const kernel_times_settings *settings)
{
    if (strcmp(settings->only, "all") != 0 && !are_kernels(settings->only))
        return false;
    if (strcmp(settings->isa, "best") != 0 && !tg_kernels_use(settings->isa)) {
        fprintf(stderr, "bench: --isa: this processor, or this build, does not run %s\n", settings->isa);
        return false;
    }
    const peer_settings torch = settings->peer;
    bench_peer *peer = torch.python ? bench_peer_start(PEER_TORCH, torch.python, 1) : NULL;
    if (torch.required && !peer)
        return false;
    bench_blas_threads(1); /* the tape uses the same number of threads */
    kernel_data *data = kernel_data_new(places[FORWARD][PLACES - 1]);
    contestant c = {.data = data, .tape = tg_tape_new()};
    const bool fine = data && c.tape;
    if (fine)
        measure_all(&c, data, settings, peer);
    else
        fprintf(stderr, "bench: out of memory\n");
    const char *error = fine ? tg_tape_error(c.tape) : NULL;
    if (error)
        fprintf(stderr, "bench: %s\n", error);
    bench_peer_stop(peer);
    tg_tape_free(c.tape);
    kernel_data_free(data);
    return fine && !error;
}
