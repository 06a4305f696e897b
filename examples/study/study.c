#include "examples/report/terminal.h"
#include "examples/study/study.h"
#include "examples/run/signals.h"
#include "plots/plots.h"
#include "examples/data/words.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool study_context_of(study_context *c, const study_settings *settings, const char *name, const char *command)
{
    *c = (study_context){.settings = settings, .name = name, .command = command};
    return snprintf(c->folder, sizeof c->folder, "%s/%s%s", settings->out, name, settings->quick ? "-quick" : "") <
               (int)sizeof c->folder - 8 &&
           snprintf(c->records, sizeof c->records, "%s/runs", c->folder) < (int)sizeof c->records;
}

int study_refuse(const char *message, int status)
{
    terminal_say("study", NULL, message);
    return status;
}

bool study_load(const study_context *c, const char *kind, const char *path, const char *made, size_t rows,
                const dataset_options *options, dataset *set)
{
    tg_error error;
    char spec[PATH_MAX + 16];
    const bool quick = c->settings->quick;
    const dataset_options making = {.rows = rows};
    snprintf(spec, sizeof spec, "%s:%s/%s", kind, c->settings->data, path);
    if (dataset_load(quick ? made : spec, quick ? &making : options, set, &error))
        return true;
    fprintf(stderr, "study: %s%s\n", error.text,
            quick ? "" : "; --data names the folder that has it, --quick does without");
    return false;
}

/* Sentences of a few words, for the quick version. */
static bool write_sentences(const void *context, FILE *to)
{
    static const char *const words[] = {"the", "king", "of", "night", "will", "hear", "no", "more", "and", "speak"};
    tg_rng rng = tg_rng_seed(1);
    (void)context;
    for (int i = 0; i < 800; i++)
        fprintf(to, "%s%s", words[tg_rng_below(&rng, 10)], i % 8 == 7 ? ".\n" : " ");
    return true;
}

bool study_load_text(const study_context *c, text_source *text)
{
    tg_error error;
    char spec[2 * PATH_MAX];
    const bool quick = c->settings->quick;
    const bool made = !quick || (files_make_folder(c->folder, &error) &&
                                 files_write(c->folder, "sentences.txt", write_sentences, NULL, &error));
    snprintf(spec, sizeof spec, "text:%s/%s", quick ? c->folder : c->settings->data,
             quick ? "sentences.txt" : "tinyshakespeare/input.txt");
    if (made && text_load(spec, text, &error) && text_split(text, 0.1, 1, &error))
        return true;
    fprintf(stderr, "study: %s%s\n", error.text,
            quick ? "" : "; --data names the folder that has it, --quick does without");
    return false;
}

study_work study_work_of(const study_context *c)
{
    return (study_work){.folder = c->records,
                        .sweep = &c->settings->sweep,
                        .read_only = c->settings->report_only,
                        .only = c->settings->only,
                        .overwrite = c->settings->overwrite};
}

void study_say_state(const study_context *c, const study_work *work, const study_outcome *outcome, sheet *s)
{
    if (c->settings->quick)
        sheet_text(s, "This is the quick version (--quick): synthetic data, small networks, few epochs. It shows that "
                      "the study works; its numbers "
                      "are not those of the protocol.");
    if (outcome->complete < work->count)
        sheet_text(s, "%d of %d run%s complete; the same command continues with the rest.", outcome->complete,
                   work->count, plural(work->count));
}

static plots_outcome draw(const study_context *c, const char *script)
{
    tg_error error;
    if (!script || c->settings->no_plots)
        return PLOTS_NOTHING;
    const plots_outcome drawn = plots_run(script, c->folder, &error);
    if (drawn != PLOTS_DRAWN)
        terminal_say("study", NULL, error.text);
    return drawn;
}

int study_end(const study_context *c, study_work *work, const study_outcome *outcome, sheet *s, const char *script)
{
    tg_error error;
    if (!sweep_shows(&c->settings->sweep)) {
        sheet_free(s);
        study_work_free(work);
        return outcome->interrupted ? signals_status() : outcome->failed > 0;
    }
    const plots_outcome drawn = draw(c, script);
    sheet_print(s, stdout);
    const bool written =
        files_make_folder(c->folder, &error) && sheet_write(s, c->folder, c->command, drawn == PLOTS_DRAWN, &error);
    if (written)
        printf("in %s/: report.html, report.md, numbers.json%s\n", c->folder,
               work->count ? ", and a record of each run in runs/" : "");
    else
        study_refuse(error.text, 1);
    if (outcome->interrupted)
        fprintf(stderr, "interrupted: the same command goes on\n");
    sheet_free(s);
    study_work_free(work);
    const bool interrupted = outcome->interrupted || drawn == PLOTS_INTERRUPTED;
    return interrupted ? signals_status() : drawn == PLOTS_FAILED || !written || outcome->failed > 0;
}

double study_number(const study_context *c, const char *name, const char *key)
{
    study_context other;
    char path[PATH_MAX + 16];
    if (!study_context_of(&other, c->settings, name, NULL))
        return NAN;
    snprintf(path, sizeof path, "%s/numbers.json", other.folder);
    json_t *file = json_load_file(path, 0, NULL);
    const json_t *number = json_object_get(file, key);
    const double value = json_is_number(number) ? json_number_value(number) : NAN;
    json_decref(file);
    return value;
}

void study_put_interval(sheet *s, const char *key, double number, double low, double high)
{
    char name[100];
    sheet_number(s, key, number);
    snprintf(name, sizeof name, "%s_low", key);
    sheet_number(s, name, low);
    snprintf(name, sizeof name, "%s_high", key);
    sheet_number(s, name, high);
}

void study_put_estimate(sheet *s, const char *key, const statistics_estimate *e)
{
    study_put_interval(s, key, e->mean, e->mean - e->margin, e->mean + e->margin);
}

/* ---- numbers over seeds ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

study_spread study_spread_of(const double values[], int count)
{
    double sorted[STUDY_SEEDS];
    study_spread spread = {0, NAN, NAN, NAN};
    for (int i = 0; i < count && spread.count < STUDY_SEEDS; i++)
        if (!isnan(values[i]))
            sorted[spread.count++] = values[i];
    if (!spread.count)
        return spread;
    qsort(sorted, (size_t)spread.count, sizeof *sorted, ascending);
    const int middle = spread.count / 2;
    spread.median = spread.count % 2 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
    spread.low = sorted[0];
    spread.high = sorted[spread.count - 1];
    return spread;
}

study_spread study_spread_at(const study_record *const records[], int count, int epoch, study_column column)
{
    double values[STUDY_SEEDS];
    for (int i = 0; i < count; i++)
        values[i] = study_record_at(records[i], epoch, column);
    return study_spread_of(values, count);
}

int study_lowest_median(const study_record *const records[], int count, int epochs, study_column column)
{
    int lowest = 0;
    double least = INFINITY;
    for (int e = 1; e <= epochs; e++) {
        const double median = study_spread_at(records, count, e, column).median;
        if (median < least) {
            least = median;
            lowest = e;
        }
    }
    return lowest;
}
