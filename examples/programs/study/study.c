#include "examples/programs/report/terminal.h"
#include "examples/programs/study/study.h"
#include "examples/programs/report/signals.h"
#include "plots/plots.h"
#include "examples/programs/data/words.h"

#include <math.h>
#include <string.h>

int study_refuse(const char *message, int status)
{
    terminal_say("study", NULL, message);
    return status;
}

/* The number of complete runs, and a note if this is the quick version. */
static void say_state(const study_results *r, sheet *s)
{
    if (r->c->settings->quick)
        sheet_text(s, "This is the quick version (--quick): synthetic data, small networks, few epochs. It shows that "
                      "the study works; its numbers are not those of the protocol.");
    if (r->work.count)
        sheet_text(s, "%d of %d run%s complete%s.", r->outcome.complete, r->work.count, plural(r->work.count),
                   r->outcome.complete < r->work.count ? "; the same command continues with the rest" : "");
}

void study_file(study_results *r, const char *name, files_writer *write, const void *context)
{
    r->broken = r->broken || !files_make_folder(r->c->folder, &r->error) ||
                !files_write(r->c->folder, name, write, context, &r->error);
}

void study_picture(study_results *r, sheet *s, const char *script, const char *file, const char *says)
{
    tg_error error;
    sheet_picture(s, file, says);
    if (r->broken || r->c->settings->no_plots || !sweep_is_whole(&r->c->settings->sweep))
        return;
    r->drawn = plots_run(script, r->c->folder, &error);
    if (r->drawn != PLOTS_DRAWN)
        terminal_say("study", NULL, error.text);
}

/* Prints and writes the report; the exit status. */
static int show(const study_results *r, const sheet *s)
{
    tg_error error;
    const study_context *c = r->c;
    const study_outcome *outcome = &r->outcome;
    if (!sweep_is_whole(&c->settings->sweep))
        return outcome->interrupted ? signals_status() : outcome->failed > 0;
    sheet_print(s, stdout);
    const bool written =
        files_make_folder(c->folder, &error) && sheet_write(s, c->folder, c->command, r->drawn == PLOTS_DRAWN, &error);
    if (written)
        printf("in %s/: report.html, report.md%s\n", plain(c->folder),
               r->work.count ? ", runs.csv, and a record of each run in runs/" : "");
    else
        study_refuse(error.text, 1);
    if (outcome->interrupted)
        fprintf(stderr, "interrupted: the same command goes on\n");
    const bool interrupted = outcome->interrupted || r->drawn == PLOTS_INTERRUPTED;
    return interrupted ? signals_status() : r->drawn == PLOTS_FAILED || !written || outcome->failed > 0;
}

static int work_on(const study *what, study_results *r)
{
    if (!study_grids_add(&r->work, what->grids, what->grid_count, &r->from))
        return study_refuse("out of memory", 1);
    if (r->work.count > 0)
        r->outcome = study_work_do(&r->work, stderr);
    if (r->outcome.broken)
        return study_refuse(r->outcome.error.text, r->outcome.broken);
    sheet *s = sheet_new(what->title);
    say_state(r, s);
    (what->report ? what->report : what->levels ? study_compare_levels : study_compare)(r, s);
    const int status = r->broken ? study_refuse(r->error.text, 1) : show(r, s);
    sheet_free(s);
    return status;
}

int study_do(const study *what, const study_context *c)
{
    study_results r = {.of = what, .c = c, .work = {.c = c}, .drawn = PLOTS_NOTHING};
    const bool loaded = study_sources_load(&r.from, c, what->grids, what->grid_count);
    const int status = loaded ? work_on(what, &r) : 2;
    study_work_free(&r.work);
    study_sources_free(&r.from);
    return status;
}

void study_say_interval(const statistics_estimate *e, const char *format, bool ratio, bool times,
                        char text[STUDY_INTERVAL])
{
    const double numbers[3] = {e->mean, e->mean - e->margin, e->mean + e->margin};
    char each[3][24];
    for (int i = 0; i < 3; i++)
        snprintf(each[i], sizeof each[i], format, ratio ? exp(numbers[i]) : numbers[i]);
    snprintf(text, STUDY_INTERVAL, "%s%s (%s to %s)", each[0], times ? " times" : "", each[1], each[2]);
}
