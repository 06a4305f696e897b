#include "examples/programs/run/predictions.h"

#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"
#include "examples/programs/run/influence.h"
#include "examples/programs/system/posix.h"

/* ---- what a net makes of a row ---- */

static void put_word(const char *word, FILE *to)
{
    if (isatty(fileno(to)))
        table_csv_text(to, word);
    else
        table_csv_exact(to, word); /* to be compared with the words of the data */
}

static void put_number(double number, FILE *to)
{
    fputs(number_text(number, (char[NUMBER_TEXT]){0}), to);
}

/* The name of a target, after a word that says what is listed. */
static void put_target(const tg_card *c, size_t i, const char *before, FILE *to)
{
    const char *of = c->target[i].name;
    char *name = *of ? memory_text("%s%s", before, of) : memory_text("%starget_%zu", before, i);
    put_word(name, to);
    free(name);
}

void predictions_header(const tg_card *c, bool probabilities, FILE *to)
{
    if (c->task == TG_CARD_CLASSES)
        fputs("class,probability", to);
    for (size_t i = 0; c->task == TG_CARD_CLASSES && probabilities && i < c->classes; i++) {
        putc(',', to);
        put_word(c->class_names[i], to);
    }
    for (size_t i = 0; c->task == TG_CARD_TARGETS && i < c->targets; i++) {
        fputs(i ? "," : "", to);
        put_target(c, i, "", to);
    }
    if (c->task == TG_CARD_IMAGES)
        fputs("squared_error", to);
}

static void put_classes(const tg_card *c, const float *logits, const double *probability, bool all, FILE *to)
{
    double confidence;
    put_word(c->class_names[tally_class(logits, (int64_t)c->classes, &confidence)], to);
    putc(',', to);
    put_number(confidence, to);
    for (size_t i = 0; all && i < c->classes; i++) {
        putc(',', to);
        put_number(probability[i], to);
    }
}

void predictions_row(const tg_card *c, const float *output, const float *input, bool probabilities, FILE *to)
{
    double *results = memory_checked(calloc(tg_card_results(c), sizeof *results));
    tg_card_decode(c, output, results);
    if (c->task == TG_CARD_CLASSES)
        put_classes(c, output, results, probabilities, to);
    for (size_t i = 0; c->task == TG_CARD_TARGETS && i < c->targets; i++) {
        fputs(i ? "," : "", to);
        put_number(results[i], to);
    }
    if (c->task == TG_CARD_IMAGES)
        put_number(tally_squares(output, input, c->spec.inputs), to);
    free(results);
}

/* ---- files of a run ---- */

static const dataset_part *part_of(const predictions *p, int split)
{
    return p->from->parts[split].part;
}

static size_t number_of(const dataset *set, int32_t row)
{
    return set->number ? set->number[row] : (size_t)row;
}

typedef struct listing {
    const predictions *of;
    runlog_split split;
    const tally_rows *each[2]; /* of the net, and of a constant prediction; */
    double *influence[2];      /* [INFLUENCES, rows] of each */
} listing;

static const char *const prefixes[2] = {"", "constant_"};

/* What the rows of a split with these outputs add to measures, to be freed. */
static double *influence_of(const predictions *p, runlog_split split, const float *output)
{
    const dataset_part *part = part_of(p, split);
    const dataset *set = &p->from->data;
    influence_rows rows = {.count = part->rows, .output = output};
    int32_t *label = set->labels ? memory_checked(calloc(part->rows + 1, sizeof *label)) : NULL;
    float *wanted = set->y ? memory_checked(calloc(part->rows * set->targets + 1, sizeof *wanted)) : NULL,
          *weight = set->weight ? memory_checked(calloc(part->rows + 1, sizeof *weight)) : NULL;
    for (size_t i = 0; i < part->rows; i++) {
        const size_t row = (size_t)part->row[i];
        if (label)
            label[i] = set->labels[row];
        if (wanted)
            memcpy(wanted + i * set->targets, set->y + row * set->targets, set->targets * sizeof *wanted);
        if (weight)
            weight[i] = set->weight[row];
    }
    rows.label = label;
    rows.wanted = wanted;
    rows.weight = weight;
    double *values = memory_checked(influence(p->of, &rows));
    free(label);
    free(wanted);
    free(weight);
    return values;
}

static const char *const columns[RUNLOG_ROW_MEASURES] = {
#define ROW_FIELD(member, column) column,
#include "examples/programs/report/fields.def"
};

static bool is_listed(const listing *l, int which, int measure)
{
    const size_t rows = part_of(l->of, l->split)->rows;
    return rows > 0 && isfinite(l->influence[which][(size_t)measure * rows]);
}

