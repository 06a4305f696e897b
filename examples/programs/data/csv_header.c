/* Which line of a file names its columns, if any does, and the columns without name and value at its line ends. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/csv.h"

/* ---- the first row, and what is below it ---- */

typedef enum cell_is { A_GAP, A_NUMBER, A_WORD } cell_is;

/* A cell of the first row, and those below it. */
typedef struct column_head {
    cell_is first;
    bool above_number; /* the cell below is a number, or there is none */
    double low, high;  /* of the numbers below */
    bool years;        /* all of them are whole numbers of a year */
    char *word;        /* of the first row, if it is one, */
    char *next;        /* and of the second */
    bool recurs;       /* this word is found again below */
    bool repeats;      /* the word of the second row is */
} column_head;

static bool is_number(const csv_source *source, size_t row, size_t column)
{
    const csv_kind kind = csv_kind_at(source, row, column);
    return kind == CSV_NUMBER || kind == CSV_HUGE ||
           (kind == CSV_MISSING && csv_word_is_huge(csv_text(source, row, column))); /* nan */
}

static bool is_year(double number)
{
    return number >= 1900 && number <= 2100 && number == floor(number);
}

static cell_is kind_of(const csv_source *source, size_t column)
{
    const csv_kind kind = csv_kind_at(source, 0, column);
    return is_number(source, 0, column) ? A_NUMBER : kind == CSV_MISSING || kind == CSV_MAYBE_MISSING ? A_GAP : A_WORD;
}

static bool compare_word(void *context, size_t row, size_t column, const char *text, size_t length)
{
    column_head *head = (column_head *)context + column;
    (void)length;
    head->recurs |= row > 0 && head->word && strcmp(text, head->word) == 0;
    head->repeats |= row > 1 && head->next && strcmp(text, head->next) == 0;
    return true;
}

/* Describes the first row and what is below it; false without memory. */
static bool describe(csv_source *source, column_head *head, bool *words)
{
    const size_t columns = source->table.columns;
    for (size_t i = 0; i < columns; i++) {
        column_head *h = &head[i];
        *h = (column_head){.first = kind_of(source, i), .low = INFINITY, .high = -INFINITY, .years = true};
        h->above_number = source->rows < 2 || is_number(source, 1, i);
        words[i] = h->first == A_WORD && !h->above_number;
        h->word = words[i] ? dataset_text(&source->memory, csv_text(source, 0, i)) : NULL;
        h->next = words[i] ? dataset_text(&source->memory, csv_text(source, 1, i)) : NULL;
    }
    for (size_t row = 1; row < source->rows; row++)
        for (size_t i = 0; i < columns; i++) {
            const double value = csv_value(source, row, i);
            head[i].low = value < head[i].low ? value : head[i].low;
            head[i].high = value > head[i].high ? value : head[i].high;
            head[i].years &= isnan(value) || is_year(value);
        }
    return !source->memory.failed && csv_each_text(source, words, compare_word, head);
}

/* What the columns say together. */
typedef struct evidence {
    size_t numbers, words;
    size_t strange;     /* a word above a number; SIZE_MAX: none */
    size_t unique;      /* words above words that are not found again, */
    size_t repeating;   /* and those of them above words that repeat */
    bool years, beyond; /* all numbers are years above others; are outside the range of those below */
} evidence;

static evidence weigh(const csv_source *source, const column_head *head)
{
    evidence e = {.strange = SIZE_MAX, .years = true, .beyond = true};
    for (size_t i = 0; i < source->table.columns; i++) {
        const column_head *h = &head[i];
        const double number = csv_value(source, 0, i);
        if (h->first == A_NUMBER) {
            e.numbers++;
            e.years &= is_year(number) && !h->years;
            e.beyond &= number < h->low || number > h->high;
        } else if (h->first == A_WORD) {
            e.words++;
            e.strange = h->above_number ? i : e.strange;
            e.unique += h->word && !h->recurs;
            e.repeating += h->word && !h->recurs && h->repeats;
        }
    }
    return e;
}

/* A first line without numbers is a header, unless each of its words is found again in its column. One with numbers is
 * one if these are years above other numbers, or if all of them are outside the range of what is below; but a word that
 * is found again makes it data. Marks of gaps say nothing. */
