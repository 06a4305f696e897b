#include "examples/programs/run/influence.h"

#include "autograd/base/numbers.h"
#include "examples/programs/run/tally.h"

static double weight_of(const influence_rows *r, size_t row)
{
    return r->weight ? r->weight[row] : 1;
}

static double total_weight(const influence_rows *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->count; i++)
        sum += weight_of(r, i);
    return sum;
}

/* ---- classes ---- */

/* Weights of a class's rows by label, by answer, and by both. */
typedef struct class_sums {
    double label, answer, both;
    bool seen; /* by a row of any weight */
} class_sums;

static int64_t answer_of(const tg_card *c, const influence_rows *r, size_t row, bool *hit)
{
    double confidence;
    const int64_t answer = tally_class(r->output + row * tg_card_results(c), (int64_t)tg_card_results(c), &confidence);
    *hit = answer == r->label[row] && !isnan(confidence);
    return answer;
}

static void add_classes(const tg_card *c, const influence_rows *r, class_sums *sums)
{
    for (size_t i = 0; i < r->count; i++) {
        bool hit;
        const int64_t answer = answer_of(c, r, i, &hit);
        sums[r->label[i]].label += weight_of(r, i);
        sums[answer].answer += weight_of(r, i);
        sums[r->label[i]].both += hit ? weight_of(r, i) : 0;
        sums[r->label[i]].seen = sums[answer].seen = true;
    }
}

/* F1 of a class, and its derivative in the weight of a row that is labelled, or answered, so. */
static double f1_of(const class_sums *k)
{
    return k->label + k->answer > 0 ? 2 * k->both / (k->label + k->answer) : 0;
}

static double f1_slope(const class_sums *k, bool both)
{
    return k->label + k->answer > 0 ? ((both ? 2 : 0) - f1_of(k)) / (k->label + k->answer) : 0;
}

static void balanced_and_f1(const tg_card *c, const influence_rows *r, double *balanced, double *f1)
{
    class_sums *sums = calloc(c->classes + 1, sizeof *sums);
    const double W = total_weight(r);
    double with_label = 0, seen = 0, recall = 0, mean = 0;
    if (!sums)
        return;
    add_classes(c, r, sums);
    for (size_t k = 0; k < c->classes; k++) {
        with_label += sums[k].label > 0;
        seen += sums[k].seen;
        recall += sums[k].label > 0 ? sums[k].both / sums[k].label : 0;
        mean += f1_of(&sums[k]);
    }
    for (size_t i = 0; i < r->count; i++) {
        bool hit;
        const int64_t answer = answer_of(c, r, i, &hit);
        const class_sums *label = &sums[r->label[i]];
        balanced[i] = recall / with_label;
        if (label->label > 0)
            balanced[i] += W / with_label / label->label * (hit - label->both / label->label);
        /* a row on the diagonal counts in its class as label and as answer: 2 - 2 F1 */
        f1[i] = mean / seen + W / seen * (f1_slope(label, hit) + f1_slope(&sums[answer], false));
    }
    free(sums);
}

/* The difference of confidence and hit, and its bin. */
static double surplus(const tg_card *c, const influence_rows *r, size_t row, int *bin)
{
    double confidence;
    const float *logits = r->output + row * tg_card_results(c);
    const int64_t answer = tally_class(logits, (int64_t)tg_card_results(c), &confidence);
    *bin = tally_bin(confidence);
    return confidence - (answer == r->label[row] && !isnan(confidence));
}

/* The error function by Kummer's series, whose terms are all positive, so that its bytes are the same everywhere. */
static double error_function(double x)
{
    double sum = 0, term = 1.1283791670955126 * fabs(x); /* 2 / sqrt(pi) */
    if (!(fabs(x) < 6))
        return erf(x); /* 1, -1 or NaN */
    for (int n = 1; sum + term != sum; n++) {
        sum += term;
        term *= 2 * x * x / (2 * n + 1);
    }
    return copysign(sum * tg_number_exp(-x * x), x);
}

