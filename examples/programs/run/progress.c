#include "examples/programs/run/progress.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/system/posix.h"

static const double repaint_interval = 0.1; /* seconds */
static const double announce_interval = 2;  /* seconds between two plain lines of one job */
static const double settling = 0.02;        /* below this fraction of a job its speed is unknown */

enum { CURVE_LINES = 6, CURVE_COLUMNS = 56, CURVE_WIDTH = CURVE_COLUMNS + 9 };

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
    char *live; /* the lines on the terminal */

    /* A curve that grows to the right: sum and number of the points in each column. */
    int columns;
    long width; /* points of a column; twice as many whenever all columns are full */
    double sum[CURVE_COLUMNS];
    long count[CURVE_COLUMNS];
};

progress *progress_new(const progress_config *config)
{
    progress *view = config->out ? calloc(1, sizeof *view) : NULL;
    job_line *rows = view ? calloc((size_t)config->count + 1, sizeof *rows) : NULL;
    if (!rows) {
        free(view);
        return NULL;
    }
    *view = (progress){.config = *config, .rows = rows, .began = jobs_clock(), .width = 1};
    view->config.unit = config->unit ? config->unit : "";
    for (int i = 0; i < config->count; i++) {
        const int width = (int)strlen(config->names[i]);
        view->name_width = width > view->name_width ? width : view->name_width;
        rows[i].now = (jobs_progress){.loss = NAN, .accuracy = NAN};
    }
    return view;
}

