#include "examples/report/files.h"
#include "examples/run/progress_internal.h"
#include "examples/report/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double repaint_interval = 0.1; /* seconds */
static const double announce_interval = 2;  /* seconds between two plain lines of one job */
static const double settling = 0.02;        /* below this fraction of a job its speed is unknown */

typedef struct {
    bool running;
    double started, reported; /* seconds on jobs_clock */
    double announced;
    int tenths; /* last fraction of the job in plain lines */
    jobs_progress now;
} job_line;

struct progress {
    progress_config config;
    job_line *rows; /* [config.count] */
    int ended, name_width;
    double began, painted;
    progress_curve curve;
    int *widths; /* [lines] of the lines on the terminal */
    int lines;
};

progress *progress_new(const progress_config *config)
{
    progress *view = calloc(1, sizeof *view);
    size_t count = config->count > 0 ? (size_t)config->count : 1;
    job_line *rows = calloc(count, sizeof *rows);
    int *widths = calloc(count + 1 + PROGRESS_CURVE_LINES, sizeof *widths);
    if (!view || !rows || !widths || !config->out) {
        free(view), free(rows), free(widths);
        return NULL;
    }
    *view = (progress){.config = *config, .rows = rows, .widths = widths, .began = jobs_clock()};
    for (int i = 0; i < config->count; i++) {
        int width = terminal_width(config->names[i]);
        view->name_width = width > view->name_width ? width : view->name_width;
        rows[i].now = (jobs_progress){.loss = NAN, .accuracy = NAN};
    }
    return view;
}

/* ---- the live lines ----------------------------------------------------------------------------------------- */

static progress_style style_of(const progress *view, const terminal *screen)
{
    progress_style style = {.utf8 = screen->utf8,
                            .colour = screen->colour,
                            .columns = screen->columns - 1,
                            .name_width = view->name_width,
                            .unit = view->config.unit ? view->config.unit : ""};
    int epochs = 0;
    for (int i = 0; i < view->config.count; i++) {
        const job_line *row = &view->rows[i];
        if (!row->running)
            continue;
        epochs = row->now.epochs > epochs ? row->now.epochs : epochs;
        style.loss |= row->now.epochs > 0 || !isnan(row->now.loss); /* shows the column before the first loss */
        style.accuracy |= !isnan(row->now.accuracy);
        style.rate |= row->now.rate > 0;
    }
    for (; epochs > 0; epochs /= 10)
        style.epoch_digits++;
    return style;
}

/* Seconds until `fraction`, which was reached at `reported`, will be 1, at the average speed so far. */
static double time_left(double started, double reported, double fraction)
{
    if (!(fraction >= settling) || reported - started < 0.5)
        return NAN;
    double left = (reported - started) * (1 - fraction) / fraction - (jobs_clock() - reported);
    return left > 0 ? left : 0;
}

/* Moves to the first live line. If the window has become narrower, the lines take more rows. */
static void go_to_top(progress *view, FILE *to, const terminal *screen)
{
    int up = 0;
    for (int i = 0; i < view->lines; i++)
        up += view->widths[i] > screen->columns ? (view->widths[i] + screen->columns - 1) / screen->columns : 1;
    if (up > 0)
        fprintf(to, "\033[%dA", up < screen->rows ? up : screen->rows - 1);
    fputs("\r", to);
    view->lines = 0;
}

/* The number of columns of a line, without its colour codes. */
static int width_on_screen(const char *line)
{
    int width = terminal_width(line);
    for (const char *colour = strchr(line, '\033'); colour; colour = strchr(colour + 1, '\033'))
        width -= (int)strcspn(colour, "m") + 1;
    return width;
}

static void put_line(progress *view, FILE *to, const char *line)
{
    fprintf(to, "%s\033[K\n", line);
    view->widths[view->lines++] = width_on_screen(line);
}

