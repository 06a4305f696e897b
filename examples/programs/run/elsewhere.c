/* `compare --runs`: results of other programs, shown like our own. */
#include "examples/programs/run/experiment.h"
#include "examples/programs/run/paper.h"

#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/runs_file.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/system/posix.h"

typedef struct page {
    const experiment_settings *settings;
    const runs_file *from;
    const char *command;
} page;

static bool write_page(const void *context, FILE *to)
{
    const page *p = context;
    const comparison *c = &p->from->c;
    html_begin(to, p->settings->runs, NULL, false);
    comparison_print_results(c, "html", to);
    for (int m = 0; p->from->steps && m < c->measure_count; m++) {
        chart_line *lines = runs_lines(p->from, m);
        chart_write(to, c->measures[m].name, "step", lines, c->run_count);
        free(lines);
    }
    html_element(to, "h2", "What the words mean");
    comparison_print_definitions(c, "html", to);
    html_element(to, "h2", "To repeat it");
    html_element(to, "pre class=\"words\"", p->command);
    html_end(to);
    return true;
}

/* ---- for a paper ---- */

static void put_methods(const page *p, FILE *to)
{
    fprintf(to, "Data. Results of %d runs of other programs, from %s: measures", p->from->c.run_count,
            p->settings->runs);
    for (int m = 0; m < p->from->c.measure_count; m++)
        fprintf(to, "%s %s", m ? "," : "", p->from->c.measures[m].name);
    fprintf(to, "%s.\n", p->from->steps ? "; of each run the last step counts" : "");
    methods_print_software(p->command, to);
    fputs("\nTests and tables.", to);
    comparison_print_definitions(&p->from->c, "methods", to);
}

static void put_part(const void *of, paper_part part, FILE *to)
{
    const page *p = of;
    if (part == PAPER_TABLE)
        comparison_print_results(&p->from->c, "latex", to);
    else if (part == PAPER_NOTES)
        comparison_print_definitions(&p->from->c, "latex text", to);
    else
        put_methods(p, to);
}

static bool write_paper(const page *of, tg_error *error)
{
    return paper_write(&(paper){.out = of->settings->run.out,
                                .title = of->settings->runs,
                                .of = of,
                                .put = put_part,
                                .script = "intervals.gp",
                                .draws = true},
                       error);
}

/* A given option that has no effect with --runs; NULL: none. */
static const char *useless(const options_given *given)
{
    static const char *const used[] = {
        "runs", "measures", "more-is-better", "less-is-better", "margin", "format", "report", "paper", "out", NULL};
    for (const program_option *o = experiment_program()->table; options_more(o); o++)
        if (o->name && !used[options_position(used, o->name)] && options_has(given, o->name))
            return o->name;
    return NULL;
}

/* False if the folder has files that a call like this writes or removes, and that none has written. */
static bool is_ours(const char *out, tg_error *error)
{
    static const char begin[] = "measure,name,against,pairs,", *const names[] = {"pairs.csv", "summary.csv",
                                                                                 "report.html"};
    char line[sizeof begin] = "";
    FILE *file = files_read(out, names[0], error);
    if (file && fgets(line, sizeof line, file) && strcmp(line, begin) == 0)
        return files_end_reading(file, out, names[0], error);
    if (file ? !files_end_reading(file, out, names[0], error) : error->text[0])
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (files_exists(out, names[i]))
            return tg_fail(error, "%.200s has %s, which is not of --runs; use --out for another folder", out, names[i]);
    return true;
}

static bool check(const experiment_settings *s, tg_error *error)
{
    const char *without = useless(&s->run.given);
    char word[300], path[PATH_MAX];
    if (without)
        return tg_fail(error, "--%s: --runs trains nothing", without);
    if ((s->run.report || s->paper) && !s->run.out)
        return tg_fail(error, "--%s needs --out", s->run.report ? "report" : "paper");
    for (int i = 0; s->run.out && i < 2; i++)
        if (files_path(s->run.out, i ? "pairs.csv" : "summary.csv", path) && files_are_one(path, s->runs))
            return tg_fail(error, "--runs: %.200s is a file that --out %.200s overwrites; use another folder", s->runs,
                           s->run.out);
    if (s->run.out && !is_ours(s->run.out, error))
        return false;
    for (const char *more = s->more_is_better; next_word(&more, word, sizeof word);)
        if (list_has(s->less_is_better, word))
            return tg_fail(error, "--less-is-better: --more-is-better has '%s', too", word);
    return true;
}

int compare_elsewhere(const experiment_settings *s, const char *command)
{
    runs_file from;
    tg_error error;
    const page of = {s, &from, command};
    double margin;
    if (!check(s, &error) || !experiment_margin(s, &margin, &error) ||
        !runs_read(s->runs, &(runs_wanted){s->measures, s->more_is_better, s->less_is_better}, &from, &error)) {
        terminal_say("compare", NULL, error.text);
        return 2;
    }
    from.c.about.margin = margin;
    from.c.about.unwritten = !s->run.out;
    comparison_print(&from.c, s->format, stdout);
    bool fine = !s->run.out || (files_make_folder(s->run.out, &error) &&
                                files_write(s->run.out, "summary.csv", comparison_write_summary, &from.c, &error) &&
                                files_write(s->run.out, "pairs.csv", comparison_write_pairs, &from.c, &error));
    fine = fine && (!s->run.report || files_write(s->run.out, "report.html", write_page, &of, &error));
    fine = fine && (!s->paper || write_paper(&of, &error));
    if (fine && s->run.out && !s->paper)
        paper_remove(s->run.out);
    if (fine && s->run.out && !s->run.report)
        files_remove(s->run.out, "report.html");
    if (fine && s->run.out && strcmp(s->format, "table") == 0)
        printf("\nin %s/: summary.csv, pairs.csv%s%s\n", plain(s->run.out), s->run.report ? "; report.html" : "",
               s->paper ? "; paper/" : "");
    if (!fine)
        terminal_say("compare", NULL, error.text);
    runs_free(&from);
    return fine ? 0 : 1;
}