/* Seconds until `fraction`, which was reached at `reported`, will be 1, at the average speed so far. */
static double time_left(double started, double reported, double fraction)
{
    if (!(fraction >= settling) || reported - started < 0.5)
        return NAN;
    double left = (reported - started) * (1 - fraction) / fraction - (jobs_clock() - reported);
    return left > 0 ? left : 0;
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

typedef enum { PERCENT, EPOCH, LOSS, ACCURACY, RATE, LEFT, COLUMNS } column;

const char *progress_duration(double seconds, char text[32])
{
    if (!(seconds >= 0 && seconds < 1e8))
        return strcpy(text, "-:--");
    const int whole = (int)lround(seconds), minutes = whole / 60, hours = minutes / 60;
    if (hours >= 2400)
        snprintf(text, 32, "%dd", hours / 24);
    else if (hours >= 100)
        snprintf(text, 32, "%dd%02dh", hours / 24, hours % 24);
    else if (hours >= 1)
        snprintf(text, 32, "%dh%02dm", hours, minutes % 60);
    else
        snprintf(text, 32, "%d:%02d", minutes, whole % 60);
    return text;
}

/* "950", "61.2k" or "1.23M", at most 5 characters below 1e18. */
static void put_amount(double amount, char text[32])
{
    static const char suffixes[] = " kMGTP";
    int power = 0;
    while (amount >= 999.5 && suffixes[power + 1])
        amount /= 1000, power++;
    const int decimals = power == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
    snprintf(text, 32, "%.*f%.*s", decimals, amount, power > 0, suffixes + power);
}

/* As many decimals as fit into 6 characters. */
static void put_loss(double loss, char text[32])
{
    for (int decimals = 4; decimals >= 0 && fabs(loss) < 1e6; decimals--)
        if (snprintf(text, 32, "%.*f", decimals, loss) <= 6)
            return;
    snprintf(text, 32, "%.0e", loss);
}

/* The number of a column, never wider than the column; "-" if the job has none. */
static const char *number_of(const jobs_progress *now, double left, column which, char text[32])
{
    strcpy(text, "-");
    if (which == PERCENT)
        snprintf(text, 32, "%d %%", (int)(100 * (now->fraction < 1 ? now->fraction : 1)));
    else if (which == EPOCH && now->epochs > 0)
        snprintf(text, 32, "%d/%d", now->epoch, now->epochs);
    else if (which == LOSS && !isnan(now->loss))
        put_loss(now->loss, text);
    else if (which == ACCURACY && !isnan(now->accuracy))
        snprintf(text, 32, "%.*f %%", now->accuracy >= 0.99995 ? 1 : 2, 100 * now->accuracy);
    else if (which == RATE && now->rate > 0)
        put_amount(now->rate, text);
    else if (which == LEFT)
        progress_duration(left, text);
    return text;
}

static bool is_known(const char *number)
{
    return strcmp(number, "-") != 0;
}

/* A number, right-aligned, with the words around it where there is room for them. */
static const char *cell(const progress *view, column which, const char *number, int width, bool worded, char text[128])
{
    static const char *const before[COLUMNS] = {"", "epoch ", "loss ", "accuracy ", "", ""};
    snprintf(text, 128, "%s%*s%s%.50s%s", worded ? before[which] : "", width, number,
             which == RATE && worded ? " " : "", which == RATE && worded ? view->config.unit : "",
             which == RATE             ? "/s"
             : which == LEFT && worded ? " left"
                                       : "");
    return text;
}

/* ---- live lines --------------------------------------------------------------------------------------------- */

enum { GAP = 2, BAR_MOST = 40 };
#define BIT(column) (1 << (column))
enum { ALL = BIT(COLUMNS) - 1 };

/* From the widest to the narrowest; the first that leaves room for a bar of `bar` is used. */
static const struct {
    int shown, worded, bar;
} layouts[] = {
    {ALL, ALL, 16},
    {ALL, BIT(LOSS), 10},
    {ALL & ~BIT(RATE), BIT(LOSS), 8},
    {ALL & ~BIT(RATE), 0, 8},
    {BIT(PERCENT) | BIT(LOSS) | BIT(ACCURACY) | BIT(LEFT), 0, 8},
    {BIT(PERCENT) | BIT(LOSS) | BIT(LEFT), 0, 6},
    {BIT(LOSS) | BIT(LEFT), 0, 4},
    {BIT(LEFT), 0, 4},
    {0, 0, 0},
};

/* The common layout of the lines of one repaint, so that their columns are aligned. */
typedef struct {
    terminal screen;
    int name, bar;      /* widths */
    int width[COLUMNS]; /* of the numbers; 0: not shown */
    int worded;         /* bits of the columns with words */
} layout;

/* Sets the widths of the columns that any running job has. */
static void measure_columns(const progress *view, int width[COLUMNS])
{
    static const int usual[COLUMNS] = {[PERCENT] = 5, [LOSS] = 6, [ACCURACY] = 7, [RATE] = 5, [LEFT] = 6};
    char text[32];
    int epochs = 0;
    for (int i = 0; i < view->config.count; i++)
        for (column c = 0; view->rows[i].running && c < COLUMNS; c++)
            if (is_known(number_of(&view->rows[i].now, 0, c, text))) {
                epochs = view->rows[i].now.epochs > epochs ? view->rows[i].now.epochs : epochs;
                width[c] = usual[c];
            }
    if (epochs > 0) {
        width[EPOCH] = 1 + 2 * snprintf(NULL, 0, "%d", epochs);
        width[LOSS] = usual[LOSS]; /* also before the first loss */
    }
}

/* The width of a column with its words and the gap before it. */
static int column_width(const progress *view, const layout *l, column which)
{
    char text[128];
    const int width = l->width[which];
    return width ? GAP + (int)strlen(cell(view, which, "", width, l->worded & BIT(which), text)) : 0;
}

static layout choose_layout(const progress *view)
{
    layout l = {.screen = terminal_of(view->config.out)};
    int width[COLUMNS] = {0};
    const int columns = l.screen.columns - 1;
    l.name = view->name_width < columns / 2 ? view->name_width : columns / 2;
    measure_columns(view, width);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        l.worded = layouts[i].worded;
        l.bar = columns - l.name - 1;
        for (int c = 0; c < COLUMNS; c++) {
            l.width[c] = layouts[i].shown & BIT(c) ? width[c] : 0;
            l.bar -= column_width(view, &l, (column)c);
        }
        if (l.bar >= layouts[i].bar)
            break;
    }
    l.bar = l.bar < BAR_MOST ? l.bar : BAR_MOST;
    return l;
}

static void repeat(FILE *to, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        fputs(text, to);
}

static void write_bar(FILE *to, const terminal *screen, double fraction, int width)
{
    static const char dim[] = "\033[90m", filled[] = "\033[36m", plain[] = "\033[0m";
    const bool utf8 = screen->utf8, colour = utf8 && screen->colour;
    const double part = fraction > 0 ? fraction < 1 ? fraction : 1 : 0;
    const int halves = (int)(part * 2 * width + 1e-9);
    if (width < 1)
        return;
    fputs(colour ? filled : "", to);
    repeat(to, utf8 ? "━" : "#", halves / 2);
    repeat(to, utf8 ? "╸" : "-", halves % 2);
    fputs(colour ? dim : "", to);
    repeat(to, !utf8 ? "-" : colour ? "━" : " ", width - (halves + 1) / 2);
    fputs(colour ? plain : "", to);
}

