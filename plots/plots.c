#include "plots/plots.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/system/child.h"
#include "examples/programs/system/posix.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- commands for gnuplot ---- */

/* Appends name='text'; to a command of gnuplot, in whose quotes a quote is written twice. */
static void set_text(FILE *command, const char *name, const char *text)
{
    fprintf(command, "%s='", name);
    for (text = plain(text); *text; text++)
        fprintf(command, *text == '\'' ? "''" : "%c", *text);
    fputs("'; ", command);
}

/* Sets a path so that gnuplot cannot take it for a command ("|touch x", "< touch x"), a user's home ("~x") or a data
 * block ("$x"). */
static void set_path(FILE *command, const char *name, const char *path)
{
    fprintf(command, "%s='%s", name, *path == '/' ? "" : "./");
    for (; *path; path++)
        fprintf(command, *path == '\'' ? "''" : *path == '\n' ? "'.\"\\n\".'" : "%c", *path);
    fputs("'; ", command);
}

/* Passes the look to the scripts. Class names are class_1, class_2, ... */
static void set_look(FILE *command, const plots_look *look)
{
    set_text(command, "title", look->title ? look->title : "");
    if (look->averaged)
        set_text(command, "averaged", look->averaged);
    if (look->searched)
        set_text(command, "searched", look->searched);
    if (look->searched && look->searched_words)
        set_text(command, "searched_words", look->searched_words);
    if (look->searched && look->searched_rates && look->searched_rates[0])
        set_text(command, "searched_rates", look->searched_rates);
    for (size_t i = 0; i < look->classes && i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "class_%zu", i + 1);
        set_text(command, name, look->class_names[i]);
    }
    if (look->feature_names) {
        set_text(command, "x_name", look->feature_names[0]);
        set_text(command, "y_name", look->feature_names[1]);
    }
}

/* ---- running gnuplot ---- */

enum { LINE = 512 };