static bool has_curve(const progress *view, const terminal *screen)
{
    return progress_curve_is_there(&view->curve) && screen->columns > PROGRESS_CURVE_WIDTH &&
           screen->rows > 2 * PROGRESS_CURVE_LINES;
}

static void write_live_lines(progress *view, FILE *to, const terminal *screen)
{
    const progress_style style = style_of(view, screen);
    int running = 0, room = screen->rows - 2;
    double fraction = view->ended;
    char *lines = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&lines, &size);
    if (!text)
        return;
    for (int i = 0; i < view->config.count; i++) {
        const job_line *row = &view->rows[i];
        fraction += row->running ? row->now.fraction : 0;
        if (!row->running || ++running > room)
            continue;
        progress_write_job(text, &style, view->config.names[i], &row->now,
                           time_left(row->started, row->reported, row->now.fraction));
        fputc('\n', text);
    }
    for (int i = 0; running > 0 && has_curve(view, screen) && i < PROGRESS_CURVE_LINES; i++) {
        progress_curve_write(&view->curve, i, style.utf8, text);
        fputc('\n', text);
    }
    if (running > 0 && view->config.count > 1) {
        fraction /= view->config.count;
        progress_write_total(text, &style, view->ended, view->config.count, fraction,
                             time_left(view->began, jobs_clock(), fraction));
        fputc('\n', text);
    }
    files_close_memory(text, &lines);
    for (char *line = lines, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        put_line(view, to, line);
    }
    free(lines);
}

/* Writes permanent lines. Erases the old rows one by one, as some terminals save a screen that is erased at once.
 */
static void write_lasting_lines(FILE *to, const char *lines)
{
    fputs("\033[?7h", to);
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        fprintf(to, "\033[K%.*s\033[K\n", (int)(end - lines), lines);
    fputs("\033[?7l", to);
}

/* Writes `above` (whole lines; NULL: nothing) in place of the live lines, and the live lines below it, in a single
 * write.
 */
static void repaint(progress *view, const char *above)
{
    terminal screen = terminal_of(view->config.out);
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);
    if (!to)
        return;
    fputs("\033[?25l\033[?7l", to); /* no cursor, no wrapping */
    go_to_top(view, to, &screen);
    if (above)
        write_lasting_lines(to, above);
    write_live_lines(view, to, &screen);
    fputs("\033[J\033[?7h\033[?25h", to);
    view->painted = jobs_clock();
    if (files_close_memory(to, &bytes)) {
        fwrite(bytes, 1, size, view->config.out);
        fflush(view->config.out);
    }
    free(bytes);
}

static void print_lines(progress *view, const char *lines)
{
    if (terminal_of(view->config.out).live) {
        repaint(view, lines);
    } else {
        fputs(lines, view->config.out);
        fflush(view->config.out);
    }
}

void progress_tick(progress *view)
{
    if (view && jobs_clock() - view->painted >= 0.9 * repaint_interval && terminal_of(view->config.out).live)
        repaint(view, NULL);
}

void progress_free(progress *view)
{
    if (!view)
        return;
    for (int i = 0; i < view->config.count; i++)
        view->rows[i].running = false;
    if (view->lines > 0)
        repaint(view, NULL);
    free(view->rows);
    free(view->widths);
    free(view);
}

void progress_point(progress *view, double loss)
{
    if (view)
        progress_curve_add(&view->curve, loss);
}

/* ---- plain lines -------------------------------------------------------------------------------------------- */