/* The name and the bar, with which every line begins. */
static void write_beginning(FILE *to, const layout *l, const char *name, double fraction)
{
    fprintf(to, "%-*.*s ", l->name, l->name, name);
    write_bar(to, &l->screen, fraction, l->bar);
}

static void write_column(FILE *to, const progress *view, const layout *l, column which, const jobs_progress *now,
                         double left)
{
    char number[32], text[128];
    number_of(now, left, which, number);
    if (l->width[which])
        fprintf(to, "%*s%s", GAP, "", cell(view, which, number, l->width[which], l->worded & BIT(which), text));
}

/* All jobs together: what is done, in the place of the columns between the first and the last. */
static void write_total(FILE *to, const progress *view, const layout *l, double fraction)
{
    const jobs_progress all = {.fraction = fraction};
    const int done = view->ended, count = view->config.count;
    const double left = time_left(view->began, jobs_clock(), fraction);
    char text[64];
    int room = -GAP;
    for (column c = EPOCH; c <= RATE; c++)
        room += column_width(view, l, c);
    if (snprintf(text, sizeof text, "%d of %d run%s done", done, count, plural(count)) > room)
        snprintf(text, sizeof text, "%d/%d", done, count);
    write_beginning(to, l, "all", fraction);
    write_column(to, view, l, PERCENT, &all, left);
    if (room > 0)
        fprintf(to, "%*s%-*.*s", GAP, "", room, room, text);
    write_column(to, view, l, LEFT, &all, left);
    fputc('\n', to);
}

/* ---- the curve ---------------------------------------------------------------------------------------------- */

void progress_point(progress *view, double loss)
{
    if (!view || !isfinite(loss))
        return;
    if (view->columns == CURVE_COLUMNS && view->count[CURVE_COLUMNS - 1] == view->width) {
        for (int i = 0; i < CURVE_COLUMNS / 2; i++) { /* merges pairs of columns, so that half of them become free */
            view->sum[i] = view->sum[2 * i] + view->sum[2 * i + 1];
            view->count[i] = view->count[2 * i] + view->count[2 * i + 1];
        }
        view->columns /= 2;
        view->width *= 2;
    }
    if (view->columns == 0 || view->count[view->columns - 1] == view->width) {
        view->sum[view->columns] = 0;
        view->count[view->columns++] = 0;
    }
    view->sum[view->columns - 1] += loss;
    view->count[view->columns - 1]++;
}

/* Writes the lines of the curve. The scale is logarithmic if the highest loss is more than ten times the lowest. */
static void write_curve(FILE *to, const progress *view, bool utf8)
{
    double mean[CURVE_COLUMNS], low = INFINITY, high = -INFINITY;
    for (int i = 0; i < view->columns; i++) {
        mean[i] = view->sum[i] / (double)view->count[i];
        low = fmin(low, mean[i]);
        high = fmax(high, mean[i]);
    }
    const bool logarithmic = low > 0 && high > 10 * low;
    for (int line = 0; line < CURVE_LINES; line++) {
        char label[32] = "";
        if (line == 0 || line == CURVE_LINES - 1)
            put_loss(line == 0 ? high : low, label);
        fprintf(to, "%6s %s", label, utf8 ? "│" : "|");
        for (int i = 0; i < view->columns; i++) {
            const double down = high == low   ? 0
                                : logarithmic ? log(high / mean[i]) / log(high / low)
                                              : (high - mean[i]) / (high - low);
            fputs(lround(down * (CURVE_LINES - 1)) != line ? " " : utf8 ? "•" : "*", to);
        }
        fputc('\n', to);
    }
}

/* ---- painting ----------------------------------------------------------------------------------------------- */

static void write_live_lines(const void *context, FILE *to)
{
    const progress *view = context;
    const layout l = choose_layout(view);
    const int room = l.screen.rows - 2;
    int running = 0;
    double fraction = view->ended;
    for (int i = 0; i < view->config.count; i++) {
        const job_line *row = &view->rows[i];
        const double left = time_left(row->started, row->reported, row->now.fraction);
        fraction += row->running ? row->now.fraction : 0;
        if (!row->running || ++running > room)
            continue;
        write_beginning(to, &l, view->config.names[i], row->now.fraction);
        for (column c = 0; c < COLUMNS; c++)
            write_column(to, view, &l, c, &row->now, left);
        fputc('\n', to);
    }
    if (running > 0 && view->columns > 1 && l.screen.columns > CURVE_WIDTH && l.screen.rows > 2 * CURVE_LINES)
        write_curve(to, view, l.screen.utf8);
    if (running > 0 && view->config.count > 1)
        write_total(to, view, &l, fraction / view->config.count);
}

