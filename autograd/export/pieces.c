#include "autograd/export/pieces.h"

#include <stdio.h>
#include <string.h>

/* A definition: of the text of the files, divided by pieces.awk, or a line of kernels.def. */
typedef struct piece {
    const char *names; /* the words that it defines, separated by blanks */
    int bits;          /* the floating type that it is for; 0: any */
    bool is_function;
    const char *text;
    tg_kernel_formula formula; /* of a line of kernels.def, if loops around it can be written elsewhere too */
} piece;

/* A line of kernels.def as it is there, without macros of elementwise.def: elementwise.inc makes the function of it. */
#define TG_LINE(macro, name, rest, ...)     {"vector_" #name, 0, true, macro "(" #name ", " rest ")\n", {__VA_ARGS__}},
#define TG_UNARY_KERNEL(name, lanes, value) TG_LINE("TG_UNARY_KERNEL", name, #lanes ", " #value, NULL, #value)
#define TG_UNARY_NUMBER_KERNEL(name, lanes, number, value) \
    TG_LINE("TG_UNARY_NUMBER_KERNEL", name, #lanes ", " #number ", " #value, #number, #value)
#define TG_WITH_GRAD_KERNEL(name, lanes, value, second) /* the value and the derivative have lines of their own */
#define TG_NUMBER_WITH_GRAD_KERNEL(name, lanes, number, value, second)
#define TG_BINARY_KERNEL(name, value)       TG_LINE("TG_BINARY_KERNEL", name, #value, NULL, #value)
#define TG_GATED_KERNEL(name, lanes, value) TG_LINE("TG_GATED_KERNEL", name, #lanes ", " #value, NULL, #value)
#define TG_GATED_GRAD_KERNEL(name, lanes, value, second) \
    TG_LINE("TG_GATED_GRAD_KERNEL", name, #lanes ", " #value ", " #second, NULL, NULL)
#define TG_SUM_KERNEL(name, value) TG_LINE("TG_SUM_KERNEL", name, #value, NULL, NULL)
#define TG_KERNEL(name, parameters)
#define TG_VECTOR_KERNEL(name, parameters)

static const piece pieces[] = {
#include <autograd/export/pieces.inc> /* made by the Makefile */
};
enum { PIECES = sizeof pieces / sizeof pieces[0] };
_Static_assert((int)PIECES <= (int)TG_MOST_PIECES, "tg_pieces has too little room for them");

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

const tg_kernel_formula *tg_formula_find(const char *name)
{
    char vector[80];
    snprintf(vector, sizeof vector, "vector_%s", name);
    const int i = find_piece(vector, strlen(vector), 0);
    return i >= 0 && pieces[i].formula.value ? &pieces[i].formula : NULL;
}

/* A word names a function only in a call, as a variable may have the same name; or as an argument of a macro. */
static void need_word(tg_pieces *needed, const char *word, size_t length, bool called)
{
    const int i = find_piece(word, length, needed->dtype == TG_F64 ? 64 : 32);
    if (i >= 0 && !needed->piece[i] && (called || !pieces[i].is_function)) {
        needed->piece[i] = true;
        tg_pieces_need(needed, pieces[i].text);
    }
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

void tg_pieces_put(tg_text *text, const tg_pieces *needed)
{
    for (int i = 0; i < PIECES; i++)
        if (needed->piece[i])
            tg_text_add(text, "%s%s", pieces[i].text, pieces[i].text[0] == '#' && pieces[i].text[3] != 'i' ? "" : "\n");
}
