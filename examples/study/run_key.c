/* What a run is, in words. Records hold the key that they were made with: one that changes here makes them worthless.
 */
#include "examples/study/run.h"

#include <zlib.h>

static unsigned long checksum(const dataset *data)
{
    const void *bytes = data->source ? (const void *)data->source : data->x;
    size_t left = data->source ? data->rows * (data->features + data->targets) * sizeof *data->source
                               : data->rows * data->features * sizeof *data->x;
    unsigned long sum = crc32(0, NULL, 0);
    for (const unsigned char *at = bytes; left > 0;) {
        const size_t some = left < (1u << 30) ? left : 1u << 30;
        sum = crc32(sum, at, (unsigned)some);
        at += some;
        left -= some;
    }
    return sum;
}

/* Of a file's bytes; 0 if it cannot be read. */
static unsigned long file_checksum(const char *path)
{
    unsigned char some[1 << 14];
    unsigned long sum = crc32(0, NULL, 0);
    FILE *file = fopen(path, "re");
    for (size_t got; file && (got = fread(some, 1, sizeof some, file)) > 0;)
        sum = crc32(sum, some, (unsigned)got);
    if (file)
        fclose(file);
    return file ? sum : 0;
}

void study_run_key(const study_run *run, char key[STUDY_KEY])
{
    static const dataset *known; /* of several hundred runs on one set of 200 MB */
    static unsigned long sum;
    if (run->data != known)
        sum = checksum(run->data);
    known = run->data;
    const tg_mlp_config *net = &run->net;
    int used = snprintf(key, STUDY_KEY, "%s %zu rows %08lx, validation %s, test %s, parts %llu%s; %lld",
                        run->data->name, run->data->rows, sum, run->parts.validation ? run->parts.validation : "-",
                        run->parts.test ? run->parts.test : "-", (unsigned long long)run->parts.seed,
                        run->all_rows ? ", all rows" : "", (long long)net->inputs);
    for (int i = 0; net->hidden[i] && used < STUDY_KEY; i++)
        used += snprintf(key + used, (size_t)(STUDY_KEY - used), "-%lld", (long long)net->hidden[i]);
    if (used < STUDY_KEY)
        used += snprintf(key + used, (size_t)(STUDY_KEY - used),
                         "-%lld %s, init %s, norm %s, dropout %g%s%s; adam %g, batch %d%s, seed %d",
                         (long long)net->outputs, tg_activation_name(net->activation), tg_init_name(net->init),
                         tg_norm_name(net->norm), net->dropout, net->equal_width ? ", equal width" : "",
                         run->reconstructs ? ", reconstructs" : "", run->lr, run->batch,
                         run->drop_partial ? ", full batches only" : "", run->seed);
    /* What the initialiser multiplies by follows from the library, and may change with it. */
    const double gain = net->gain != 0 ? net->gain : tg_init_gain(net->init, net->activation);
    if (gain != 1 && used < STUDY_KEY)
        used += snprintf(key + used, (size_t)(STUDY_KEY - used), ", gain %.6g", gain);
    if (run->start && used < STUDY_KEY)
        snprintf(key + used, (size_t)(STUDY_KEY - used), ", from a file of %08lx", file_checksum(run->start));
}