/* The number of columns of the line that begins here, without its colour codes. */
static int width_on_screen(const char *line)
{
    int width = 0;
    for (; *line != '\n'; line++)
        if (*line == '\033')
            line += strcspn(line, "m");
        else
            width += ((unsigned char)*line & 0xC0) != 0x80;
    return width;
}

/* Moves to the first live line. If the window has become narrower, the lines take more rows. */
static void go_to_top(const progress *view, FILE *to)
{
    const terminal screen = terminal_of(view->config.out);
    int up = 0;
    for (const char *line = view->live; line && *line; line = strchr(line, '\n') + 1) {
        const int width = width_on_screen(line);
        up += width > screen.columns ? (width + screen.columns - 1) / screen.columns : 1;
    }
    if (up > 0)
        fprintf(to, "\033[%dA", up < screen.rows ? up : screen.rows - 1);
    fputs("\r", to);
}

/* Replaces the live lines, below `above`: permanent lines, or NULL. The old rows are erased one by one, as some
 * terminals save a screen that is erased at once. All in a single write. */
static void repaint(progress *view, const char *above)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = system_open_memory(&bytes, &size);
    if (!to)
        return;
    fputs("\033[?25l\033[?7l", to); /* no cursor, no wrapping */
    go_to_top(view, to);
    if (above)
        fprintf(to, "\033[?7h\033[K%.*s\033[K\n\033[?7l", (int)strcspn(above, "\n"), above);
    free(view->live);
    view->live = files_text(write_live_lines, view);
    for (const char *line = view->live, *end; line && (end = strchr(line, '\n')); line = end + 1)
        fprintf(to, "%.*s\033[K\n", (int)(end - line), line);
    fputs("\033[J\033[?7h\033[?25h", to);
    view->painted = jobs_clock();
    if (system_close_memory(to, &bytes, &size)) {
        fwrite(bytes, 1, size, view->config.out);
        fflush(view->config.out);
    }
    free(bytes);
}

static bool is_live(const progress *view)
{
    return terminal_of(view->config.out).live;
}

void progress_tick(progress *view)
{
    if (view && jobs_clock() - view->painted >= 0.9 * repaint_interval && is_live(view))
        repaint(view, NULL);
}

void progress_free(progress *view)
{
    if (!view)
        return;
    for (int i = 0; i < view->config.count; i++)
        view->rows[i].running = false;
    if (view->live && *view->live)
        repaint(view, NULL);
    free(view->rows);
    free(view->live);
    free(view);
}

/* ---- plain lines -------------------------------------------------------------------------------------------- */

/* "relu seed 1: 64 %, epoch 13/20, loss 0.0802, accuracy 97.61 %, 61.2k samples/s, 0:26 left" */
static void announce(const progress *view, const job_line *row)
{
    const double left = time_left(row->started, row->reported, row->now.fraction);
    char number[32], text[128];
    fputs(view->config.names[row - view->rows], view->config.out);
    for (column c = 0; c < COLUMNS; c++)
        if (is_known(number_of(&row->now, left, c, number)))
            fprintf(view->config.out, "%s%s", c ? ", " : ": ", cell(view, c, number, 0, true, text));
    fputc('\n', view->config.out);
    fflush(view->config.out);
}

static void announce_when_due(const progress *view, job_line *row)
{
    int tenths = (int)(10 * row->now.fraction + 1e-9);
    if (tenths <= row->tenths || tenths >= 10 || row->reported - row->announced < announce_interval)
        return;
    row->tenths = tenths;
    row->announced = row->reported;
    announce(view, row);
}

/* ---- events ------------------------------------------------------------------------------------------------- */

void progress_start(progress *view, int job)
{
    if (!view)
        return;
    job_line *row = &view->rows[job];
    row->running = true;
    row->started = row->reported = row->announced = jobs_clock();
    progress_tick(view);
}

void progress_update(progress *view, int job, const jobs_progress *now)
{
    if (!view)
        return;
    job_line *row = &view->rows[job];
    row->now = *now;
    row->reported = jobs_clock();
    if (is_live(view))
        progress_tick(view);
    else
        announce_when_due(view, row);
}

