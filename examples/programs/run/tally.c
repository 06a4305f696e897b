#include "examples/programs/run/tally.h"

#include "autograd/base/numbers.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

int64_t tally_class(const float *logits, int64_t classes, double *confidence)
{
    int64_t best = 0;
    double sum = 0;
    for (int64_t c = 1; c < classes; c++)
        if (logits[c] > logits[best])
            best = c;
    for (int64_t c = 0; c < classes; c++)
        sum += tg_number_exp((double)logits[c] - logits[best]);
    *confidence = 1 / sum;
    return best;
}

int tally_bin(double confidence)
{
    const double bin = confidence * TALLY_BINS;
    return bin >= TALLY_BINS ? TALLY_BINS - 1 : bin >= 0 ? (int)bin : 0; /* converting NaN to an integer is undefined */
}

double tally_second(const float logits[2])
{
    const int answer = logits[1] > logits[0];
    const double other = tg_number_exp((double)logits[1 - answer] - logits[answer]), both = 1 + other;
    return answer == 1 ? 1 / both : other / both;
}

static double entropy_of(const float *logits, int64_t classes, int64_t label)
{
    double sum = 0, largest = logits[0];
    for (int64_t c = 1; c < classes; c++)
        largest = logits[c] > largest ? logits[c] : largest;
    for (int64_t c = 0; c < classes; c++)
        sum += tg_number_exp(logits[c] - largest);
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

/* Adds the next row, and returns its weighted loss. */
static double add_loss(tally *sums, double loss, double weight, double of_class)
{
    if (sums->each)
        sums->each->loss[sums->rows] = loss;
    sums->rows++;
    sums->weight += weight;
    sums->loss_weight += weight * of_class;
    sums->loss += loss * weight * of_class;
    return loss * weight * of_class;
}

/* ---- measures by class ---- */

static bool make_room(tally_classes *of, size_t classes)
{
    if (!of->labels && (of->labels = calloc(4 * classes, sizeof *of->labels))) {
        of->count = classes;
        of->answers = of->labels + classes;
        of->hits = of->answers + classes;
        of->seen = of->hits + classes;
    }
    if (classes != 2 || of->rows < of->room)
        return of->labels;
    const size_t room = of->room ? 2 * of->room : 256;
    tally_score *larger = realloc(of->score, room * sizeof *larger);
    of->score = larger ? larger : of->score;
    of->room = larger ? room : of->room;
    return of->labels && larger;
}

/* Without memory there are no such measures. */
static void add_to_class(tally *sums, const float *logits, size_t classes, int32_t label, int64_t answer, bool hit,
                         double weight)
{
    tally_classes *of = &sums->classes;
    sums->by_class = sums->by_class && make_room(of, classes);
    if (!sums->by_class)
        return;
    of->labels[label] += weight;
    of->answers[answer] += weight;
    of->hits[label] += hit * weight;
    of->seen[label]++;
    of->seen[answer]++;
    if (classes == 2)
        of->score[of->rows++] =
            (tally_score){.probability = tally_second(logits), .weight = weight, .positive = label == 1};
}

static int by_probability(const void *a, const void *b)
{
    const tally_score *left = a, *right = b;
    return (left->probability > right->probability) - (left->probability < right->probability);
}

double tally_area(tally_score *rows, size_t count, double of[2])
{
    double pairs = 0, below[2] = {0, 0};
    bool ordered = true;
    of[0] = of[1] = 0;
    for (size_t i = 0; i < count; i++) {
        of[rows[i].positive] += rows[i].weight;
        ordered &= !isnan(rows[i].probability);
    }
    if (!ordered)
        return NAN;
    system_sort(rows, count, sizeof *rows, by_probability);
    for (size_t i = 0, next; i < count; i = next) {
        double same[2] = {0, 0};
        for (next = i; next < count && rows[next].probability == rows[i].probability; next++)
            same[rows[next].positive] += rows[next].weight;
        pairs += same[1] * (below[0] + same[0] / 2);
        for (size_t k = i; k < next; k++)
            rows[k].right = rows[k].positive ? below[0] + same[0] / 2 : of[1] - below[1] - same[1] / 2;
        below[0] += same[0];
        below[1] += same[1];
    }
    const double area = pairs / (of[0] * of[1]);
    return area > 1 ? 1 : area; /* by rounding */
}

static void measure_classes(tally_classes *of, runlog_measures *m)
{
    double recalls = 0, f1 = 0, with_label = 0, seen = 0;
    for (size_t i = 0; i < of->count; i++) {
        const double both = of->labels[i] + of->answers[i];
        with_label += of->labels[i] > 0;
        seen += of->seen[i] > 0;
        recalls += of->labels[i] > 0 ? of->hits[i] / of->labels[i] : 0;
        f1 += both > 0 ? 2 * of->hits[i] / both : 0;
    }
    m->balanced = recalls / with_label;
    m->f1 = f1 / seen;
    if (of->count == 2)
        m->auc = tally_area(of->score, of->rows, (double[2]){0});
}

static double add_class(tally *sums, const tg_card *c, const float *logits, int64_t classes, int32_t label,
                        double weight)
{
    double confidence;
    const int64_t answer = tally_class(logits, classes, &confidence);
    const bool hit = answer == label && !isnan(confidence);
    const int bin = tally_bin(confidence);
    sums->correct += hit * weight;
    sums->confidence[bin] += confidence * weight;
    sums->hits[bin] += hit * weight;
    if (sums->confusion)
        sums->confusion[label * classes + answer] += weight;
    add_to_class(sums, logits, (size_t)classes, label, answer, hit, weight);
    if (sums->each && sums->each->hit)
        sums->each->hit[sums->rows] = hit;
    return add_loss(sums, entropy_of(logits, classes, label), weight, c->class_weight ? c->class_weight[label] : 1);
}

/* Adds the targets of pairs: rows of `width` logits for each of `positions` labels, 0 behind the end. `correct` counts
 * targets of which all characters are right, those that greedy decoding writes exactly. Returns their losses. */
static double add_pairs(tally *sums, const float *logits, int64_t classes, const int32_t *labels, int64_t targets,
                        int64_t positions)
{
    double loss = 0, confidence;
    for (int64_t i = 0; i < targets; i++) {
        bool exact = true;
        for (int64_t t = 0; t < positions; t++, logits += classes, labels++) {
            if (*labels == TG_SEQ2SEQ_PADDING)
                continue;
            exact = exact && tally_class(logits, classes, &confidence) == *labels && !isnan(confidence);
            sums->loss_weight++;
            loss += entropy_of(logits, classes, *labels);
        }
        sums->correct += exact;
        sums->rows++;
        sums->weight++;
    }
    sums->loss += loss;
    return loss;
}

static double add_targets(tally *sums, const float *output, const float *targets, int64_t width, double weight)
{
    for (int64_t i = 0; i < width && i < TALLY_TARGETS; i++) {
        const double error = (double)output[i] - targets[i];
        sums->first[i] = sums->weight > 0 ? sums->first[i] : targets[i];
        sums->differs[i] |= weight > 0 && targets[i] != sums->first[i];
        sums->absolutes += i == 0 ? fabs(error) * weight : 0;
        sums->error[i] += error * error * weight;
        sums->sum[i] += targets[i] * weight;
        sums->sum_squares[i] += (double)targets[i] * targets[i] * weight;
    }
    return add_loss(sums, tally_squares(output, targets, width), weight, 1);
}

/* The mean over the targets of 1 - squared error / variance. */
static double determination(const tally *sums, size_t targets)
{
    double mean = 0;
    for (size_t i = 0; i < targets; i++) {
        const double variance = sums->sum_squares[i] - sums->sum[i] * sums->sum[i] / sums->weight;
        mean += 1 - sums->error[i] / (sums->differs[i] ? variance : 0); /* of equal ones only rounding is left */
    }
    return mean / (double)targets;
}

static bool reads_pairs(const tg_card *c)
{
    return c->task == TG_CARD_LETTERS && tg_model_traits_of(c->spec.model)->pairs;
}

static bool classifies(const tg_card *c)
{
    return c->task == TG_CARD_CLASSES || c->task == TG_CARD_LETTERS;
}

/* The cross-entropy to one-hot targets, each times the weight of its class and its row [rows, 1]. */
static tg_tensor weighted_entropy(const tg_card *c, tg_tensor logits, tg_tensor labels, tg_tensor weights,
                                  double smoothing)
{
    const int64_t classes = tg_dim(logits, -1);
    const tg_tensor label = tg_one_hot(labels, classes, TG_F32);
    tg_tensor target =
        smoothing > 0 ? tg_add_scalar(tg_mul_scalar(label, 1 - smoothing), smoothing / (double)classes) : label;
    if (c->class_weight) {
        const tg_tensor of_class = tg_borrow(tg_tape_of(logits), TG_F32, c->class_weight, TG_SHAPE(classes));
        target = tg_mul(target, tg_sum_over(tg_mul(label, of_class), TG_AXES(-1), true));
    }
    return tg_cross_entropy_to(logits, tg_ok(weights) ? tg_mul(target, weights) : target);
}

tg_tensor tally_loss(const tg_card *c, tg_tensor output, tg_tensor wanted, tg_tensor weights, double smoothing)
{
    const bool weighted = tg_ok(weights);
    if (weighted)
        weights = tg_reshape(weights, TG_SHAPE(-1, 1));
    if (classifies(c))
        return weighted || c->class_weight ? weighted_entropy(c, output, wanted, weights, smoothing)
                                           : tg_cross_entropy_with(output, wanted, smoothing,
                                                                   reads_pairs(c) ? TG_SEQ2SEQ_PADDING : TG_NO_LABEL);
    return weighted ? tg_mean(tg_mul(tg_square(tg_sub(output, wanted)), weights)) : tg_mse(output, wanted);
}

double tally_add(tally *sums, const tg_card *c, tg_tensor output, tg_tensor wanted, tg_tensor weights)
{
    const int64_t width = tg_dim(output, -1), rows = width ? tg_size(output) / width : 0;
    const float *from = tg_f32(output), *targets = classifies(c) ? NULL : tg_f32(wanted);
    const int32_t *labels = classifies(c) ? tg_i32(wanted) : NULL;
    const float *weight = tg_f32(weights);
    double loss = 0;
    if (reads_pairs(c) && from && labels)
        return add_pairs(sums, from, width, labels, tg_dim(output, 0), tg_dim(output, 1)) / (double)tg_dim(output, 0);
    for (int64_t r = 0; from && (labels || targets) && r < rows; r++, from += width) {
        if (sums->each && sums->each->output)
            memcpy(sums->each->output + sums->rows * width, from, (size_t)width * sizeof *from);
        const double of_row = weight ? weight[r] : 1;
        loss += labels ? add_class(sums, c, from, width, labels[r], of_row)
                       : add_targets(sums, from, targets + r * width, width, of_row);
    }
    return loss / (double)rows;
}

runlog_measures tally_measures(tally *sums, const tg_card *c)
{
    const double rows = sums->weight;
    runlog_measures m = runlog_no_measures;
    m.loss = sums->loss / sums->loss_weight;
    if (classifies(c)) {
        m.accuracy = sums->correct / rows;
        m.calibration = reads_pairs(c) ? NAN : 0;
        for (int bin = 0; bin < TALLY_BINS; bin++)
            m.calibration += fabs(sums->confidence[bin] - sums->hits[bin]) / rows;
    }
    if (c->task == TG_CARD_TARGETS && c->targets == 1) {
        m.rmse = sqrt(sums->error[0] / rows) * c->target[0].scale.scale;
        m.mae = sums->absolutes / rows * c->target[0].scale.scale;
    }
    if (c->task == TG_CARD_TARGETS && c->targets <= TALLY_TARGETS)
        m.r2 = determination(sums, c->targets);
    if (sums->by_class && sums->classes.count)
        measure_classes(&sums->classes, &m);
    free(sums->classes.labels);
    free(sums->classes.score);
    *sums = (tally){.confusion = sums->confusion, .each = sums->each, .by_class = sums->by_class};
    return m;
}

/* True if the characters of a text are bytes, some of which are none by themselves. */
static bool is_of_bytes(const tg_card *c)
{
    return !c->utf8 && c->vocabulary > 0 && c->letter[c->vocabulary - 1] > 127; /* they are in ascending order */
}

void tally_print(const tg_card *c, const char *split, const runlog_measures *m, FILE *out)
{
    fprintf(out, "%s: loss %.4f", split, m->loss);
    if (c->task == TG_CARD_LETTERS)
        fprintf(out, " nats a %s (%.4f bits)", is_of_bytes(c) ? "byte" : "character", m->loss / log(2));
    if (!isnan(m->accuracy))
        fprintf(out, ", %s %.2f %%", reads_pairs(c) ? "exact" : "accuracy", 100 * m->accuracy);
    if (!isnan(m->balanced))
        fprintf(out, ", balanced accuracy %.2f %%", 100 * m->balanced);
    if (!isnan(m->f1))
        fprintf(out, ", macro F1 %.4f", m->f1);
    if (!isnan(m->auc))
        fprintf(out, ", AUC %.4f", m->auc);
    if (isfinite(m->r2))
        fprintf(out, ", R2 %.4f", m->r2);
    if (!isnan(m->rmse))
        fprintf(out, ", root mean squared error %.4g%s%s", m->rmse, *c->target[0].name ? " of " : "",
                plain_name(c->target[0].name, (char[PLAIN_NAME]){0}));
    putc('\n', out);
}

/* Names the class if all rows are predicted as one; returns how many classes are predicted. */
static size_t print_only_answer(const tg_card *c, const double *confusion, FILE *out)
{
    size_t answers = 0, only = 0;
    for (size_t k = 0; k < c->classes; k++) {
        double rows = 0;
        for (size_t i = 0; i < c->classes; i++)
            rows += confusion[i * c->classes + k];
        answers += rows > 0;
        only = rows > 0 ? k : only;
    }
    if (answers == 1)
        fprintf(out, "all samples are predicted as class %s\n",
                plain_name(c->class_names[only], (char[PLAIN_NAME]){0}));
    return answers;
}

void tally_print_confusion(const tg_card *c, const double *confusion, FILE *out)
{
    enum { MOST = 12 };
    if (print_only_answer(c, confusion, out) == 0 || c->classes > MOST)
        return;
    fputs("confusion matrix, a line for each class and a column for each prediction, in the same order:\n", out);
    for (size_t i = 0; i < c->classes; i++) {
        for (size_t k = 0; k < c->classes; k++)
            fprintf(out, " %7.7g", confusion[i * c->classes + k]);
        fprintf(out, "  %s\n", plain_name(c->class_names[i], (char[PLAIN_NAME]){0}));
    }
}
