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

/* The width of a column, without the gap before it; 0 if it is empty. */
static int column_width(const progress_style *style, int shown, int column)
{
    bool words = shown & WORDS;
    if (!(shown & column))
        return 0;
    switch (column) {
    case PERCENT:
        return 5;
    case EPOCH:
        return style->epoch_digits ? 2 * style->epoch_digits + 1 + (words ? 6 : 0) : 0;
    case LOSS:
        return style->loss ? 6 + (shown & LOSS_WORD ? 5 : 0) : 0;
    case ACCURACY:
        return style->accuracy ? 7 + (words ? 9 : 0) : 0;
    case RATE:
        return style->rate ? 7 + (words ? 1 + terminal_width(style->unit) : 0) : 0;
    default:
        return 6 + (words ? 5 : 0);
    }
}

static int columns_width(const progress_style *style, int shown)
{
    int total = 0;
    for (int column = PERCENT; column <= LEFT; column *= 2)
        total += column_width(style, shown, column) ? GAP + column_width(style, shown, column) : 0;
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

/* The name, the bar and the percentage, with which every line begins. */
static void write_beginning(FILE *to, const progress_style *style, const layout *chosen, const char *name,
                            double fraction)
{
    write_padded(to, name, chosen->name);
    fputc(' ', to);
    write_bar(to, style, fraction, chosen->bar);
    if (chosen->shown & PERCENT)
        fprintf(to, "%*s%3d %%", GAP, "", (int)(100 * (fraction < 1 ? fraction : 1)));
}

static void write_left(FILE *to, const layout *chosen, double left)
{
    char text[32];
    if (chosen->shown & LEFT)
        fprintf(to, "%*s%6s%s", GAP, "", progress_duration(left, text), chosen->shown & WORDS ? " left" : "");
}

void progress_write_job(FILE *to, const progress_style *style, const char *name, const jobs_progress *now, double left)
{
    layout chosen = choose_layout(style);
    int shown = chosen.shown;
    bool words = shown & WORDS;
    char text[32];
    write_beginning(to, style, &chosen, name, now->fraction);
    if (column_width(style, shown, EPOCH))
        fprintf(to, "%*s%s%*d/%-*d", GAP, "", words ? "epoch " : "", style->epoch_digits, now->epoch,
                style->epoch_digits, now->epochs);
    if (column_width(style, shown, LOSS))
        fprintf(to, "%*s%s%6s", GAP, "", shown & LOSS_WORD ? "loss " : "", progress_loss(now->loss, text));
    if (column_width(style, shown, ACCURACY))
        fprintf(to, "%*s%s%7s", GAP, "", words ? "accuracy " : "",
                isnan(now->accuracy) ? "-" : progress_accuracy(now->accuracy, text));
    if (column_width(style, shown, RATE))
        fprintf(to, "%*s%5s%s%s/s", GAP, "", now->rate > 0 ? progress_amount(now->rate, text) : "-", words ? " " : "",
                words ? style->unit : "");
    write_left(to, &chosen, left);
}

void progress_write_total(FILE *to, const progress_style *style, int done, int count, double fraction, double left)
{
    layout chosen = choose_layout(style);
    write_beginning(to, style, &chosen, "all", fraction);
    int width = columns_width(style, chosen.shown & (EPOCH | LOSS | ACCURACY | RATE | WORDS | LOSS_WORD)) - GAP;
    char text[64];
    snprintf(text, sizeof text, "%d of %d run%s done", done, count, plural(count));
    if (terminal_width(text) > width)
        snprintf(text, sizeof text, "%d/%d", done, count);
    if (width > 0) {
        fprintf(to, "%*s", GAP, "");
        write_padded(to, text, width);
    }
    write_left(to, &chosen, left);
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
