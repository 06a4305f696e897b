/* What the signs of the table mean. */
#include "examples/lab/html.h"
#include "examples/lab/runlog_table_internal.h"
#include "examples/data/words.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void print_wrapped(const table_view *table, FILE *out, const char *text)
{
    if (table->format && !table->format->note)
        return;
    fputs(table->format ? table->format->note : "", out);
    terminal_wrap(out, text, table->format && table->format->marks_up ? html_text : NULL);
}

/* How many differences are judged together. */
static int count_judged(const table_view *table)
{
    int judged = 0;
    for (int i = 0; i < table->count; i++)
        judged += !isnan(table->groups[i].corrected[table->loss_metric]) +
                  !isnan(table->groups[i].corrected[table->accuracy_metric]);
    return judged;
}

static bool has_unfinished(const table_view *table)
{
    for (int i = 0; i < table->count; i++)
        if (table->groups[i].unfinished > 0)
            return true;
    return false;
}

/* What an interval is, and what a difference. */
static void print_meaning(const table_view *table, FILE *out, int least, int most)
{
    char text[1024], values[64], folds[64] = "";
    const bool utf8 = table->screen.utf8,
               difference = most > 0 && (table->shown[ACCURACY_DIFFERENCE] || table->shown[LOSS_DIFFERENCE]);
    const int judged = count_judged(table);
    snprintf(values, sizeof values, least == most ? "%d" : "%d to %d", least, most);
    if (table->folds > 1)
        snprintf(folds, sizeof folds, "seeds of %d folds each", table->folds);
    if (most > 1)
        snprintf(text, sizeof text, "%s and ( - ): 95 %% interval of the mean over %s %s.", utf8 ? "±" : "+/-", values,
                 table->by_fold     ? "folds, which have most training rows in common"
                 : table->folds > 1 ? folds
                                    : "seeds");
    else
        snprintf(text, sizeof text, "%s",
                 most == 0               ? "No run has finished."
                 : has_unfinished(table) ? "No two runs of an activation have finished: no intervals."
                                         : "One seed: no intervals.");
    size_t length = strlen(text);
    if (difference)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, " %s: difference to %.64s, %s", utf8 ? "Δ" : "diff",
                             table->groups[0].activation, table->by_fold ? "fold by fold" : "seed by seed");
    if (difference && judged == 1)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, ", * where it is beyond chance at 5 %% (t test)");
    if (difference && judged > 1)
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            ", * where it is beyond chance at 5 %% for all %d differences together (t test, Holm)", judged);
    snprintf(text + length, sizeof text - length, "%s", difference ? "." : "");
    print_wrapped(table, out, text);
}

void table_print_notes(const table_view *table, FILE *out)
{
    enum { TOO_FEW = 5 };
    char text[1024];
    int least = INT_MAX, most = 0;
    for (int i = 0; i < table->count; i++) {
        const int values = (int)table->groups[i].value[table->loss_metric].count;
        least = values < least ? values : least;
        most = values > most ? values : most;
    }
    print_meaning(table, out, least, most);
    const size_t values = table->groups[0].value[table->loss_metric].count;
    if (table->count > 1 && values > 0 && values < TOO_FEW) {
        snprintf(text, sizeof text, "%zu %s little: ten or more tell small differences from chance.", values,
                 values == 1 ? "value says" : "values say");
        print_wrapped(table, out, text);
    }
    if (table->test)
        print_wrapped(table, out, "test: at the epoch with the lowest validation loss, on rows that chose nothing.");
    if (!table->accuracy)
        print_wrapped(table, out,
                      "std. MSE: mean squared error of targets standardised by the training part; RMSE: in the "
                      "target's own unit.");
    if (table->note)
        print_wrapped(table, out, table->note);
    for (int i = 0; i < table->count; i++)
        if (table->groups[i].unfinished > 0) {
            snprintf(text, sizeof text, "%.64s: %d of %d run%s did not finish and %s not counted.",
                     table->groups[i].activation, table->groups[i].unfinished,
                     table->groups[i].unfinished + table->groups[i].runs,
                     plural(table->groups[i].unfinished + table->groups[i].runs),
                     table->groups[i].unfinished == 1 ? "is" : "are");
            print_wrapped(table, out, text);
        }
}
