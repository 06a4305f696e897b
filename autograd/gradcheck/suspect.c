#include "autograd/gradcheck/suspect.h"

#include <math.h>

/* The columns of one input in the matrix of found or expected derivatives, possibly read as a transposed matrix. */
typedef struct block {
    enum { AS_IT_IS, TRANSPOSED, TRANSPOSED_BACK } read; /* transposed: the last two indices of the input */
    const double *numbers;
    int64_t rows, stride, size;
    const tg_shape *shape;
} block;

static block block_of(const tg_check *c, const tg_check_jacobian *j, const double *matrix, int part)
{
    return (block){
        AS_IT_IS, matrix + c->parts[part].offset, j->rows, j->columns, c->parts[part].size, &c->parts[part].shape};
}

/* The index in the transposed tensor [.., c, r] of element i of [.., r, c]; with `back`, the reverse. */
static int64_t transposed(int64_t i, const tg_shape *shape, bool back)
{
    const int64_t r = shape->dim[shape->rank - 2], c = shape->dim[shape->rank - 1];
    const int64_t within = i % (r * c), columns = back ? r : c;
    return i - within + within % columns * (back ? c : r) + within / columns;
}

static double at(const block *b, int64_t row, int64_t i)
{
    return b
        ->numbers[row * b->stride + (b->read == AS_IT_IS ? i : transposed(i, b->shape, b->read == TRANSPOSED_BACK))];
}

static double largest_of(const block *b)
{
    double largest = 0;
    for (int64_t row = 0; row < b->rows; row++)
        for (int64_t i = 0; i < b->size; i++)
            largest = fmax(largest, fabs(at(b, row, i)));
    return largest;
}

/* True if found = factor * other in every element. */
static bool is_like(const block *found, double factor, const block *other, double tolerance)
{
    if (other->size != found->size || other->rows != found->rows)
        return false;
    for (int64_t row = 0; row < found->rows; row++)
        for (int64_t i = 0; i < found->size; i++)
            if (!(fabs(at(found, row, i) - factor * at(other, row, i)) <= tolerance))
                return false;
    return true;
}

/* ---- words ---- */

/* Adds what is that many: the elements of the input or of the result, or the length of an axis. */
static void add_count(tg_text *text, const tg_check *c, const tg_check_jacobian *j, int part, double factor)
{
    const int64_t n = (int64_t)round(fabs(factor) > 1 ? fabs(factor) : 1 / fabs(factor));
    const tg_shape *shape = &c->parts[part].shape;
    if (n < 3)
        return;
    if (n == c->parts[part].size)
        tg_text_add(text, "; the input has that many elements");
    else if (n == j->rows)
        tg_text_add(text, "; the result has that many elements");
    else
        for (int axis = 0; axis < shape->rank; axis++)
            if (shape->dim[axis] == n) {
                tg_text_add(text, "; axis %d of the input is that long", axis);
                return;
            }
}

static void add_name(tg_text *text, const tg_check *c, int part)
{
    tg_check_add_element(text, &c->report, c->parts[part].input, -1);
}

/* ---- guesses, the simplest first; each returns whether it fits ---- */

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
    if (!is_like(&s->found, 1, &s->expected, s->tolerance))
        return false;
    const tg_gradcheck_result *v = &s->c->report.result;
    const double part = v->error / fabs(v->numeric);
    if (part < 10 * s->c->report.like)
        tg_text_add(s->text, "off by %.2g of what is expected, too little to be seen here", part);
    else
        tg_text_add(s->text,
                    "for a cotangent of one at one element it is right: the fault is in what it does with others");
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
    if (!isfinite(factor) || !is_like(&s->found, factor, &s->expected, s->tolerance * fmax(1, fabs(factor))))
        return false;
    const char *simple = tg_check_factor(factor, s->c->report.like, words, sizeof words);
    tg_text_add(s->text, "all derivatives by this input are ");
    if (simple)
        tg_text_add(s->text, "%s", simple);
    else
        tg_text_add(s->text, "%.*g times as large", s->c->numbers->digits < 53 ? 3 : 9, factor);
    if (simple)
        add_count(s->text, s->c, s->j, s->part, factor);
    return true;
}

static bool guess_transposed(const suspicion *s)
{
    block there = s->expected, back = s->expected;
    there.read = TRANSPOSED;
    back.read = TRANSPOSED_BACK;
    if (s->expected.shape->rank < 2 ||
        (!is_like(&s->found, 1, &there, s->tolerance) && !is_like(&s->found, 1, &back, s->tolerance)))
        return false;
    tg_text_add(s->text, "the last two indices of this input's derivative are transposed");
    return true;
}

static bool guess_swapped(const suspicion *s)
{
    for (int q = 0; q < s->c->part_count; q++) {
        const block other = block_of(s->c, s->j, s->j->expected, q);
        if (q == s->part || !is_like(&s->found, 1, &other, s->tolerance))
            continue;
        tg_text_add(s->text, "it is the derivative by ");
        add_name(s->text, s->c, q);
        return true;
    }
    return false;
}

static bool count_wrong(const suspicion *s)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < s->found.size; i++) {
        bool right = true;
        for (int64_t row = 0; row < s->found.rows; row++)
            right &= fabs(at(&s->found, row, i) - at(&s->expected, row, i)) <= s->tolerance;
        wrong += !right;
    }
    tg_text_add(s->text, "wrong by %lld of the input's %lld elements", (long long)wrong, (long long)s->found.size);
    return true;
}

void tg_check_suspect(tg_text *text, const tg_check *c, const tg_check_jacobian *j, int part)
{
    static bool (*const guesses[])(const suspicion *) = {guess_cotangent,  guess_nothing, guess_factor,
                                                         guess_transposed, guess_swapped, count_wrong};
    suspicion s = {.text = text, .c = c, .j = j, .part = part};
    s.found = block_of(c, j, j->found, part);
    s.expected = block_of(c, j, j->expected, part);
    s.tolerance = c->report.like * fmax(largest_of(&s.expected), fmin(largest_of(&s.found), c->report.like));
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        if (guesses[i](&s))
            return;
}
