/* The report of a study: the parts that its file names, one after the other, and their templates, which are texts with
 * numbers in them. A part with a rule has a row, or a sentence, for each of what the rule goes over. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/posix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- templates ---- */

/* The number of a value, or of a formula in "numbers". */
typedef struct named {
    study_part *p;
    const study_value *values;
} named;

static double number_called(const void *context, const char *name)
{
    const named *in = context;
    for (const study_value *v = in->values; v && v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v->number;
    const json_t *number = json_object_get(json_object_get(in->p->of->file, "numbers"), name);
    return json_is_string(number)   ? study_number(in->p, json_string_value(number), NULL)
           : json_is_array(number)  ? study_over_line(in->p, number, number_called, &(named){in->p, NULL})
           : json_is_number(number) ? json_number_value(number)
                                    : study_refuse(in->p, name, "there is no value of this name");
}

double study_number(study_part *p, const char *formula, const study_value values[])
{
    return study_evaluate(p, formula, number_called, &(named){p, values});
}

/* A number that is none is the study's word "none". */
static void put_number(const study_part *p, FILE *to, const char *format, double number)
{
    const char *none = study_text(json_object_get(p->of->file, "words"), "none");
    if (isnan(number) && none)
        fputs(none, to);
    else
        fprintf(to, format, number);
}

/* {name} or {name:.3f}, or a formula in place of the name. */
static void say_one(study_part *p, FILE *to, const char *name, const char *format, const study_value values[])
{
    const json_t *const words[] = {p->part, p->of->file, p->report};
    char number[16] = "%g";
    const size_t length = strspn(format, "+.0123456789");
    if (*format && length < 8 && strchr("gef", format[length]) && !format[length + 1])
        snprintf(number, sizeof number, "%%%s", format);
    for (const study_value *v = values; v && v->name; v++)
        if (strcmp(v->name, name) == 0) {
            char *text = v->text && *v->text == '{' ? study_say(p, v->text, values) : NULL;
            if (v->text)
                fputs(text ? text : v->text, to);
            else
                put_number(p, to, number, v->number);
            free(text);
            return;
        }
    for (size_t i = 0; i <= sizeof words / sizeof *words; i++) {
        const char *template =
            i < 3 ? study_text(json_object_get(words[i], "words"), name) : study_text(p->of->file, name);
        if (template) {
            char *text = study_say(p, template, values);
            fputs(text, to);
            free(text);
            return;
        }
    }
    fprintf(to, number, study_number(p, name, values));
}

enum { DEEPEST = 20 }; /* words in words */

char *study_say(study_part *p, const char *template, const study_value values[])
{
    char *text, name[200], *format;
    size_t size;
    FILE *to = memory_checked(system_open_memory(&text, &size));
    if (++p->depth > DEEPEST)
        study_refuse(p, template, "a word contains itself");
    for (const char *at = template && p->depth <= DEEPEST ? template : ""; *at; at++) {
        const size_t length = strcspn(at, "}");
        if (*at != '{' || length >= sizeof name) {
            fputc(*at, to);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length - 1, at + 1);
        format = strchr(name, ':');
        if (format)
            *format++ = '\0';
        say_one(p, to, name, format ? format : "", values);
        at += length - (at[length] == '\0');
    }
    p->depth--;
    return memory_checked(system_close_memory(to, &text, &size) ? text : NULL);
}

void study_put(study_part *p, const char *name, const study_value values[])
{
    const char *template = study_text(p->part, name);
    char *text = template ? study_say(p, template, values) : NULL;
    if (!text)
        return;
    if (p->file)
        fprintf(p->file, "%s\n", text);
    else if (strcmp(name, "row") == 0 || strcmp(name, "one") == 0)
        sheet_row(p->to, "%s", text);
    else if (strcmp(name, "text") == 0 || strcmp(name, "count") == 0)
        sheet_text(p->to, "%s", text);
    else
        sheet_verdict(p->to, "%s", text);
    free(text);
}

/* ---- parts ---- */

/* The report's parts, and words for its templates: in the study's file, or in one that it names. */
static json_t *read_report(const study *s, tg_error *error)
{
    json_error_t wrong;
    char path[PATH_MAX];
    json_t *report = json_object_get(s->file, "report");
    if (!json_is_string(report))
        return json_incref(report);
    snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - NAME_MAX, s->library, json_string_value(report));
    report = json_load_file(path, 0, &wrong);
    if (!report)
        tg_fail(error, "%s:%d: %s", path, wrong.line, wrong.text);
    return report;
}

