#include "autograd/gradcheck/suspect.h"

#include <math.h>

/* Derivatives that differ by less than this part of the largest are the same: one-sided differences know no better. */
#define SAME_TO 1e-6

/* An error that is a smaller part of the derivative than this is not looked for element by element. */
#define SEEN 1e-5

/* The columns of one input, in the matrix found or in the one expected. */
typedef struct block {
    const double *numbers;
    int64_t rows, stride, size;
} block;

static block block_of(const tg_check *c, const tg_check_jacobian *j, const double *matrix, int part)
{
    return (block){matrix + c->parts[part].offset, j->rows, j->columns, c->parts[part].size};
}

static double at(const block *b, int64_t row, int64_t i)
{
    return b->numbers[row * b->stride + i];
}

static double largest_of(const block *b)
{
    double largest = 0;
    for (int64_t row = 0; row < b->rows; row++)
        for (int64_t i = 0; i < b->size; i++)
            largest = fmax(largest, fabs(at(b, row, i)));
    return largest;
}

/* ---- likenesses ---- */

/* Where an element of [.., r, c] would be if its matrices were read as [c, r]; and back. */
static int64_t transposed(int64_t i, const tg_shape *shape, bool back)
{
    const int64_t r = shape->dim[shape->rank - 2], c = shape->dim[shape->rank - 1];
    const int64_t within = i % (r * c), columns = back ? r : c;
    return i - within + within % columns * (back ? c : r) + within / columns;
}

static bool is_times(const block *a, const block *b, double factor, double tolerance)
{
    if (a->size != b->size)
        return false;
    for (int64_t row = 0; row < a->rows; row++)
        for (int64_t i = 0; i < a->size; i++)
            if (!(fabs(at(a, row, i) - factor * at(b, row, i)) <= tolerance))
                return false;
    return true;
}

static bool is_transposed(const block *a, const block *b, const tg_shape *shape, bool back, double tolerance)
{
    if (shape->rank < 2)
        return false;
    for (int64_t row = 0; row < a->rows; row++)
        for (int64_t i = 0; i < a->size; i++)
            if (!(fabs(at(a, row, i) - at(b, row, transposed(i, shape, back))) <= tolerance))
                return false;
    return true;
}

/* Whether expected - found = sign * other. */
static bool is_missing(const block *found, const block *expected, const block *other, double sign, double tolerance)
{
    if (other->size != found->size)
        return false;
    for (int64_t row = 0; row < found->rows; row++)
        for (int64_t i = 0; i < found->size; i++)
            if (!(fabs(at(expected, row, i) - at(found, row, i) - sign * at(other, row, i)) <= tolerance))
                return false;
    return true;
}

/* Whether expected - found is sign * x on the diagonal and nothing beside it. */
static bool is_missing_input(const block *found, const block *expected, const double *x, double sign, double tolerance)
{
    if (found->rows != found->size)
        return false;
    for (int64_t row = 0; row < found->rows; row++)
        for (int64_t i = 0; i < found->size; i++)
            if (!(fabs(at(expected, row, i) - at(found, row, i) - (row == i ? sign * x[i] : 0)) <= tolerance))
                return false;
    return true;
}

/* ---- words ---- */

/* What there are so many of. */
static void add_count(tg_text *text, const tg_check *c, const tg_check_jacobian *j, int part, double factor)
{
    const int64_t n = (int64_t)round(fabs(factor) > 1 ? fabs(factor) : 1 / fabs(factor));
    const tg_shape *shape = &c->parts[part].shape;
    if (n < 3)
        return;
    if (n == c->parts[part].size)
        tg_text_add(text, "; so many elements has the input");
    else if (n == j->rows)
        tg_text_add(text, "; so many elements has the result");
    else
        for (int axis = 0; axis < shape->rank; axis++)
            if (shape->dim[axis] == n) {
                tg_text_add(text, "; so long is axis %d of the input", axis);
                return;
            }
}

static void add_name(tg_text *text, const tg_check *c, int part)
{
    tg_check_add_element(text, &c->report, c->parts[part].input, -1);
}

/* ---- guesses, the simplest first; each says whether it holds ---- */

typedef struct suspicion {
    tg_text *text;
    const tg_check *c;
    const tg_check_jacobian *j;
    int part;
    block found, expected;
    double tolerance;
} suspicion;