static void list_header(const listing *l, FILE *to)
{
    const bool classes = l->of->of->task == TG_CARD_CLASSES;
    fputs(l->of->from->data.group ? "row,group" : "row", to);
    for (int which = 0; which < 2; which++) {
        for (int k = 0; k <= classes; k++)
            fprintf(to, ",%s%s", prefixes[which], columns[k]);
        if (which == 0)
            fprintf(to, "%s%s", l->of->from->data.weight ? ",weight" : "",
                    l->of->of->class_weight ? ",loss_weight" : "");
        for (int k = 0; k < INFLUENCES; k++)
            if (is_listed(l, which, k))
                fprintf(to, ",%s%s", prefixes[which], columns[2 + k]);
    }
    putc('\n', to);
}

static bool list_rows(const void *context, FILE *to)
{
    const listing *l = context;
    const dataset_part *part = part_of(l->of, l->split);
    const dataset *set = &l->of->from->data;
    const float *of_class = l->of->of->class_weight;
    list_header(l, to);
    for (size_t i = 0; i < part->rows; i++) {
        const int32_t row = part->row[i];
        const double weight = set->weight ? set->weight[row] : 1;
        fprintf(to, "%zu", number_of(set, row));
        if (set->group)
            fprintf(to, ",%d", set->group[row]);
        for (int which = 0; which < 2; which++) {
            fprintf(to, ",%.17g", l->each[which]->loss[i]);
            if (l->of->of->task == TG_CARD_CLASSES)
                fprintf(to, ",%d", l->each[which]->hit[i]);
            if (which == 0 && set->weight)
                fprintf(to, ",%.9g", weight);
            if (which == 0 && of_class)
                fprintf(to, ",%.17g", weight * of_class[set->labels[row]]);
            for (int k = 0; k < INFLUENCES; k++)
                if (is_listed(l, which, k))
                    fprintf(to, ",%.17g", l->influence[which][(size_t)k * part->rows + i]);
        }
        putc('\n', to);
    }
    return true;
}

/* The right answer for a row, after commas: a class, or targets in their own unit. */
static void put_answer(const predictions *p, int32_t row, FILE *to)
{
    const dataset *set = &p->from->data;
    const double *cells = set->cells ? set->cells + (size_t)row * set->columns : NULL;
    if (p->of->task == TG_CARD_CLASSES) {
        putc(',', to);
        put_word(set->class_names[set->labels[row]], to);
    }
    for (size_t i = 0; p->of->task == TG_CARD_TARGETS && i < set->targets; i++) {
        putc(',', to);
        put_number(cells ? cells[set->target_column[i]] : set->y[(size_t)row * set->targets + i], to);
    }
}

static bool list_predictions(const void *context, FILE *to)
{
    const predictions *p = context;
    const dataset *set = &p->from->data;
    const tg_card *c = p->of;
    fprintf(to, "row,split,loss,%s%s", set->weight ? "weight," : "", c->task == TG_CARD_CLASSES ? "true_class," : "");
    for (size_t i = 0; c->task == TG_CARD_TARGETS && i < c->targets; i++) {
        put_target(c, i, "true_", to);
        putc(',', to);
    }
    predictions_header(c, true, to);
    putc('\n', to);
    for (int split = 0; split < RUNLOG_SPLITS; split++) {
        const dataset_part *part = part_of(p, split);
        const tally_rows *each = &p->split[split];
        for (size_t i = 0; each->output && i < part->rows; i++) {
            const int32_t row = part->row[i];
            fprintf(to, "%zu,%s,%.17g", number_of(set, row), runlog_splits[split], each->loss[i]);
            if (set->weight)
                fprintf(to, ",%.9g", set->weight[row]);
            put_answer(p, row, to);
            putc(',', to);
            predictions_row(c, each->output + i * tg_card_results(c), set->x + (size_t)row * set->features, true, to);
            putc('\n', to);
        }
    }
    return true;
}

bool predictions_write_rows(const predictions *p, runlog_split split, const char *folder, tg_error *error)
{
    listing l = {p, split, {&p->split[split], &p->constant}, {NULL, NULL}};
    for (int which = 0; which < 2; which++)
        l.influence[which] = influence_of(p, split, l.each[which]->output);
    const bool written = files_write(folder, "rows.csv", list_rows, &l, error);
    for (int which = 0; which < 2; which++)
        free(l.influence[which]);
    return written;
}

bool predictions_write(const predictions *p, const char *folder, tg_error *error)
{
    return files_write(folder, "predictions.csv", list_predictions, p, error);
}
