/* The report of a study: the parts that its file names, one after the other, and their templates, which are texts with
 * numbers in them. A part with a rule has a row, or a sentence, for each of what the rule goes over. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/study/study.h"

/* ---- templates ---- */

double study_refuse(study_part *p, const char *what, const char *why)
{
    p->broken = p->broken || !tg_fail(&p->error, "%s: '%.300s': %s", p->of->name, what, why);
    return NAN;
}

void study_set(json_t *values, const char *name, double number)
{
    json_object_set_new(values, name, isfinite(number) ? json_real(number) : json_null());
}

/* The template of a name: a value, or a word of the study or the report, or a text of the study. */
static const char *template_of(const study_part *p, const char *name, const json_t *values)
{
    const json_t *const in[] = {values, json_object_get(p->of->file, "words"), json_object_get(p->report, "words"),
                                p->of->file};
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof in / sizeof *in; i++)
        found = study_text(in[i], name);
    return found;
}

/* A number in a format, as .3f, or in one that a value of this name has. */
static void say_number(const study_part *p, FILE *to, double number, const char *format, const json_t *values)
{
    const char *named = template_of(p, format, values),
               *none = study_text(json_object_get(p->of->file, "words"), "none");
    char all[16] = "%g";
    format = named ? named : format;
    const size_t length = strspn(format, "+.0123456789");
    if (*format && length < 8 && strchr("gef", format[length]) && !format[length + 1])
        snprintf(all, sizeof all, "%%%s", format);
    if (p->exact)
        fprintf(to, "(%.17g)", number);
    else if (isnan(number) && none)
        fputs(none, to);
    else
        fprintf(to, all, number);
}

/* {name} or {name:.3f}, which is a number, or a formula in place of the name. */
static void say_one(study_part *p, FILE *to, const char *name, const char *format, const json_t *values)
{
    const bool number = *format || p->exact || json_is_number(json_object_get(values, name));
    const char *template = number ? NULL : template_of(p, name, values);
    if (!template) {
        say_number(p, to, study_number(p, name, values), format, values);
        return;
    }
    char *text = study_say(p, template, values);
    fputs(text, to);
    free(text);
}

char *study_say(study_part *p, const char *template, const json_t *values)
{
    char *text, name[200], *format;
    size_t size;
    FILE *to = memory_checked(system_open_memory(&text, &size));
    if (++p->depth > STUDY_DEEPEST)
        study_refuse(p, template, "a word contains itself");
    for (const char *at = template && p->depth <= STUDY_DEEPEST ? template : ""; *at; at++) {
        const size_t length = strcspn(at, "}");
        if (*at != '{' || at[1] == '{' || length >= sizeof name) {
            fputc(*at, to);
            at += *at == '{' && at[1] == '{'; /* {{ is a brace */
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

void study_put(study_part *p, const char *name, const json_t *values)
{
    const char *template = study_text(p->part, name);
    char *text = template ? study_say(p, template, values) : NULL;
    if (text && p->file)
        fprintf(p->file, "%s\n", text);
    else if (text && strcmp(name, "row") == 0 && !json_object_get(p->part, "columns"))
        study_refuse(p, text, "a row needs columns");
    else if (text && strcmp(name, "row") == 0)
        sheet_row(p->to, "%s", text);
    else if (text && strcmp(name, "say") == 0)
        sheet_verdict(p->to, "%s", text);
    else if (text)
        sheet_text(p->to, "%s", text);
    free(text);
}

/* ---- parts ---- */

/* Rows of a file for a picture, by one or several rules. */
static bool write_rows(const void *context, FILE *to)
{
    study_part *p = (study_part *)context;
    const json_t *file = p->part, *each;
    size_t i;
    fprintf(to, "%s\n", study_text(file, "columns"));
    p->file = to;
    json_array_foreach(json_object_get(file, "rows"), i, each) {
        p->part = each;
        study_put_rule(p);
    }
    p->part = file;
    p->file = NULL;
    return true;
}

static void draw(study_part *p, study *s)
{
    tg_error error;
    sheet_picture(p->to, study_text(p->part, "picture"), study_text(p->part, "says"));
    if (s->settings->no_plots || !sweep_is_whole(&s->settings->sweep) || p->broken)
        return;
    s->drawn = plots_run(study_text(p->part, "script"), s->folder, &error);
    if (s->drawn != PLOTS_DRAWN)
        terminal_say("study", NULL, error.text);
}

/* A part needs two complete seeds unless it says otherwise; one with "below" is for fewer than so many, and one
 * with "where" for studies whose file has this name. */
static bool is_wanted(const study_part *p, int seeds)
{
    const json_t *needs = json_object_get(p->part, "needs"), *below = json_object_get(p->part, "below");
    const char *where = study_text(p->part, "where");
    return (!where || json_object_get(p->of->file, where)) &&
           (below ? seeds < json_integer_value(below) : seeds >= (needs ? json_integer_value(needs) : 2));
}

static void put_part(study_part *p, study *s)
{
    const char *heading = study_text(p->part, "heading"), *columns = study_text(p->part, "columns"),
               *file = study_text(p->part, "file");
    if (heading)
        sheet_heading(p->to, heading);
    study_put(p, "text", NULL);
    if (file)
        p->broken = p->broken || !files_write(s->folder, file, write_rows, p, &p->error);
    else if (columns) {
        char *headings = study_say(p, columns, NULL);
        sheet_table(p->to, (int)json_integer_value(json_object_get(p->part, "keys")), headings);
        free(headings);
    }
    if (json_object_get(p->part, "rule"))
        study_put_rule(p);
    if (json_object_get(p->part, "picture"))
        draw(p, s);
}

/* The report's parts, and words for its templates: in the study's file, or in one that it names. */
static json_t *read_report(const study *s, tg_error *error)
{
    json_error_t wrong;
    json_t *report = json_object_get(s->file, "report");
    if (!json_is_string(report))
        return json_incref(report);
    char *path = memory_text("%s/%s", s->reports, json_string_value(report));
    report = json_load_file(path, 0, &wrong);
    if (!report)
        tg_fail(error, "%s:%d: %s", path, wrong.line, wrong.text);
    free(path);
    return report;
}

bool study_report(study *s, tg_error *error)
{
    const char *title = study_text(s->file, "title");
    json_t *report = read_report(s, error), *part;
    study_part p = {.of = s, .report = report, .to = sheet_new(title ? title : s->name)};
    const int seeds = study_read_tables(s);
    size_t i;
    if (s->settings->quick)
        sheet_text(p.to,
                   "This is the quick version (--quick): synthetic data, small networks, few epochs. It shows that "
                   "the study works; its numbers are not those of the protocol.");
    if (s->all.count)
        sheet_text(p.to, "%d of %d run%s complete%s.", s->all.complete_count, s->all.count, plural(s->all.count),
                   s->all.complete_count < s->all.count ? "; the same command continues with the rest" : "");
    json_array_foreach(json_is_array(report) ? report : json_object_get(report, "parts"), i, part) {
        p.part = part;
        if (is_wanted(&p, seeds))
            put_part(&p, s);
    }
    bool fine = report && (!p.broken || tg_fail(error, "%s", p.error.text));
    if (fine && sweep_is_whole(&s->settings->sweep)) {
        sheet_print(p.to, stdout);
        fine = sheet_write(p.to, s->folder, s->settings->command, s->drawn == PLOTS_DRAWN, error);
        if (fine)
            printf("in %s/: report.html, report.md%s\n", plain(s->folder),
                   s->all.count ? ", runs.csv, and a record of each run in runs/" : "");
    }
    json_decref(report);
    sheet_free(p.to);
    return fine;
}