static bool is_header(const csv_source *source, const column_head *head, const evidence *e)
{
    enum { LEAST_ROWS = 10 };
    const size_t above_words = e->words - (e->strange != SIZE_MAX); /* one of them at least */
    bool again = false;
    for (size_t i = 0; i < source->table.columns; i++)
        again |= head[i].recurs;
    if (e->words == 0)
        return false;
    if (e->numbers == 0)
        return e->strange != SIZE_MAX || e->unique > 0;
    if (again || source->rows < LEAST_ROWS)
        return false;
    return e->years || (e->beyond && above_words > 0 && e->repeating > 0);
}

/* ---- taking names ---- */

/* The first row becomes the names of the columns. */
static bool take_names(csv_source *source)
{
    csv_table *table = &source->table;
    source->rows = table->rows = table->rows - 1;
    if (source->rows == 0)
        return tg_fail(source->error, "%s: only a header, expected rows below it", table->path);
    char **names = dataset_new(&source->memory, table->columns, 1, sizeof *names);
    for (size_t i = 0; names && i < table->columns; i++)
        names[i] = dataset_text(&source->memory, csv_text(source, 0, i));
    source->names = names;
    table->values += table->columns;
    table->starts++;
    return !source->memory.failed || csv_out_of_memory(source);
}

/* The line above the first row becomes the names, if it is #Label,a,b: a comment with a word for each column. */
static bool take_comment(csv_source *source)
{
    csv_table *table = &source->table;
    char **names = table->comment ? dataset_new(&source->memory, table->columns, 1, sizeof *names) : NULL;
    if (!names)
        return !source->memory.failed || csv_out_of_memory(source);
    const char *text;
    size_t count = 0;
    for (const unsigned char *at = table->comment; (text = csv_next_text(table, &at)); count++) {
        if (count == table->columns || csv_kind_of_word(text) != CSV_WORD || csv_is_number(table, text))
            return true;
        names[count] = dataset_text(&source->memory, text);
    }
    if (count != table->columns || count < 2)
        return true;
    source->names = names;
    table->comments--;
    return !source->memory.failed || csv_out_of_memory(source);
}

/* ---- columns at the line ends ---- */

/* Leaves out the last columns, as long as they have neither a name nor a value. */
static void cut_columns(csv_source *source)
{
    csv_table *table = &source->table;
    const size_t columns = table->columns;
    size_t kept = columns;
    for (bool empty = true; empty && kept > 1; kept -= empty) {
        empty = !source->names || !*source->names[kept - 1];
        for (size_t row = 0; empty && row < source->rows; row++)
            empty = csv_kind_at(source, row, kept - 1) == CSV_MISSING;
    }
    for (size_t row = 0; kept < columns && row < source->rows; row++)
        memmove(table->values + row * kept, table->values + row * columns, kept * sizeof *table->values);
    table->columns = kept;
    table->unnamed = columns - kept;
}

void csv_cut_rows(csv_source *source)
{
    for (bool empty = true; empty && source->rows > 1; source->rows -= empty)
        for (size_t i = 0; empty && i < source->table.columns; i++)
            empty = csv_kind_at(source, source->rows - 1, i) == CSV_MISSING;
}

bool csv_find_header(csv_source *source, dataset_header header)
{
    const csv_table *table = &source->table;
    source->rows = table->rows;
    bool names = header == DATASET_HEADER_YES;
    if (header == DATASET_HEADER_AUTO) {
        column_head *head = dataset_array(table->columns, 1, sizeof *head);
        bool *words = dataset_array(table->columns, 1, sizeof *words);
        const bool fine = (head && words && describe(source, head, words)) || csv_out_of_memory(source);
        const evidence e = fine ? weigh(source, head) : (evidence){.strange = SIZE_MAX};
        names = fine && is_header(source, head, &e);
        free(head);
        free(words);
        if (!fine)
            return false;
        if (!names && e.numbers > 0 && e.strange != SIZE_MAX)
            return tg_fail(
                source->error,
                "%s:%zu: '%.60s' is a word among numbers, expected a row of names or a row of data; " ADVICE_HEADER,
                table->path, csv_line(table, 0), csv_text(source, 0, e.strange));
    }
    if (!(names ? take_names(source) : header != DATASET_HEADER_AUTO || take_comment(source)))
        return false;
    cut_columns(source);
    return true;
}
