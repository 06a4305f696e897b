/* intervals: how often the intervals of a comparison cover the truth, by method and number of seeds
 * (docs/comparing.md).
 *
 *     intervals [TABLES [POPULATION ROWS SEEDS]...]     200 tables of each cell; all cells if none is given
 *     intervals 500 first:numbers 200 10                 all seeds test the same rows, as with --test first:40
 *
 * Prints a line for each cell, pair of nets and number of seeds; then, over all cells with light tails and over those
 * of the other kinds, a line for each number of seeds and method; and for each measure what the method of `compare`
 * does on cells with light tails, 3 to 30 seeds.
 */
#include "tests/intervals/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int seeds[] = {3, 5, 10, 30, 100};
enum { COUNTS = sizeof seeds / sizeof *seeds, KINDS = 4 };

/* Over the cells of populations of each kind. */
static struct {
    int cells;
    simulation_result sum, least, most;
} all[KINDS][COUNTS][SIMULATION_METHODS];

/* Of each measure: the method of compare, light tails, 3 to 30 seeds. */
static struct {
    int lines, wide, pairs, equal; /* all; from 5 seeds on; pairs of nets; pairs without a difference */
    double least, most, width, widest, alarms, most_alarms, most_equal;
} measures[SIMULATION_MEASURES];

static void count_measure(int measure, int pair, int number, const simulation_result *r, bool coin)
{
    const bool shown = measure != SIMULATION_LOSS && measure != SIMULATION_OTHERS + INFLUENCE_F1 &&
                       measure != SIMULATION_OTHERS + INFLUENCE_CALIBRATION; /* by a coin's nets alike */
    const bool equal = pair == SIMULATION_PAIRS - 1 || (coin && shown);
    if (number > 30)
        return;
    measures[measure].least = measures[measure].lines ? fmin(measures[measure].least, r->coverage) : r->coverage;
    measures[measure].most = fmax(measures[measure].most, r->coverage);
    measures[measure].lines++;
    if (number >= 5 && isfinite(r->width)) {
        measures[measure].wide++;
        measures[measure].width += r->width;
        measures[measure].widest = fmax(measures[measure].widest, r->width);
    }
    if (pair == SIMULATION_LEVEL)
        return;
    measures[measure].pairs++;
    measures[measure].alarms += r->false_alarm;
    measures[measure].most_alarms = fmax(measures[measure].most_alarms, r->false_alarm);
    measures[measure].most_equal =
        equal ? fmax(measures[measure].most_equal, r->false_alarm) : measures[measure].most_equal;
}

static void print_measures(void)
{
    printf(
        "\nby measure: seeds and rows, light tails, 3 to 30 seeds\nmeasure    lines  covered %%        half-width from "
        "5 "
        "seeds on  false alarms of pairs %%\n                  least to most    mean, most                mean, most, "
        "most of equal nets\n");
    for (int m = 0; m < SIMULATION_MEASURES; m++)
        if (measures[m].lines)
            printf("%-9s  %5d  %5.1f to %5.1f   %6.2f, %5.2f             %5.1f, %5.1f, %5.1f\n", simulation_measures[m],
                   measures[m].lines, 100 * measures[m].least, 100 * measures[m].most,
                   measures[m].width / measures[m].wide, measures[m].widest,
                   100 * measures[m].alarms / measures[m].pairs, 100 * measures[m].most_alarms,
                   100 * measures[m].most_equal);
}

static void count(int kind, int k, int method, const simulation_result *r)
{
    if (isnan(r->coverage))
        return;
    simulation_result *sum = &all[kind][k][method].sum, *least = &all[kind][k][method].least,
                      *most = &all[kind][k][method].most;
    if (all[kind][k][method].cells++ == 0)
        *least = *most = *r;
    sum->false_alarm += r->false_alarm;
    sum->width += r->width;
    sum->power += r->power;
    least->coverage = fmin(least->coverage, r->coverage);
    least->power = fmin(least->power, r->power);
    most->coverage = fmax(most->coverage, r->coverage);
    most->false_alarm = fmax(most->false_alarm, r->false_alarm);
    most->width = fmax(most->width, r->width);
}

