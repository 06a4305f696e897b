/* Files that are no tables: binary formats, which begin with bytes of their own, and other kinds of text. Each is
 * refused by its name, with a command that converts it where there is one. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/csv.h"
#include "examples/programs/system/posix.h"

#include <jansson.h>

/* ---- formats with bytes of their own ---- */

#define PANDAS(call) "python3 -c \"import pandas; pandas." call "('@').to_csv('table.csv', index=False)\""
#define OFFICE       "soffice --headless --convert-to csv '@'"

/* A format, the bytes at an offset by which it is known, and the command; in it, @ is the file. */
typedef struct format {
    const char *name, *bytes;
    size_t count, offset;
    const char *command; /* NULL: there is none */
} format;
#define BYTES(text) text, sizeof text - 1

static const format formats[] = {
    {"a pointer of Git LFS and not the file itself", BYTES("version https://git-lfs.github.com/spec/"), 0,
     "git lfs pull fetches it"},
    {"an Excel workbook (.xls)", BYTES("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), 0, OFFICE},
    {"an array of NumPy (.npy)", BYTES("\x93NUMPY"), 0, ADVICE_NPY},
    {"a Parquet file", BYTES("PAR1\x15"), 0, PANDAS("read_parquet")},
    {"a Feather file", BYTES("ARROW1\0"), 0, PANDAS("read_feather")},
    {"an SQLite database", BYTES("SQLite format 3\0"), 0, ADVICE_SQLITE},
    {"an HDF5 file", BYTES("\x89HDF\r\n\x1a\n"), 0, PANDAS("read_hdf")},
    {"packed by xz", BYTES("\xfd\x37zXZ"), 0, ADVICE_XZ},
    {"packed by bzip2", BYTES("1AY&SY"), 4, ADVICE_BZIP2},
    {"packed by zstd", BYTES("\x28\xb5\x2f\xfd"), 0, ADVICE_ZSTD},
    {"packed by 7-Zip", BYTES("7z\xbc\xaf\x27\x1c"), 0, "7z x '@'"},
    {"a tar archive", BYTES("\0ustar"), 256, ADVICE_TAR},
    {"a MATLAB file", BYTES("MATLAB 5.0 MAT-file"), 0, NULL},
    {"a PDF document", BYTES("%PDF-"), 0, NULL},
    {"an event file of TensorBoard", BYTES("brain.Event:"), 23,
     "'Show data download links' in TensorBoard exports a curve"},
    {"images or labels of IDX", BYTES("\0\0\x08"), 0, "idx:FOLDER reads the folder of the four files"},
    {"a picture (PNG)", BYTES("\x89PNG"), 0, NULL},
    {"a picture (JPEG)", BYTES("\xff\xd8\xff"), 0, NULL},
};

/* What is in a zip archive, by the name of its first file. */
static const struct content {
    const char *begins, *ends, *name, *command;
} contents[] = {
    {"[Content_Types].xml", "", "an Excel workbook (.xlsx)", OFFICE},
    {"mimetype", "", "an OpenDocument spreadsheet (.ods)", OFFICE},
    {"", ".npy", "arrays of NumPy (.npz)", ADVICE_NPZ},
    {"", "", "a zip archive", ADVICE_ZIP},
};

/* Fails with the format's name and its command. The path stands in the command if a shell takes it as it is. */
static bool refuse(const char *path, const char *name, const char *command, tg_error *error)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+=:, -";
    const bool usable = strlen(path) < 150 && *path != '-' && !path[strspn(path, plain)];
    const char *end = command ? strchr(command, '@') : NULL;
    if (!command)
        return tg_fail(error, "%s: %s, expected CSV", path, name);
    if (!end)
        return tg_fail(error, "%s: %s, expected CSV; %s", path, name, command);
    return tg_fail(error, "%s: %s, expected CSV; %.*s%s%s", path, name, (int)(end - command), command,
                   usable ? path : "FILE", end + 1);
}

/* Bytes that end a name in a zip archive's first header, which has its length at 26 and the name at 30. */
static bool fits(const struct content *c, const unsigned char *name, size_t length)
{
    const size_t begins = strlen(c->begins), ends = strlen(c->ends);
    return length >= begins && length >= ends && memcmp(name, c->begins, begins) == 0 &&
           memcmp(name + length - ends, c->ends, ends) == 0;
}

static bool check_formats(const char *path, const dataset_bytes *text, tg_error *error)
{
    enum { NAME_LENGTH = 26, NAME = 30 };
    const unsigned char *bytes = text->bytes;
    for (const format *f = formats; f < formats + sizeof formats / sizeof *formats; f++)
        if (text->size >= f->offset + f->count && memcmp(bytes + f->offset, f->bytes, f->count) == 0)
            return refuse(path, f->name, f->command, error);
    if (text->size > NAME && memcmp(bytes, "PK\3\4", 4) == 0) {
        size_t length = bytes[NAME_LENGTH] | (size_t)bytes[NAME_LENGTH + 1] << 8;
        length = length < text->size - NAME ? length : text->size - NAME;
        const struct content *c = contents;
        while (!fits(c, bytes + NAME, length))
            c++;
        return refuse(path, c->name, c->command, error);
    }
    if (text->size > 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5)
        return refuse(path, "a pickle of Python, which runs the code in it", ADVICE_PICKLE, error);
    return true;
}

/* ---- other kinds of text ---- */

static bool is_ascii(const unsigned char *bytes, size_t size)
{
    uint64_t high = 0, eight;
    for (; size >= sizeof eight; bytes += sizeof eight, size -= sizeof eight) {
        memcpy(&eight, bytes, sizeof eight);
        high |= eight;
    }
    for (; size > 0; size--)
        high |= *bytes++;
    return !(high & UINT64_C(0x8080808080808080));
}

/* Names of columns, categories and classes are stored in JSON, and jansson accepts only UTF-8. */
static bool is_utf8(const unsigned char *line, size_t length)
{
    if (is_ascii(line, length))
        return true;
    json_t *text = json_stringn((const char *)line, length);
    json_decref(text);
    return text != NULL;
}

static bool begins_with(const unsigned char *text, const char *word)
{
    return strncasecmp((const char *)text, word, strlen(word)) == 0;
}

/* True if a line of JSON is followed by another of its own. */
static bool is_json_lines(const unsigned char *line)
{
    return begins_with(line, "{\"") && begins_with(csv_line_end(line), "{\"");
}

/* True if the line is a number and then only numbers of features with values: 1 3:0.5 17:1. */
static bool is_libsvm(const unsigned char *line)
{
    size_t pairs = 0;
    double unused;
    const unsigned char *at = csv_number(line, false, &unused);
    while (at && (*at == ' ' || *at == '\t')) {
        at += strspn((const char *)at, " \t");
        if (!*at || strchr("#\r\n", *at))
            break;
        const unsigned char *const number = at;
        while (isdigit(*at))
            at++;
        at = at > number && *at == ':' ? csv_number(at + 1, false, &unused) : NULL;
        pairs++;
    }
    return at && pairs > 0 && (!*at || strchr("#\r\n", *at));
}

bool csv_check_text(const char *path, const dataset_bytes *text, tg_error *error)
{
    const unsigned char *bytes = text->bytes, *zero = memchr(bytes, 0, text->size), *first = bytes;
    size_t line = 1, comments = 0;
    if (!check_formats(path, text, error))
        return false;
    if (text->size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return tg_fail(error, "%s: UTF-16, expected UTF-8; " ADVICE_UTF16, path);
    if (zero)
        return tg_fail(error, "%s: a zero byte at offset %td, expected text in ASCII or UTF-8", path, zero - bytes);
    while (*first == '%' || *first == '#' || (*first && csv_after_blanks(first) >= csv_line_end(first)))
        first = csv_line_end(first); /* comments of ARFF files, too */
    if (begins_with(first, "<!doctype html") || begins_with(first, "<html"))
        return tg_fail(error, "%s: a page in HTML, expected CSV; the address of the file itself may be another", path);
    if (is_json_lines(first))
        return refuse(path, "lines of JSON", ADVICE_JSON_LINES, error);
    if (begins_with(first, "{\"") || begins_with(first, "[{\""))
        return refuse(path, "JSON", ADVICE_JSON, error);
    if (begins_with(first, "@relation") || begins_with(first, "@attribute"))
        return tg_fail(error, "%s: an ARFF file, expected CSV; " ADVICE_ARFF ", whose columns then have no names",
                       path);
    first = csv_first_line(bytes, &comments);
    if (is_libsvm(first))
        return tg_fail(error,
                       "%s: a libsvm file (label index:value ...), expected CSV with a cell for every column; "
                       "scikit-learn's load_svmlight_file reads it",
                       path);
    const bool ascii = is_ascii(bytes, text->size);
    for (const unsigned char *at = bytes, *next; !ascii && *at; at = next, line++) {
        next = csv_line_end(at);
        if (at >= first && !is_utf8(at, (size_t)(next - at)))
            return tg_fail(error, "%s:%zu: not UTF-8; " ADVICE_LATIN1, path, line);
    }
    return true;
}