/* Rows of a file for a picture, by one or several rules. */
static bool write_rows(const void *context, FILE *to)
{
    study_part *p = (study_part *)context;
    const json_t *file = p->part, *rows = json_object_get(file, "rows"), *each;
    size_t i;
    fprintf(to, "%s\n", study_text(file, "columns"));
    p->file = to;
    json_array_foreach(rows, i, each) {
        p->part = each;
        study_put_rule(p, study_text(each, "rule"));
    }
    p->part = file;
    p->file = NULL;
    return true;
}

static void draw(study_part *p, study *s)
{
    const char *file = study_text(p->part, "picture"), *script = study_text(p->part, "script");
    tg_error error;
    sheet_picture(p->to, file, study_text(p->part, "says"));
    if (s->settings->no_plots || !sweep_is_whole(&s->settings->sweep) || p->broken)
        return;
    s->drawn = plots_run(script, s->folder, &error);
    if (s->drawn != PLOTS_DRAWN)
        terminal_say("study", NULL, error.text);
}

/* A part needs two complete seeds unless it says otherwise; one with "below" is for fewer than so many, and one
 * with "where" for studies whose file has this name. */
static void put_part(study_part *p, study *s, int seeds)
{
    const json_t *needs = json_object_get(p->part, "needs"), *below = json_object_get(p->part, "below");
    const char *heading = study_text(p->part, "heading"), *columns = study_text(p->part, "columns"),
               *rule = study_text(p->part, "rule"), *file = study_text(p->part, "file"),
               *where = study_text(p->part, "where");
    if (where && !json_object_get(s->file, where))
        return;
    if (below ? seeds >= json_integer_value(below) : seeds < (needs ? json_integer_value(needs) : 2))
        return;
    if (heading)
        sheet_heading(p->to, heading);
    if (!rule || heading)
        study_put(p, "text", study_general());
    if (file) {
        p->broken = p->broken || !files_write(s->folder, file, write_rows, p, &p->error);
        return;
    }
    if (columns) {
        char *headings = study_say(p, columns, NULL);
        sheet_table(p->to, (int)json_integer_value(json_object_get(p->part, "keys")), headings);
        free(headings);
    }
    if (rule)
        study_put_rule(p, rule);
    if (study_text(p->part, "picture"))
        draw(p, s);
}

/* The number of complete runs, and a note if this is the quick version. */
static void put_state(const study *s, sheet *to)
{
    if (s->settings->quick)
        sheet_text(to, "This is the quick version (--quick): synthetic data, small networks, few epochs. It shows that "
                       "the study works; its numbers are not those of the protocol.");
    if (s->all.count)
        sheet_text(to, "%d of %d run%s complete%s.", s->all.complete_count, s->all.count, plural(s->all.count),
                   s->all.complete_count < s->all.count ? "; the same command continues with the rest" : "");
}

bool study_report(study *s, tg_error *error)
{
    const char *title = study_text(s->file, "title");
    study_part p = {.of = s, .to = sheet_new(title ? title : s->name)};
    json_t *report = read_report(s, error), *part;
    const json_t *parts = json_is_array(report) ? report : json_object_get(report, "parts");
    const int seeds = study_read_tables(s);
    size_t i;
    p.report = report;
    put_state(s, p.to);
    json_array_foreach(parts, i, part) {
        p.part = part;
        put_part(&p, s, seeds);
    }
    bool fine = report && (!p.broken || tg_fail(error, "%s", p.error.text));
    if (fine && sweep_is_whole(&s->settings->sweep)) {
        sheet_print(p.to, stdout);
        fine = sheet_write(p.to, s->folder, s->command, s->drawn == PLOTS_DRAWN, error);
        if (fine)
            printf("in %s/: report.html, report.md%s\n", plain(s->folder),
                   s->all.count ? ", runs.csv, and a record of each run in runs/" : "");
    }
    json_decref(report);
    sheet_free(p.to);
    return fine;
}