static void print_row(const simulation *s, int measure, const char *pair, int number, int k)
{
    printf("%-9s %5d  %-8s  %-7s %4d ", s->cell.population, s->cell.rows, simulation_measures[measure], pair, seeds[k]);
    for (int method = 0; method < SIMULATION_METHODS; method++) {
        const simulation_result r = simulation_judge(s, measure, number, (simulation_method)method, seeds[k]);
        printf("  | %5.1f %5.1f %5.2f %5.0f", 100 * r.coverage, 100 * r.false_alarm, r.width, 100 * r.power);
        count(simulation_kind(s->cell.population), k, method, &r);
        if (method == SIMULATION_ROWS && simulation_kind(s->cell.population) == 0)
            count_measure(measure, number, seeds[k], &r, strcmp(s->cell.population, "coin") == 0);
    }
    putchar('\n');
}

static void print_cell(const simulation_cell *cell)
{
    static const char *const pairs[SIMULATION_PAIRS + 1] = {"gelu", "swiglu", "twin", "(relu)"};
    simulation s = simulate(cell, 1);
    for (int measure = 0; measure < SIMULATION_MEASURES; measure++)
        for (int pair = 0; pair <= SIMULATION_LEVEL && simulation_has(&s, measure); pair++)
            for (int k = 0; k < COUNTS && seeds[k] <= cell->seeds; k++)
                print_row(&s, measure, pairs[pair], pair, k);
    simulation_free(&s);
    fflush(stdout);
}

static void print_summary(int kind)
{
    static const char *const kinds[KINDS] = {"light tails", "heavy tails", "a rare class",
                                             "training that sometimes fails"};
    static const char *const names[SIMULATION_METHODS] = {"Student's t over seeds", "Nadeau and Bengio",
                                                          "seeds and rows", "the same table"};
    printf("\n%s\nseeds  method                  covered %%       false alarms %%  half-width     power %%\n"
           "                               least to most   mean, most      mean, most     mean, least\n",
           kinds[kind]);
    for (int k = 0; k < COUNTS; k++)
        for (int method = 0; method < SIMULATION_METHODS; method++) {
            const double cells = all[kind][k][method].cells;
            const simulation_result *sum = &all[kind][k][method].sum, *least = &all[kind][k][method].least,
                                    *most = &all[kind][k][method].most;
            if (cells > 0)
                printf("%5d  %-22s  %5.1f to %5.1f  %5.1f, %5.1f   %6.2f, %5.2f  %5.0f, %3.0f\n", seeds[k],
                       names[method], 100 * least->coverage, 100 * most->coverage, 100 * sum->false_alarm / cells,
                       100 * most->false_alarm, sum->width / cells, most->width, 100 * sum->power / cells,
                       100 * least->power);
        }
}

int main(int argc, char **argv)
{
    static const struct {
        int rows, seeds;
    } sizes[] = {{200, 100}, {500, 30}, {2000, 10}};
    const int tables = argc > 1 ? atoi(argv[1]) : 200;
    if (tables < 2 || (argc > 2 && (argc - 2) % 3 != 0))
        return fprintf(stderr, "intervals: expected [TABLES [POPULATION ROWS SEEDS]...], at least 2 tables\n"), 2;
    printf("covered %%, false alarms %%, half-width over the needed one, power %% where a z test has 80 %%\n"
           "population rows  measure   pair    seeds  | Student's t over seeds  | Nadeau and Bengio       | seeds "
           "and rows          | the same table\n");
    for (int a = 2; a < argc; a += 3)
        print_cell(&(simulation_cell){argv[a], atoi(argv[a + 1]), tables, atoi(argv[a + 2])});
    for (int i = 0; argc < 3 && simulation_populations[i]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            print_cell(&(simulation_cell){simulation_populations[i], sizes[k].rows, tables, sizes[k].seeds});
    for (int kind = 0; kind < KINDS; kind++)
        print_summary(kind);
    print_measures();
    printf("\nstandard error with %d tables: %.1f points, of 95 %% covered or of 5 %% false alarms\n", tables,
           100 * sqrt(0.05 * 0.95 / tables));
    return fflush(stdout) != 0;
}