__attribute__((format(printf, 3, 4))) static plots_outcome refuse(tg_error *error, plots_outcome outcome,
                                                                  const char *format, ...)
{
    char why[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    tg_fail(error, "no pictures are drawn: %s", why);
    return outcome;
}

/* The last line of a file that is not empty, as gnuplot ends its messages with the cause. */
static void last_line(FILE *from, char line[LINE])
{
    char text[LINE];
    line[0] = '\0';
    rewind(from);
    while (fgets(text, sizeof text, from)) {
        text[strcspn(text, "\n")] = '\0';
        if (text[strspn(text, " \t^")])
            strcpy(line, text + strspn(text, " \t"));
    }
}

/* The time limit for gnuplot. */
static double patience(void)
{
    const char *said = getenv("TG_GNUPLOT_SECONDS");
    const double seconds = said ? strtod(said, NULL) : 0;
    return seconds > 0 ? seconds : 300;
}

/* Waits until gnuplot ends, and ends it after a signal. After `seconds`, kills it and returns false. */
static bool wait_for_gnuplot(child *gnuplot, double seconds)
{
    for (double waited = 0; waited < seconds; waited += 5e-3) {
        if (child_has_ended(gnuplot))
            return true;
        if (signals_caught())
            child_stop(gnuplot, false);
        system_sleep(5e-3);
    }
    child_stop(gnuplot, true);
    while (!child_has_ended(gnuplot))
        system_sleep(5e-3);
    return false;
}

/* Runs a script behind a command; what it prints goes to `output`. */
static plots_outcome run_script(const char *script, char *command, FILE *output, tg_error *error)
{
    char folder[PATH_MAX], path[PATH_MAX + 64], reason[LINE];
    signals_before before;
    char name[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    char *const words[] = {name, defaults, execute, command, path, NULL};
    child gnuplot;
    if (!shared_find("plots", "style.gp", folder))
        return refuse(error, PLOTS_NOTHING, "cannot find the folder plots with gnuplot's scripts");
    FILE *errors = tmpfile();
    if (!errors)
        return refuse(error, PLOTS_FAILED, "%s", strerror(errno));
    snprintf(path, sizeof path, "%s/%s", folder, script);
    signals_catch(&before);
    const bool started = child_start_program(&gnuplot, words, output, errors);
    const int failure = errno;
    const bool ended = !started || wait_for_gnuplot(&gnuplot, patience());
    const bool interrupted = signals_caught() || gnuplot.status == -SIGINT;
    signals_release(&before);
    last_line(errors, reason);
    fclose(errors);
    if (interrupted)
        return refuse(error, PLOTS_INTERRUPTED, "interrupted");
    if (!started)
        return refuse(error, PLOTS_NOTHING, "cannot run gnuplot: %s%s", strerror(failure),
                      failure == ENOENT ? " (Debian's package is gnuplot-nox)" : "");
    if (!ended)
        return refuse(error, PLOTS_FAILED, "gnuplot was ended after %g seconds (TG_GNUPLOT_SECONDS gives it more)",
                      patience());
    if (gnuplot.status != 0)
        return refuse(error, PLOTS_FAILED, "gnuplot failed: %.300s", reason[0] ? reason : "it was stopped");
    return PLOTS_DRAWN;
}

/* Reads the bands. PLOTS_DRAWN if there is something to draw, a second line; whether they have an accuracy, their last
 * three columns. */
static plots_outcome read_bands(const char *directory, bool *accuracy, tg_error *error)
{
    char line[1024] = "";
    int rows = 0;
    tg_error unread;
    FILE *bands = files_read(directory, "bands.csv", &unread);
    for (*accuracy = false; bands && fgets(line, sizeof line, bands); rows++)
        *accuracy = *accuracy || (rows > 0 && !strstr(line, ",,,\n"));
    if (!bands && !unread.text[0])
        return refuse(error, PLOTS_NOTHING, "there is no '%.300s/bands.csv'", directory);
    if (!bands || !files_end_reading(bands, directory, "bands.csv", &unread))
        return refuse(error, PLOTS_FAILED, "%s", unread.text);
    return rows < 2 ? refuse(error, PLOTS_NOTHING, "no epoch was finished") : PLOTS_DRAWN;
}

/* ---- pictures ---- */

typedef struct drawing {
    const char *directory;
    char unfinished[PATH_MAX]; /* a folder in it, into which is drawn */
    const plots_look *look;
    const char *into; /* the folder of the finished pictures */
    bool paper;
} drawing;

static void write_settings(const void *context, FILE *to)
{
    const drawing *d = context;
    set_path(to, "dir", d->directory);
    set_path(to, "out", d->unfinished);
    fprintf(to, "steps_there=%d; ", shared_is_file(d->directory, "step_bands.csv"));
    fputs(d->paper ? "formats='pdf'; " : "", to);
    set_look(to, d->look);
}

/* True if a picture has the end of its file format: gnuplot does not report a full disk. */
static bool is_whole(const drawing *d, const char *name)
{
    char end[33] = "";
    tg_error unread;
    const char *mark = strstr(name, ".svg") ? "</svg>" : strstr(name, ".pdf") ? "%%EOF" : "IEND";
    FILE *file = files_read(d->unfinished, name, &unread);
    const bool read =
        file && fseek(file, -(long)(sizeof end - 1), SEEK_END) == 0 && fread(end, sizeof end - 1, 1, file) == 1;
    if (file)
        fclose(file);
    return read && memmem(end, sizeof end - 1, mark, strlen(mark));
}

/* Blanks the date of a PDF, which need not have one: the same results draw the same bytes. */
static void remove_date(const drawing *d, const char *name)
{
    static const char date[] = "/CreationDate (";
    char path[PATH_MAX], end[8192];
    FILE *file = strstr(name, ".pdf") && files_path(d->unfinished, name, path) ? fopen(path, "r+b") : NULL;
    if (!file)
        return;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file), from = size > (long)sizeof end ? size - (long)sizeof end : 0;
    fseek(file, from, SEEK_SET);
    const size_t read = fread(end, 1, sizeof end, file);
    const char *at = memmem(end, read, date, strlen(date)),
               *close = at ? memchr(at, ')', read - (size_t)(at - end)) : NULL;
    if (close) {
        fseek(file, from + (long)(at - end), SEEK_SET);
        fprintf(file, "%*s", (int)(close + 1 - at), "");
    }
    fclose(file);
}

static bool move(const drawing *d, const char *name)
{
    char from[PATH_MAX], to[PATH_MAX];
    return snprintf(from, sizeof from, "%s/%s", d->unfinished, name) < (int)sizeof from &&
           snprintf(to, sizeof to, "%s/%s", d->into, name) < (int)sizeof to && rename(from, to) == 0;
}

static int is_picture(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Replaces the old pictures by the new ones, if all of these are complete. */
static plots_outcome move_pictures(const drawing *d, tg_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(d->unfinished, &entries, is_picture, alphasort);
    plots_outcome outcome = PLOTS_DRAWN;
    for (int i = 0; i < count; i++)
        remove_date(d, entries[i]->d_name);
    for (int i = 0; i < count && outcome == PLOTS_DRAWN; i++)
        if (!is_whole(d, entries[i]->d_name))
            outcome = refuse(error, PLOTS_FAILED, "cannot write all of '%.300s/%.60s': is the disk full?", d->directory,
                             entries[i]->d_name);
    for (int i = 0; i < count && outcome == PLOTS_DRAWN; i++)
        if (!move(d, entries[i]->d_name)) {
            tg_fail(error, "cannot write '%.300s/%.60s': %s", d->into, entries[i]->d_name, strerror(errno));
            outcome = PLOTS_FAILED;
        }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return outcome;
}

/* Runs scripts, ended by NULL, that draw into a folder of their own, and moves their pictures here. */
static plots_outcome draw(const char *const scripts[], const char *directory, const char *into, const plots_look *look,
                          tg_error *error)
{
    drawing d = {.directory = directory, .look = look, .into = into, .paper = into != directory};
    files_remove_left(directory, ".pictures.", files_machine());
    snprintf(d.unfinished, sizeof d.unfinished, "%s/.pictures.%ld%s", directory, (long)getpid(), files_machine());
    files_remove_all(d.unfinished); /* of a killed process with our number */
    FILE *output = tmpfile();
    plots_outcome outcome = PLOTS_DRAWN;
    if (!output || mkdir(d.unfinished, 0700) != 0)
        outcome = refuse(error, PLOTS_FAILED, "cannot write into '%.300s': %s", directory, strerror(errno));
    char *settings = files_text(write_settings, &d);
    for (int i = 0; scripts[i] && outcome == PLOTS_DRAWN; i++)
        outcome = run_script(scripts[i], settings, output, error);
    if (outcome == PLOTS_DRAWN)
        outcome = move_pictures(&d, error);
    files_remove_all(d.unfinished);
    if (output)
        fclose(output);
    free(settings);
    return outcome;
}

plots_outcome plots_run(const char *script, const char *directory, tg_error *error)
{
    return draw((const char *const[]){script, NULL}, directory, directory, &(plots_look){0}, error);
}

/* The scripts of a comparison's pictures: loss.gp draws loss.png and loss.svg. */
static const struct picture {
    const char *script, *data; /* data: the file that it needs, besides bands.csv */
} pictures[] = {{"loss.gp"},
                {"steps.gp", "step_bands.csv"},
                {"accuracy.gp"},
                {"noise.gp", "noise.csv"},
                {"boundary.gp", "surface.csv"},
                {"search.gp"}};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

static bool is_drawn(const struct picture *p, const char *directory, const plots_look *look, bool accuracy)
{
    return p->data                                 ? shared_is_file(directory, p->data)
           : strcmp(p->script, "accuracy.gp") == 0 ? accuracy
           : strcmp(p->script, "search.gp") == 0   ? look->searched != NULL
                                                   : true;
}

static const char *const endings[] = {"png", "svg", "pdf"};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static void name_picture(const struct picture *p, int ending, char name[PLOTS_NAME])
{
    snprintf(name, PLOTS_NAME, "%.*s%s", (int)strlen(p->script) - 2, p->script, endings[ending]);
}

/* Removes pictures that earlier results have left. */
static void remove_picture(const char *directory, const struct picture *p)
{
    char name[PLOTS_NAME];
    for (int i = 0; i < ENDINGS; i++) {
        name_picture(p, i, name);
        files_remove(directory, name);
    }
}

void plots_remove(const char *directory)
{
    for (const struct picture *p = pictures; p < pictures + PICTURES; p++)
        remove_picture(directory, p);
}

bool plots_find(const char *directory, char name[PLOTS_NAME])
{
    for (const struct picture *p = pictures; p < pictures + PICTURES; p++)
        for (int i = 0; i < ENDINGS; i++) {
            name_picture(p, i, name);
            if (shared_is_file(directory, name))
                return true;
        }
    return false;
}

void plots_list(const char *directory, FILE *out)
{
    bool any = false;
    for (const struct picture *p = pictures; p < pictures + PICTURES; p++) {
        char name[PLOTS_NAME];
        name_picture(p, 0, name);
        if (!shared_is_file(directory, name))
            continue;
        fprintf(out, "%s%.*s", any ? ", " : "", (int)strlen(p->script) - 3, p->script);
        any = true;
    }
    fputs(any ? ", as .png and .svg" : "", out);
}

plots_outcome plots_draw(const char *directory, const plots_look *look, tg_error *error)
{
    const char *scripts[PICTURES + 1] = {NULL};
    int count = 0;
    bool accuracy;
    plots_outcome outcome = read_bands(directory, &accuracy, error);
    const bool any = outcome == PLOTS_DRAWN;
    for (const struct picture *p = pictures; any && p < pictures + PICTURES; p++)
        if (is_drawn(p, directory, look, accuracy))
            scripts[count++] = p->script;
    outcome = any ? draw(scripts, directory, directory, look, error) : outcome;
    const bool others_are_old =
        any ? outcome == PLOTS_DRAWN : outcome == PLOTS_NOTHING && shared_is_file(directory, "bands.csv");
    for (const struct picture *p = pictures; others_are_old && p < pictures + PICTURES; p++)
        if (!any || !is_drawn(p, directory, look, accuracy))
            remove_picture(directory, p);
    return outcome;
}

plots_outcome plots_paper(const char *script, const char *directory, const char *into, const plots_look *look,
                          tg_error *error)
{
    const char *scripts[PICTURES + 2] = {script};
    int count = 1;
    tg_error none;
    bool accuracy;
    const bool any = read_bands(directory, &accuracy, &none) == PLOTS_DRAWN;
    for (const struct picture *p = pictures; any && p < pictures + PICTURES; p++)
        if (is_drawn(p, directory, look, accuracy))
            scripts[count++] = p->script;
    return draw(scripts, directory, into, look, error);
}

/* ---- the terminal ---- */

/* Copies lines without trailing blanks, and without the form feeds that gnuplot puts between pictures. */
static void copy_lines(FILE *from, FILE *to)
{
    char line[8192];
    bool empty = true; /* the previous line: of several empty lines, one is kept */
    rewind(from);
    while (fgets(line, sizeof line, from)) {
        size_t length = 0;
        for (const char *letter = line; *letter; letter++)
            if (*letter != '\f')
                line[length++] = *letter;
        while (length > 0 && strchr(" \n", line[length - 1]))
            length--;
        if (length > 0 || !empty)
            fprintf(to, "%.*s\n", (int)length, line);
        empty = length == 0;
    }
}

typedef struct showing {
    const char *directory;
    terminal screen;
} showing;

static void write_screen(const void *context, FILE *to)
{
    const showing *s = context;
    const int half = s->screen.rows / 2, rows = !s->screen.live || half > 20 ? 20 : half < 14 ? 14 : half;
    set_path(to, "dir", s->directory);
    fputs(shared_is_file(s->directory, "search.csv") ? "searched=''; " : "", to); /* the legend has the points */
    fprintf(to, "columns=%d; rows=%d; colour=%d", s->screen.columns < 120 ? s->screen.columns - 1 : 119, rows,
            s->screen.colour);
}

bool plots_show(const char *directory, FILE *out)
{
    tg_error error;
    bool accuracy;
    FILE *output = read_bands(directory, &accuracy, &error) == PLOTS_DRAWN ? tmpfile() : NULL;
    if (!output)
        return false;
    char *settings = files_text(write_screen, &(showing){directory, terminal_of(out)});
    const bool drawn = run_script("terminal.gp", settings, output, &error) == PLOTS_DRAWN;
    if (drawn)
        copy_lines(output, out);
    fclose(output);
    free(settings);
    return drawn;
}
