#include "examples/programs/run/search.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

const char *const search_options[SEARCH_VALUES] = {"lr", "init-scale"};

/* All values lie on a grid through the usual one; a coarse step is two of the grid's. */
static const struct {
    double steps_of_ten; /* of the grid, in a factor of ten */
    int first, last;     /* coarse steps from the usual value, in the beginning */
    int most;            /* values of the coarse grid */
} kinds[SEARCH_VALUES] = {{4, -1, 1, 9}, {3.32192809488736235 /* factors of two */, -1, 0, 6}};

bool search_is_on(const search *s)
{
    return s->on[SEARCH_RATE] || s->on[SEARCH_SCALE];
}

static bool is_in(const double *list, int count, double value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* The value that many steps of the grid away, with three digits. */
static double neighbour(const search *s, int which, double from, long steps)
{
    const double of_ten = kinds[which].steps_of_ten;
    const long place = lround(of_ten * log10(from / s->usual[which])) + steps;
    char text[32];
    snprintf(text, sizeof text, "%.3g", s->usual[which] * pow(10, (double)place / of_ten));
    return strtod(text, NULL);
}

/* False if it is there, or the list is full. */
static bool add(search *s, int which, double value)
{
    if (is_in(s->values[which], s->count[which], value) || s->count[which] == SEARCH_MOST)
        return false;
    s->values[which][s->count[which]++] = value;
    system_sort(s->values[which], (size_t)s->count[which], sizeof value, system_ascending);
    return true;
}

void search_begin(search *s, search_point usual)
{
    memcpy(s->usual, usual.at, sizeof s->usual);
    for (int which = 0; which < SEARCH_VALUES; which++)
        for (int i = kinds[which].first; s->on[which] && i <= kinds[which].last; i++)
            add(s, which, neighbour(s, which, usual.at[which], 2 * i));
}

void search_briefly(search *s, search_point usual, bool scales)
{
    enum { POINTS = 3 };
    memcpy(s->usual, usual.at, sizeof s->usual);
    s->brief = true;
    for (int i = 0; i < POINTS; i++) {
        add(s, SEARCH_RATE, neighbour(s, SEARCH_RATE, usual.at[SEARCH_RATE], 2 * i));
        if (scales)
            add(s, SEARCH_SCALE, neighbour(s, SEARCH_SCALE, usual.at[SEARCH_SCALE], -i));
    }
}

/* True on the line of search_briefly: the smallest scale has the largest rate. */
static bool is_on_line(const search *s, search_point point)
{
    for (int i = 0; i < s->count[SEARCH_SCALE]; i++)
        if (s->values[SEARCH_SCALE][i] == point.at[SEARCH_SCALE])
            return s->values[SEARCH_RATE][s->count[SEARCH_RATE] - 1 - i] == point.at[SEARCH_RATE];
    return true; /* rates alone */
}

/* Extends the coarse grid at the ends at which an activation has its best. */
static bool extend(search *s, int which, const search_point best[], int activations)
{
    const double least = s->values[which][0], greatest = s->values[which][s->count[which] - 1];
    bool below = false, above = false, grown = false;
    for (int a = 0; a < activations; a++) {
        below |= best[a].at[which] == least;
        above |= best[a].at[which] == greatest;
    }
    if (below && s->count[which] < kinds[which].most)
        grown |= add(s, which, neighbour(s, which, least, -2));
    if (above && s->count[which] < kinds[which].most)
        grown |= add(s, which, neighbour(s, which, greatest, 2));
    return grown;
}

/* Gives a best point its neighbours along one value. */
static bool refine(search *s, int which, int activation, search_point best)
{
    bool grown = false;
    for (int side = -1; side <= 1; side += 2) {
        search_point point = best;
        point.at[which] = neighbour(s, which, best.at[which], side);
        grown |= add(s, which, point.at[which]);
        if (s->on[SEARCH_SCALE] && s->own_count < SEARCH_OWN) {
            s->own[s->own_count].activation = activation;
            s->own[s->own_count++].point = point;
            grown = true;
        }
    }
    return grown;
}

bool search_grow(search *s, const search_point best[], int activations)
{
    bool grown = false;
    if (!search_is_on(s) || s->refined)
        return false;
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (s->on[which])
            grown |= extend(s, which, best, activations);
    s->refined = !grown;
    if (grown)
        return true;
    memcpy(s->coarse, s->values, sizeof s->coarse);
    memcpy(s->coarse_count, s->count, sizeof s->coarse_count);
    for (int a = 0; a < activations; a++)
        for (int which = 0; which < SEARCH_VALUES; which++)
            if (s->on[which])
                grown |= refine(s, which, a, best[a]);
    return grown;
}

bool search_tries(const search *s, int activation, search_point point)
{
    bool tried = true;
    if (s->brief)
        return is_on_line(s, point);
    if (!s->on[SEARCH_SCALE] || !s->refined)
        return true;
    for (int which = 0; which < SEARCH_VALUES; which++)
        tried &= !s->on[which] || is_in(s->coarse[which], s->coarse_count[which], point.at[which]);
    for (int i = 0; i < s->own_count && !tried; i++) {
        tried = s->own[i].activation == activation;
        for (int which = 0; which < SEARCH_VALUES; which++)
            tried &= !s->on[which] || s->own[i].point.at[which] == point.at[which];
    }
    return tried;
}

void search_list(const search *s, int which, char *text, size_t size)
{
    *text = '\0';
    for (int i = 0; i < s->count[which]; i++)
        text_add(text, size, "%s%g", i ? "," : "", s->values[which][i]);
}