static bool guess_cotangent(const suspicion *s)
{
    if (!is_times(&s->found, &s->expected, 1, s->tolerance))
        return false;
    const tg_gradcheck_result *v = &s->c->report.result;
    const double part = v->error / fabs(v->numeric);
    if (part < SEEN)
        tg_text_add(s->text, "off by %.2g of what is expected, too little to be seen here", part);
    else
        tg_text_add(s->text, "for a cotangent of one at one element it is right: the fault is in what it does with others");
    return true;
}

static bool guess_nothing(const suspicion *s)
{
    if (!(largest_of(&s->found) <= s->tolerance))
        return false;
    tg_text_add(s->text, "nothing arrives at this input");
    return true;
}

static bool guess_factor(const suspicion *s)
{
    double factor = NAN, largest = 0;
    char words[80];
    for (int64_t row = 0; row < s->found.rows; row++)
        for (int64_t i = 0; i < s->found.size; i++)
            if (fabs(at(&s->expected, row, i)) > largest) {
                largest = fabs(at(&s->expected, row, i));
                factor = at(&s->found, row, i) / at(&s->expected, row, i);
            }
    if (!isfinite(factor) || !is_times(&s->found, &s->expected, factor, s->tolerance * fmax(1, fabs(factor))))
        return false;
    const char *simple = tg_check_factor(factor, words, sizeof words);
    tg_text_add(s->text, "all derivatives by this input are ");
    if (simple)
        tg_text_add(s->text, "%s", simple);
    else
        tg_text_add(s->text, "%.9g times as large", factor);
    if (simple)
        add_count(s->text, s->c, s->j, s->part, factor);
    return true;
}

static bool guess_transposed(const suspicion *s)
{
    const tg_shape *shape = &s->c->parts[s->part].shape;
    if (!is_transposed(&s->found, &s->expected, shape, false, s->tolerance) &&
        !is_transposed(&s->found, &s->expected, shape, true, s->tolerance))
        return false;
    tg_text_add(s->text, "the last two indices of this input's derivative are transposed");
    return true;
}

static bool guess_swapped(const suspicion *s)
{
    for (int q = 0; q < s->c->part_count; q++) {
        const block other = block_of(s->c, s->j, s->j->expected, q);
        if (q == s->part || !is_times(&s->found, &other, 1, s->tolerance))
            continue;
        tg_text_add(s->text, "it is the derivative by ");
        add_name(s->text, s->c, q);
        return true;
    }
    return false;
}

static bool say_missing(const suspicion *s, double sign, const char *what, int part)
{
    tg_text_add(s->text, sign > 0 ? "what is missing is %s" : "what is too much is %s", what);
    add_name(s->text, s->c, part);
    return true;
}

static bool guess_missing(const suspicion *s)
{
    for (double sign = 1; sign >= -1; sign -= 2)
        for (int q = 0; q < s->c->part_count; q++) {
            const block derivative = block_of(s->c, s->j, s->j->expected, q);
            if (q != s->part && is_missing(&s->found, &s->expected, &derivative, sign, s->tolerance))
                return say_missing(s, sign, "the derivative by ", q);
        }
    for (double sign = 1; sign >= -1; sign -= 2)
        for (int q = 0; q < s->c->part_count; q++)
            if (s->c->parts[q].size == s->found.size &&
                is_missing_input(&s->found, &s->expected, s->c->point + s->c->parts[q].offset, sign, s->tolerance))
                return say_missing(s, sign, "the value of ", q);
    return false;
}

static bool count_wrong(const suspicion *s)
{
    int64_t wrong = 0, of = 0;
    for (int64_t i = 0; i < s->found.size; i++) {
        bool right = true;
        for (int64_t row = 0; row < s->found.rows; row++)
            right &= fabs(at(&s->found, row, i) - at(&s->expected, row, i)) <= s->tolerance;
        wrong += !right;
        of++;
    }
    tg_text_add(s->text, "wrong by %lld of the input's %lld elements", (long long)wrong, (long long)of);
    return true;
}

void tg_check_suspect(tg_text *text, const tg_check *c, const tg_check_jacobian *j, int part)
{
    static bool (*const guesses[])(const suspicion *) = {guess_cotangent,  guess_nothing, guess_factor, guess_transposed,
                                                         guess_swapped, guess_missing, count_wrong};
    suspicion s = {.text = text, .c = c, .j = j, .part = part};
    s.found = block_of(c, j, j->found, part);
    s.expected = block_of(c, j, j->expected, part);
    s.tolerance = SAME_TO * fmax(largest_of(&s.expected), fmin(largest_of(&s.found), 1e-6));
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        if (guesses[i](&s))
            return;
}
