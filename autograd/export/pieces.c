#include "autograd/export/pieces.h"

#include <string.h>

/* ---- definitions: the text of the files, divided by pieces.awk ---- */

typedef struct piece {
    const char *names; /* the words that it defines, separated by blanks */
    int bits;          /* the floating type that it is for; 0: any */
    bool is_function;
    const char *text;
} piece;

static const piece pieces[] = {
#include <autograd/export/pieces.inc> /* made by the Makefile */
};
enum { PIECES = sizeof pieces / sizeof pieces[0] };
_Static_assert((int)PIECES <= (int)TG_MOST_PIECES, "tg_pieces has too little room for them");

/* ---- formulas: the lines of kernels.def ---- */

static const tg_formula formulas[] = {
#define TG_KERNEL(name, parameters)
#define TG_VECTOR_KERNEL(name, parameters)
#define TG_UNARY_KERNEL(name, lanes, value)                {#name, TG_FORMULA_UNARY, NULL, #value, NULL},
#define TG_UNARY_NUMBER_KERNEL(name, lanes, number, value) {#name, TG_FORMULA_NUMBER, #number, #value, NULL},
#define TG_WITH_GRAD_KERNEL(name, lanes, value, second)    /* the value and the derivative have lines of their own */
#define TG_NUMBER_WITH_GRAD_KERNEL(name, lanes, number, value, second)
#define TG_BINARY_KERNEL(name, value)                    {#name, TG_FORMULA_BINARY, NULL, #value, NULL},
#define TG_GATED_KERNEL(name, lanes, value)              {#name, TG_FORMULA_GATED, NULL, #value, NULL},
#define TG_GATED_GRAD_KERNEL(name, lanes, value, second) {#name, TG_FORMULA_GATED_GRAD, NULL, #value, #second},
#define TG_SUM_KERNEL(name, value)                       {#name, TG_FORMULA_SUM, NULL, #value, NULL},
#include "autograd/kernels/kernels.def"
};
enum { FORMULAS = sizeof formulas / sizeof formulas[0] };
_Static_assert((int)FORMULAS <= (int)TG_MOST_FORMULAS, "tg_pieces has too little room for them");

const tg_formula *tg_formula_find(const char *name)
{
    for (int i = 0; i < FORMULAS; i++)
        if (strcmp(formulas[i].name, name) == 0)
            return &formulas[i];
    return NULL;
}

/* ---- references between pieces ---- */

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(const char *words, const char *word, size_t length)
{
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        if (strcspn(words, " ") == length && memcmp(words, word, length) == 0)
            return true;
    return false;
}

/* The index of the piece that defines a word; -1 if none does. The first one counts: plain.inc comes first. */
static int find_piece(const char *word, size_t length, int bits)
{
    for (int i = 0; i < PIECES; i++)
        if ((pieces[i].bits == 0 || pieces[i].bits == bits || bits == 0) && has_word(pieces[i].names, word, length))
            return i;
    return -1;
}

bool tg_pieces_have(const char *name)
{
    return find_piece(name, strlen(name), 0) >= 0;
}

static void need_formula(tg_pieces *needed, const char *name, size_t length)
{
    for (int i = 0; i < FORMULAS; i++)
        if (strlen(formulas[i].name) == length && memcmp(formulas[i].name, name, length) == 0 && !needed->formula[i]) {
            needed->formula[i] = true;
            tg_pieces_need(needed, formulas[i].value);
            tg_pieces_need(needed, formulas[i].second ? formulas[i].second : "");
        }
}

/* A word names a function only in a call, as a variable may have the same name; or as an argument of a macro. */
static void need_word(tg_pieces *needed, const char *word, size_t length, bool called)
{
    static const char prefix[] = "vector_";
    const size_t skipped = sizeof prefix - 1;
    const int i = find_piece(word, length, needed->dtype == TG_F64 ? 64 : 32);
    if (i >= 0 && !needed->piece[i] && (called || !pieces[i].is_function)) {
        needed->piece[i] = true;
        tg_pieces_need(needed, pieces[i].text);
    }
    if (i < 0 && length > skipped && memcmp(word, prefix, skipped) == 0)
        need_formula(needed, word + skipped, length - skipped);
}