static void calibration(const tg_card *c, const influence_rows *r, double *error)
{
    double sum[TALLY_BINS] = {0}, squares[TALLY_BINS] = {0}, slope[TALLY_BINS], mean = 0;
    int bin;
    for (size_t i = 0; i < r->count; i++) {
        const double more = weight_of(r, i) * surplus(c, r, i, &bin);
        sum[bin] += more;
        squares[bin] += more * more;
    }
    for (int b = 0; b < TALLY_BINS; b++) {
        slope[b] = squares[b] > 0 ? error_function(sum[b] / sqrt(2 * squares[b])) : 0;
        mean += (fabs(sum[b]) - slope[b] * sum[b]) / total_weight(r);
    }
    for (size_t i = 0; i < r->count; i++) {
        const double more = surplus(c, r, i, &bin);
        error[i] = mean + slope[bin] * more;
    }
}

static void area(const influence_rows *r, double *auc)
{
    tally_score *rows = calloc(r->count + 1, sizeof *rows);
    double of[2];
    if (!rows)
        return;
    for (size_t i = 0; i < r->count; i++)
        rows[i] = (tally_score){.probability = tally_second(r->output + 2 * i),
                                .weight = weight_of(r, i),
                                .row = i,
                                .positive = r->label[i] == 1};
    const double T = tally_area(rows, r->count, of); /* NaN if a class has no row */
    for (size_t i = 0; i < r->count; i++) {
        const int class = rows[i].positive;
        auc[rows[i].row] = T + (of[0] + of[1]) / of[class] * (rows[i].right / of[!class] - T);
    }
    free(rows);
}

/* ---- targets ---- */

/* Adds the values of one of the targets to `r2`. */
static void add_determination(const influence_rows *r, size_t targets, size_t target, double *r2)
{
    const double W = total_weight(r);
    double mean = 0, explained = 0, total = 0, least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < r->count; i++) {
        const double y = r->wanted[i * targets + target];
        mean += weight_of(r, i) * y / W;
        least = weight_of(r, i) > 0 ? fmin(least, y) : least;
        most = weight_of(r, i) > 0 ? fmax(most, y) : most;
    }
    for (size_t i = 0; i < r->count; i++) {
        const double y = r->wanted[i * targets + target];
        explained += weight_of(r, i) * pow(y - r->output[i * targets + target], 2);
        total += least < most ? weight_of(r, i) * pow(y - mean, 2) : 0; /* of equal ones only rounding is left */
    }
    for (size_t i = 0; i < r->count; i++) {
        const double y = r->wanted[i * targets + target], error = y - r->output[i * targets + target],
                     slope = W / total * (error * error - explained / total * pow(y - mean, 2));
        r2[i] += (1 - explained / total - slope) / (double)targets;
    }
}

static void errors(const influence_rows *r, double scale, double *rmse, double *mae)
{
    const double W = total_weight(r);
    double squares = 0;
    for (size_t i = 0; i < r->count; i++) {
        const double error = (double)r->output[i] - r->wanted[i];
        squares += weight_of(r, i) * error * error / W;
        mae[i] = fabs(error) * scale;
    }
    for (size_t i = 0; i < r->count; i++) {
        const double error = (double)r->output[i] - r->wanted[i];
        rmse[i] = squares > 0 ? (squares + error * error) / (2 * sqrt(squares)) * scale : 0;
    }
}

double *influence(const tg_card *c, const influence_rows *r)
{
    double *all = malloc((INFLUENCES * r->count + 1) * sizeof *all);
    for (size_t i = 0; all && i < INFLUENCES * r->count; i++)
        all[i] = NAN;
    if (all && c->task == TG_CARD_CLASSES) {
        balanced_and_f1(c, r, all + INFLUENCE_BALANCED * r->count, all + INFLUENCE_F1 * r->count);
        calibration(c, r, all + INFLUENCE_CALIBRATION * r->count);
    }
    if (all && c->task == TG_CARD_CLASSES && c->classes == 2)
        area(r, all + INFLUENCE_AUC * r->count);
    if (all && c->task == TG_CARD_TARGETS && c->targets == 1)
        errors(r, c->target[0].scale.scale, all + INFLUENCE_RMSE * r->count, all + INFLUENCE_MAE * r->count);
    for (size_t i = 0; all && c->task == TG_CARD_TARGETS && i < r->count; i++)
        all[INFLUENCE_R2 * r->count + i] = 0;
    for (size_t k = 0; all && c->task == TG_CARD_TARGETS && k < c->targets; k++)
        add_determination(r, c->targets, k, all + INFLUENCE_R2 * r->count);
    return all;
}