/* "20 epochs  validation loss 0.0712 in epoch 12  accuracy 97.94 %  in 1:12": the parts that fit into these columns,
 * each preceded by `joint`. The epoch is the best one, whose weights are kept. */
static void write_result(FILE *to, const progress *view, const job_line *row, const char *joint, int columns)
{
    jobs_progress last_of = row->now, *last = &last_of;
    const bool chosen = last->best > 0 && isfinite(last->loss);
    const char *measured = view->config.measured;
    char parts[4][64] = {""}, number[32];
    if (isinf(last->loss))
        snprintf(parts[1], sizeof parts[1], "diverged in epoch %d", last->epoch);
    else if (last->epoch)
        snprintf(parts[0], sizeof parts[0], "%d epoch%s", last->epoch, plural(last->epoch));
    if (chosen) {
        last->loss = last->best_loss;
        last->accuracy = last->best_accuracy;
    }
    if (isfinite(last->loss))
        snprintf(parts[1], sizeof parts[1], "%.30s%sloss %s", measured ? measured : "", measured ? " " : "",
                 number_of(last, 0, LOSS, number));
    if (isfinite(last->loss) && chosen && last->epoch > 1)
        text_add(parts[1], sizeof parts[1], " in epoch %d", last->best);
    if (!isnan(last->accuracy))
        snprintf(parts[2], sizeof parts[2], "accuracy %s", number_of(last, 0, ACCURACY, number));
    snprintf(parts[3], sizeof parts[3], "in %s", number_of(last, jobs_clock() - row->started, LEFT, number));

    static const int order_of_need[4] = {2, 1, 3, 0}; /* the most important ones, if not all fit */
    for (int i = 0; i < 4; i++) {
        char *part = parts[order_of_need[i]];
        const int width = (int)(strlen(part) + strlen(joint));
        if (width > columns)
            *part = '\0';
        columns -= *part ? width : 0;
    }
    for (int i = 0; i < 4; i++)
        fprintf(to, "%s%s", *parts[i] ? joint : "", parts[i]);
}

/* "✓ relu seed 1  20 epochs  loss 0.0712 ..." on a terminal, "relu seed 1: done, 20 epochs, ..." elsewhere. */
static void write_end(FILE *to, const progress *view, int job, jobs_state state, const char *message)
{
    static const struct {
        const char *mark, *ascii, *colour, *word;
    } ends[] = {{"✓", "+", "\033[32m", "done"},
                {"✗", "x", "\033[31m", "failed"},
                {"–", "-", "\033[33m", "stopped"},
                {"✓", "+", "\033[90m", "by another process"}};
    const job_line *row = &view->rows[job];
    const terminal screen = terminal_of(view->config.out);
    const char *name = view->config.names[job], *joint = screen.live ? "  " : ", ";
    if (screen.live)
        fprintf(to, "%s%s%s %-*s", screen.colour ? ends[state].colour : "",
                screen.utf8 ? ends[state].mark : ends[state].ascii, screen.colour ? "\033[0m" : "", view->name_width,
                name);
    else
        fprintf(to, "%s: %s", name, ends[state].word);
    if (state == JOBS_DONE)
        write_result(to, view, row, joint, screen.live ? screen.columns - 1 - 2 - view->name_width : 1000);
    else if (state == JOBS_FAILED)
        fprintf(to, "%s%s", screen.live ? joint : ": ", message ? plain(message) : "failed");
    else if (screen.live)
        fprintf(to, "%s%s", joint, ends[state].word);
    if (state == JOBS_STOPPED && row->now.epochs)
        fprintf(to, " in epoch %d of %d", row->now.epoch, row->now.epochs);
    if (!screen.live && view->config.count > 1)
        fprintf(to, " (%d of %d)", view->ended, view->config.count);
    fputc('\n', to);
}

void progress_end(progress *view, int job, jobs_state state, const char *message)
{
    char *line = NULL;
    size_t size = 0;
    FILE *to = view ? system_open_memory(&line, &size) : NULL;
    if (!to)
        return;
    view->rows[job].running = false;
    view->ended++;
    write_end(to, view, job, state, message);
    if (system_close_memory(to, &line, &size)) {
        if (is_live(view))
            repaint(view, line);
        else
            fputs(line, view->config.out);
        fflush(view->config.out);
    }
    free(line);
}