void tg_pieces_need(tg_pieces *needed, const char *text)
{
    const bool macro = strncmp(text, "TG_", 3) == 0;
    while (*text) {
        const char *comment_end = text[0] == '/' && text[1] == '*' ? strstr(text, "*/") : NULL;
        size_t length = 0;
        while (is_of_word(text[length]))
            length++;
        if (length > 0)
            need_word(needed, text, length, macro || text[length] == '(');
        text = comment_end ? comment_end + 2 : text + (length ? length : 1);
    }
}

/* ---- writing ---- */

static void put_head(tg_text *text, const tg_formula *f)
{
    static const char *const parameters[] = {
        [TG_FORMULA_UNARY] = "const void *x_, void *y_",
        [TG_FORMULA_NUMBER] = "const void *x_, double number_, void *y_",
        [TG_FORMULA_BINARY] = "const void *a_, int step_a, const void *b_, int step_b, void *y_",
        [TG_FORMULA_GATED] = "const void *a_, const void *b_, void *y_",
        [TG_FORMULA_GATED_GRAD] = "const void *a_, const void *b_, const void *g_, void *y_, void *second_",
        [TG_FORMULA_SUM] = "const void *a_, const void *b_, double *sum",
    };
    tg_text_add(text, "static void vector_%s(size_t n, %s)", f->name, parameters[f->kind]);
}

/* Writes the loop of a formula over arrays, as kernels call it. */
static void put_formula(tg_text *text, const tg_formula *f)
{
    const bool unary = f->kind == TG_FORMULA_UNARY || f->kind == TG_FORMULA_NUMBER;
    const bool sums = f->kind == TG_FORMULA_SUM, steps = f->kind == TG_FORMULA_BINARY;
    put_head(text, f);
    tg_text_add(text, "\n{\n");
    tg_text_add(text, unary ? "    const tg_real *const from = x_;\n"
                            : "    const tg_real *const left = a_, *const right = b_;\n");
    if (f->kind == TG_FORMULA_GATED_GRAD)
        tg_text_add(text, "    const tg_real *const cotangent = g_;\n");
    if (f->kind == TG_FORMULA_NUMBER)
        tg_text_add(text, "    const tg_real %s = (tg_real)number_;\n", f->number);
    tg_text_add(text, sums ? "    *sum = 0;\n" : "    tg_real *const y = y_%s;\n",
                f->second ? ", *const second = second_" : "");
    tg_text_add(text, "    for (size_t i = 0; i < n; i++) {\n");
    if (unary)
        tg_text_add(text, "        const tg_real x = from[i];\n");
    else
        tg_text_add(text, "        const %s a = left[i%s], b = right[i%s]%s;\n", sums ? "double" : "tg_real",
                    steps ? " * (size_t)step_a" : "", steps ? " * (size_t)step_b" : "",
                    f->kind == TG_FORMULA_GATED_GRAD ? ", g = cotangent[i]" : "");
    tg_text_add(text, sums ? "        *sum += %s;\n" : "        y[i] = %s;\n", f->value);
    if (f->second)
        tg_text_add(text, "        second[i] = %s;\n", f->second);
    tg_text_add(text, "    }\n}\n\n");
}

void tg_pieces_put(tg_text *text, const tg_pieces *needed)
{
    for (int i = 0; i < FORMULAS; i++)
        if (needed->formula[i]) {
            put_head(text, &formulas[i]);
            tg_text_add(text, ";\n");
        }
    for (int i = 0; i < PIECES; i++)
        if (needed->piece[i])
            tg_text_add(text, "%s%s", pieces[i].text, pieces[i].text[0] == '#' && pieces[i].text[3] != 'i' ? "" : "\n");
    for (int i = 0; i < FORMULAS; i++)
        if (needed->formula[i])
            put_formula(text, &formulas[i]);
}
