#include "examples/programs/data/csv.h"
#include "examples/programs/system/posix.h"

enum { LEAST_ROWS = 20 }; /* with fewer rows, only dates are reported */
enum { FIRST_DATE = 19000101, LAST_DATE = 21001231 };

/* ---- dates ---- */

/* 2024-05-31, 31.5.24 or 5/31/2024, and a time after it. */
static bool is_date(const char *word)
{
    static const char *const formats[] = {"%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%Y",
                                          "%m/%d/%Y", "%Y.%m.%d", "%d.%m.%Y", "%m.%d.%Y"};
    for (size_t i = 0; isdigit((unsigned char)*word) && i < sizeof formats / sizeof formats[0]; i++) {
        const char *end = system_date(word, formats[i]);
        if (end && (!*end || strchr(" T", *end)))
            return true;
    }
    return false;
}

/* 20240531 */
static bool is_compact_date(double number)
{
    char text[NUMBER_TEXT];
    const char *end = system_date(number_text(number, text), "%Y%m%d");
    return end && !*end;
}

void csv_summarise(csv_source *source)
{
    const size_t columns = source->table.columns;
    for (size_t i = 0; i < columns; i++) {
        source->column[i].whole = true;
        source->column[i].low = INFINITY;
        source->column[i].high = -INFINITY;
    }
    for (size_t row = 0; row < source->rows; row++)
        for (size_t i = 0; i < columns; i++) {
            csv_column *all = &source->column[i];
            const double value = csv_value(source, row, i);
            all->whole &= value == floor(value);
            all->low = value < all->low ? value : all->low;
            all->high = value > all->high ? value : all->high;
            if (isnan(value)) {
                if (csv_is_missing_at(source, row, i))
                    continue;
                all->words++;
            } else if (value >= FIRST_DATE && value <= LAST_DATE)
                all->dates += is_compact_date(value);
            all->example = all->present++ ? all->example : row;
        }
    for (size_t i = 0; i < columns; i++)
        if (source->column[i].low > source->column[i].high)
            source->column[i].low = source->column[i].high = NAN;
}

static bool count_date(void *context, size_t row, size_t column, const char *text, size_t length)
{
    csv_source *source = context;
    (void)length;
    if (isnan(csv_value(source, row, column)))
        source->column[column].dates += is_date(text);
    return true;
}

bool csv_count_dates(csv_source *source, const bool *flags)
{
    return csv_each_text(source, flags, count_date, source);
}

/* ---- identifiers ---- */

/* True if each of the integers low .. low + rows - 1 occurs once, in any order. */
static bool numbers_rows(const csv_source *source, size_t column, double low, bool *seen)
{
    for (size_t row = 0; row < source->rows; row++) {
        bool *at = &seen[(size_t)(csv_value(source, row, column) - low)];
        if (*at)
            return false;
        *at = true;
    }
    return true;
}

static bool is_called_id(const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    if (length < 2 || strcasecmp(name + length - 2, "id") != 0)
        return false;
    return length == 2 || !isalpha((unsigned char)name[length - 3]) || strcmp(name + length - 2, "Id") == 0;
}

/* ---- codes of gaps ---- */

/* A number that people write where a value is missing, if it is far from all others of its column; else NaN. */
static double gap_code(const csv_source *source, size_t column, size_t *cells)
{
    static const double codes[] = {-9, -99, -200, -999, -9999, -99999, 99, 999, 9999, 99999};
    const csv_column *all = &source->column[column];
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        const double code = codes[c];
        double low = INFINITY, high = -INFINITY;
        if (code != all->low && code != all->high)
            continue;
        *cells = 0;
        for (size_t row = 0; row < source->rows; row++) {
            const double value = csv_value(source, row, column);
            *cells += value == code;
            low = value < low && value != code ? value : low;
            high = value > high && value != code ? value : high;
        }
        if (*cells >= 2 && high > low && fmax(low - code, code - high) > high - low)
            return code;
    }
    return NAN;
}

/* The warning about a feature; NULL: none. */
static const char *doubt(const csv_source *source, size_t column, dataset *set)
{
    static const char id[] = "looks like an identifier";
    const csv_column *all = &source->column[column];
    const double rows = (double)source->rows, range = all->high - all->low + 1;
    const char *name = set->column[column].name;
    if (all->dates > 0 && all->dates == all->present)
        return "looks like a date";
    if (source->rows < LEAST_ROWS)
        return NULL;
    if (all->role == CSV_CATEGORIES)
        return 2 * (double)set->column[column].entries > rows ? id : NULL;
    if (!all->whole)
        return NULL;
    bool *seen = range == rows ? dataset_new(&set->memory, source->rows, 1, sizeof *seen) : NULL;
    if (seen && numbers_rows(source, column, all->low, seen))
        return "numbers the rows";
    return is_called_id(name) && range >= rows / 2 ? id : NULL;
}

/* ---- columns ---- */

bool dataset_is_used(const dataset_column *column)
{
    return strcmp(column->kind, "weight") != 0 && strcmp(column->kind, "group") != 0 &&
           strcmp(column->kind, "ignored") != 0;
}

static void describe(const csv_source *source, size_t column, dataset *set)
{
    static const char *const kinds[] = {"number", "categorical", "target", "weight", "group", "ignored"};
    const csv_column *from = &source->column[column];
    dataset_column *to = &set->column[column];
    const bool class = from->role == CSV_TARGET && set->task == DATASET_CLASSIFICATION,
               entries = class || from->role == CSV_CATEGORIES || from->role == CSV_GROUPS,
               numbers = !entries && from->role != CSV_IGNORED;
    char number[NUMBER_TEXT], name[CSV_OPTION_NAME];
    to->kind = class ? "class" : kinds[from->role];
    to->name = source->names ? dataset_text(&set->memory, source->names[column]) : NULL;
    to->entries = entries ? from->classes.found : 0;
    to->low = numbers ? from->low : NAN;
    to->high = numbers ? from->high : NAN;
    to->missing = from->missing;
    to->zeros = from->zeros;
    to->gap = NAN;
    to->example = dataset_text(&set->memory, !from->present ? ""
                                             : numbers ? number_shown(csv_value(source, from->example, column), number)
                                                       : csv_text(source, from->example, column));
    if (from->role == CSV_NUMBERS || from->role == CSV_CATEGORIES)
        to->doubt = doubt(source, column, set);
    if (to->doubt)
        to->call = dataset_text(&set->memory, csv_option_name(source, column, name));
    if (from->role == CSV_NUMBERS && source->rows >= LEAST_ROWS)
        to->gap = gap_code(source, column, &to->gaps);
}

bool csv_describe_columns(const csv_source *source, dataset *set)
{
    set->columns = source->table.columns;
    set->column = dataset_new(&set->memory, set->columns, 1, sizeof *set->column);
    for (size_t i = 0; set->column && i < set->columns; i++)
        describe(source, i, set);
    return !set->memory.failed || csv_out_of_memory(source);
}