static void announce(const progress *view, int job)
{
    const job_line *row = &view->rows[job];
    FILE *out = view->config.out;
    char text[32];
    fprintf(out, "%s: %d %%", view->config.names[job], (int)(100 * row->now.fraction));
    if (row->now.epochs)
        fprintf(out, ", epoch %d/%d", row->now.epoch, row->now.epochs);
    if (!isnan(row->now.loss))
        fprintf(out, ", loss %s", progress_loss(row->now.loss, text));
    if (!isnan(row->now.accuracy))
        fprintf(out, ", accuracy %s", progress_accuracy(row->now.accuracy, text));
    if (row->now.rate > 0)
        fprintf(out, ", %s %s/s", progress_amount(row->now.rate, text), view->config.unit ? view->config.unit : "");
    fprintf(out, ", %s left\n", progress_duration(time_left(row->started, row->reported, row->now.fraction), text));
    fflush(out);
}

static void announce_when_due(progress *view, int job)
{
    job_line *row = &view->rows[job];
    int tenths = (int)(10 * row->now.fraction + 1e-9);
    if (tenths <= row->tenths || tenths >= 10 || row->reported - row->announced < announce_interval)
        return;
    row->tenths = tenths;
    row->announced = row->reported;
    announce(view, job);
}

/* ---- events ------------------------------------------------------------------------------------------------- */

static job_line *row_of(const progress *view, int job)
{
    return view && job >= 0 && job < view->config.count ? &view->rows[job] : NULL;
}

void progress_start(progress *view, int job)
{
    job_line *row = row_of(view, job);
    if (!row)
        return;
    row->running = true;
    row->started = row->reported = row->announced = jobs_clock();
    progress_tick(view);
}

void progress_update(progress *view, int job, const jobs_progress *now)
{
    job_line *row = row_of(view, job);
    if (!row)
        return;
    row->now = *now;
    row->reported = jobs_clock();
    if (terminal_of(view->config.out).live)
        progress_tick(view);
    else
        announce_when_due(view, job);
}

/* "✓ relu seed 1  20 epochs  loss 0.0712 ..." on a terminal, "relu seed 1: done, 20 epochs, ..." elsewhere. */
static void write_end(const progress *view, FILE *to, int job, jobs_state state, const char *message)
{
    static const char *const marks[] = {"✓", "✗", "–", "✓"}, *const ascii_marks[] = {"+", "x", "-", "+"};
    static const char *const colours[] = {"\033[32m", "\033[31m", "\033[33m", "\033[90m"};
    static const char *const words[] = {"done", "failed", "stopped", "by another process"};
    const job_line *row = &view->rows[job];
    terminal screen = terminal_of(view->config.out);
    const char *name = view->config.names[job];
    if (screen.live)
        fprintf(to, "%s%s%s %s%*s", screen.colour ? colours[state] : "", (screen.utf8 ? marks : ascii_marks)[state],
                screen.colour ? "\033[0m" : "", name, view->name_width - terminal_width(name), "");
    else
        fprintf(to, "%s: %s", name, words[state]);
    const char *joint = screen.live ? "  " : ", ";
    if (state == JOBS_DONE)
        progress_write_result(to, &row->now, view->config.measured, jobs_clock() - row->started, joint,
                              screen.live ? screen.columns - 1 - 2 - view->name_width : 1000);
    else if (state != JOBS_FAILED && screen.live)
        fprintf(to, "%s%s", joint, words[state]);
    else if (state == JOBS_FAILED)
        fprintf(to, "%s%s", screen.live ? "  " : ": ", message ? message : "failed");
    if (state == JOBS_STOPPED && row->now.epochs)
        fprintf(to, " in epoch %d of %d", row->now.epoch, row->now.epochs);
    if (!screen.live && view->config.count > 1)
        fprintf(to, " (%d of %d)", view->ended, view->config.count);
    fputc('\n', to);
}

void progress_end(progress *view, int job, jobs_state state, const char *message)
{
    job_line *row = row_of(view, job);
    char *lines = NULL;
    size_t size = 0;
    FILE *to = row ? open_memstream(&lines, &size) : NULL;
    if (!to)
        return;
    row->running = false;
    view->ended++;
    write_end(view, to, job, state, message);
    if (files_close_memory(to, &lines))
        print_lines(view, lines);
    free(lines);
}
