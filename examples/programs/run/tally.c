#include "examples/programs/run/tally.h"

#include "examples/programs/data/words.h"

#include <math.h>
#include <string.h>

int64_t tally_class(const float *logits, int64_t classes, double *confidence)
{
    int64_t best = 0;
    double sum = 0;
    for (int64_t c = 1; c < classes; c++)
        if (logits[c] > logits[best])
            best = c;
    for (int64_t c = 0; c < classes; c++)
        sum += exp((double)logits[c] - logits[best]);
    *confidence = 1 / sum;
    return best;
}

double tally_entropy(const float *logits, int64_t classes, int64_t label)
{
    double sum = 0, largest = logits[0];
    for (int64_t c = 1; c < classes; c++)
        largest = logits[c] > largest ? logits[c] : largest;
    for (int64_t c = 0; c < classes; c++)
        sum += exp(logits[c] - largest);
    return log(sum) + largest - logits[label];
}

double tally_squares(const float *output, const float *wanted, int64_t width)
{
    double sum = 0;
    for (int64_t i = 0; i < width; i++) {
        const double error = (double)output[i] - wanted[i];
        sum += error * error;
    }
    return sum / (double)width;
}

/* Adds the loss of the next row, and returns it. */
static double add_loss(tally *sums, double loss)
{
    if (sums->each)
        sums->each->loss[sums->rows] = loss;
    sums->loss += loss;
    sums->rows++;
    return loss;
}

static double add_class(tally *sums, const float *logits, int64_t classes, int32_t label)
{
    double confidence;
    const int64_t answer = tally_class(logits, classes, &confidence);
    const bool hit = answer == label && !isnan(confidence);
    int bin = (int)(confidence * TALLY_BINS);
    bin = bin < 0 ? 0 : bin >= TALLY_BINS ? TALLY_BINS - 1 : bin; /* converting NaN to an integer is undefined */
    sums->correct += hit;
    sums->in_bin[bin]++;
    sums->confidence[bin] += confidence;
    sums->hits[bin] += hit;
    if (sums->confusion)
        sums->confusion[label * classes + answer]++;
    if (sums->each && sums->each->hit)
        sums->each->hit[sums->rows] = hit;
    return add_loss(sums, tally_entropy(logits, classes, label));
}

static double add_targets(tally *sums, const float *output, const float *targets, int64_t width)
{
    for (int64_t i = 0; i < width && i < TALLY_TARGETS; i++) {
        const double error = (double)output[i] - targets[i];
        sums->absolutes += i == 0 ? fabs(error) : 0;
        sums->error[i] += error * error;
        sums->sum[i] += targets[i];
        sums->sum_squares[i] += (double)targets[i] * targets[i];
    }
    return add_loss(sums, tally_squares(output, targets, width));
}

/* The mean over the targets of 1 - squared error / variance. */
static double determination(const tally *sums, double rows, size_t targets)
{
    double mean = 0;
    for (size_t i = 0; i < targets; i++)
        mean += 1 - sums->error[i] / (sums->sum_squares[i] - sums->sum[i] * sums->sum[i] / rows);
    return mean / (double)targets;
}

static bool classifies(const card *c)
{
    return c->task == CARD_CLASSES || c->task == CARD_LETTERS;
}

tg_tensor tally_loss(const card *c, tg_tensor output, tg_tensor wanted, double smoothing)
{
    return classifies(c) ? tg_cross_entropy_with(output, wanted, smoothing, TG_NO_LABEL) : tg_mse(output, wanted);
}

double tally_add(tally *sums, const card *c, tg_tensor output, tg_tensor wanted)
{
    const int64_t width = tg_dim(output, -1), rows = width ? tg_size(output) / width : 0;
    const float *from = tg_f32(output), *targets = classifies(c) ? NULL : tg_f32(wanted);
    const int32_t *labels = classifies(c) ? tg_i32(wanted) : NULL;
    double loss = 0;
    for (int64_t r = 0; from && (labels || targets) && r < rows; r++, from += width) {
        if (sums->each && sums->each->output)
            memcpy(sums->each->output + sums->rows * width, from, (size_t)width * sizeof *from);
        loss += labels ? add_class(sums, from, width, labels[r]) : add_targets(sums, from, targets + r * width, width);
    }
    return loss / (double)rows;
}

runlog_measures tally_measures(tally *sums, const card *c)
{
    const double rows = (double)sums->rows;
    runlog_measures m = RUNLOG_NO_MEASURES;
    m.loss = sums->loss / rows;
    if (classifies(c)) {
        m.accuracy = (double)sums->correct / rows;
        m.calibration = 0;
        for (int bin = 0; bin < TALLY_BINS; bin++)
            m.calibration += fabs(sums->confidence[bin] - sums->hits[bin]) / rows;
    }
    if (c->task == CARD_TARGETS && c->targets == 1) {
        m.rmse = sqrt(sums->error[0] / rows) * c->target[0].scale.scale;
        m.mae = sums->absolutes / rows * c->target[0].scale.scale;
    }
    if (c->task == CARD_TARGETS && c->targets <= TALLY_TARGETS)
        m.r2 = determination(sums, rows, c->targets);
    *sums = (tally){.confusion = sums->confusion, .each = sums->each};
    return m;
}

void tally_print(const card *c, const char *split, const runlog_measures *m, FILE *out)
{
    fprintf(out, "%s: loss %.4f", split, m->loss);
    if (c->task == CARD_LETTERS)
        fprintf(out, " nats a character (%.4f bits)", m->loss / log(2));
    if (!isnan(m->accuracy))
        fprintf(out, ", accuracy %.2f %%", 100 * m->accuracy);
    if (isfinite(m->r2))
        fprintf(out, ", R2 %.4f", m->r2);
    if (!isnan(m->rmse))
        fprintf(out, ", root mean squared error %.4g%s%s", m->rmse, *c->target[0].name ? " of " : "",
                plain_name(c->target[0].name, (char[PLAIN_NAME]){0}));
    putc('\n', out);
}
