#include "examples/run/progress_internal.h"
#include "examples/report/terminal.h"
#include "examples/data/words.h"

#include <math.h>
#include <string.h>

static const char dim[] = "\033[90m", filled[] = "\033[36m", plain[] = "\033[0m";

/* ---- numbers of a known width ------------------------------------------------------------------------------- */

const char *progress_duration(double seconds, char text[32])
{
    if (!(seconds >= 0 && seconds < 1e8))
        return strcpy(text, "-:--");
    int whole = (int)lround(seconds), minutes = whole / 60, hours = minutes / 60;
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

const char *progress_amount(double amount, char text[32])
{
    static const char suffixes[] = " kMGTP";
    int power = 0;
    while (amount >= 999.5 && suffixes[power + 1])
        amount /= 1000, power++;
    int decimals = power == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
    snprintf(text, 32, "%.*f%.*s", decimals, amount, power > 0, suffixes + power);
    return text;
}

const char *progress_loss(double loss, char text[32])
{
    if (isnan(loss))
        return strcpy(text, "-");
    for (int decimals = 4; decimals >= 0 && fabs(loss) < 1e6; decimals--)
        if (snprintf(text, 32, "%.*f", decimals, loss) <= 6)
            return text;
    snprintf(text, 32, "%.0e", loss);
    return text;
}

const char *progress_accuracy(double accuracy, char text[32])
{
    snprintf(text, 32, "%.*f %%", accuracy >= 0.99995 ? 1 : 2, 100 * accuracy);
    return text;
}

/* ---- which columns fit -------------------------------------------------------------------------------------- */

enum { PERCENT = 1, EPOCH = 2, LOSS = 4, ACCURACY = 8, RATE = 16, LEFT = 32, WORDS = 64, LOSS_WORD = 128 };
enum { GAP = 2, BAR_MOST = 40 };

/* From the widest to the narrowest; the first that leaves room for a bar of `bar` is used. */
static const struct {
    int shown, bar;
} layouts[] = {
    {PERCENT | EPOCH | LOSS | ACCURACY | RATE | LEFT | WORDS | LOSS_WORD, 16},
    {PERCENT | EPOCH | LOSS | ACCURACY | RATE | LEFT | LOSS_WORD, 10},
    {PERCENT | EPOCH | LOSS | ACCURACY | LEFT | LOSS_WORD, 8},
    {PERCENT | EPOCH | LOSS | ACCURACY | LEFT, 8},
    {PERCENT | LOSS | ACCURACY | LEFT, 8},
    {PERCENT | LOSS | LEFT, 6},
    {LOSS | LEFT, 4},
    {LEFT, 4},
    {0, 0},
};

/* Writes a column, always as wide; "" where it is not shown, or no job has it. */
static const char *column_text(const progress_style *style, int shown, int column, const jobs_progress *now,
                               double left, char text[128])
{
    const bool words = shown & WORDS;
    const int digits = style->epoch_digits;
    char number[32];
    *text = '\0';
    switch (shown & column) {
    case PERCENT:
        snprintf(text, 128, "%3d %%", (int)(100 * (now->fraction < 1 ? now->fraction : 1)));
        break;
    case EPOCH:
        if (digits)
            snprintf(text, 128, "%s%*d/%-*d", words ? "epoch " : "", digits, now->epoch, digits, now->epochs);
        break;
    case LOSS:
        if (style->loss)
            snprintf(text, 128, "%s%6s", shown & LOSS_WORD ? "loss " : "", progress_loss(now->loss, number));
        break;
    case ACCURACY:
        if (style->accuracy)
            snprintf(text, 128, "%s%7s", words ? "accuracy " : "",
                     isnan(now->accuracy) ? "-" : progress_accuracy(now->accuracy, number));
        break;
    case RATE:
        if (style->rate)
            snprintf(text, 128, "%5s%s%s/s", now->rate > 0 ? progress_amount(now->rate, number) : "-", words ? " " : "",
                     words ? style->unit : "");
        break;
    case LEFT:
        snprintf(text, 128, "%6s%s", progress_duration(left, number), words ? " left" : "");
        break;
    }
    return text;
}

/* The width of some columns, with the gap before each. */
static int columns_width(const progress_style *style, int shown)
{
    const jobs_progress none = {0};
    char text[128];
    int total = 0;
    for (int column = PERCENT; column <= LEFT; column *= 2)
        if (*column_text(style, shown, column, &none, 0, text))
            total += GAP + terminal_width(text);
    return total;
}

typedef struct {
    int shown, name, bar;
} layout;

static layout choose_layout(const progress_style *style)
{
    int most = style->columns / 2; /* for the name */
    layout chosen = {.name = style->name_width < most ? style->name_width : most};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        chosen.shown = layouts[i].shown;
        chosen.bar = style->columns - chosen.name - 1 - columns_width(style, chosen.shown);
        if (chosen.bar >= layouts[i].bar)
            break;
    }
    chosen.bar = chosen.bar < BAR_MOST ? chosen.bar : BAR_MOST;
    return chosen;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void write_padded(FILE *to, const char *text, int width)
{
    int length = 0, shown = 0;
    while (text[length] && (shown < width || ((unsigned char)text[length] & 0xC0) == 0x80))
        shown += ((unsigned char)text[length++] & 0xC0) != 0x80;
    while (((unsigned char)text[length] & 0xC0) == 0x80)
        length++;
    fprintf(to, "%.*s%*s", length, text, width - shown > 0 ? width - shown : 0, "");
}

static void repeat(FILE *to, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        fputs(text, to);
}

static void write_bar(FILE *to, const progress_style *style, double fraction, int width)
{
    if (width < 1)
        return;
    double part = fraction > 0 ? fraction < 1 ? fraction : 1 : 0;
    int halves = (int)(part * 2 * width + 1e-9), rest = width - (halves + 1) / 2;
    if (!style->utf8) {
        repeat(to, "#", halves / 2);
        repeat(to, "-", width - halves / 2);
        return;
    }
    fputs(style->colour ? filled : "", to);
    repeat(to, "━", halves / 2);
    repeat(to, "╸", halves % 2);
    fputs(style->colour ? dim : "", to);
    repeat(to, style->colour ? "━" : " ", rest);
    fputs(style->colour ? plain : "", to);
}

/* The name and the bar, with which every line begins. */
static void write_beginning(FILE *to, const progress_style *style, const layout *chosen, const char *name,
                            double fraction)
{
    write_padded(to, name, chosen->name);
    fputc(' ', to);
    write_bar(to, style, fraction, chosen->bar);
}

static void write_columns(FILE *to, const progress_style *style, int shown, const jobs_progress *now, double left)
{
    char text[128];
    for (int column = PERCENT; column <= LEFT; column *= 2)
        if (*column_text(style, shown, column, now, left, text))
            fprintf(to, "%*s%s", GAP, "", text);
}

void progress_write_job(FILE *to, const progress_style *style, const char *name, const jobs_progress *now, double left)
{
    const layout chosen = choose_layout(style);
    write_beginning(to, style, &chosen, name, now->fraction);
    write_columns(to, style, chosen.shown, now, left);
}

void progress_write_total(FILE *to, const progress_style *style, int done, int count, double fraction, double left)
{
    const layout chosen = choose_layout(style);
    const jobs_progress all = {.fraction = fraction};
    const int width = columns_width(style, chosen.shown & ~(PERCENT | LEFT)) - GAP;
    char text[64];
    write_beginning(to, style, &chosen, "all", fraction);
    write_columns(to, style, chosen.shown & (PERCENT | WORDS), &all, left);
    snprintf(text, sizeof text, "%d of %d run%s done", done, count, plural(count));
    if (terminal_width(text) > width)
        snprintf(text, sizeof text, "%d/%d", done, count);
    if (width > 0) {
        fprintf(to, "%*s", GAP, "");
        write_padded(to, text, width);
    }
    write_columns(to, style, chosen.shown & (LEFT | WORDS), &all, left);
}

void progress_write_result(FILE *to, const jobs_progress *last, const char *measured, double seconds, const char *joint,
                           int columns)
{
    char parts[4][64] = {"", "", "", ""}, text[32];
    if (isinf(last->loss))
        snprintf(parts[1], sizeof parts[1], "diverged in epoch %d", last->epoch);
    else if (last->epoch)
        snprintf(parts[0], sizeof parts[0], "%d epoch%s", last->epoch, plural(last->epoch));
    if (isfinite(last->loss))
        snprintf(parts[1], sizeof parts[1], "%.30s%sloss %s", measured ? measured : "", measured ? " " : "",
                 progress_loss(last->loss, text));
    if (!isnan(last->accuracy))
        snprintf(parts[2], sizeof parts[2], "accuracy %s", progress_accuracy(last->accuracy, text));
    snprintf(parts[3], sizeof parts[3], "in %s", progress_duration(seconds, text));

    static const int order_of_need[4] = {2, 1, 3, 0}; /* the most important ones, if not all fit */
    bool shown[4] = {false};
    int room = columns;
    for (int i = 0; i < 4; i++) {
        int part = order_of_need[i], width = terminal_width(parts[part]) + terminal_width(joint);
        shown[part] = parts[part][0] && width <= room;
        room -= shown[part] ? width : 0;
    }
    for (int part = 0; part < 4; part++)
        if (shown[part])
            fprintf(to, "%s%s", joint, parts[part]);
}
