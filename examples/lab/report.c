#include "examples/lab/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    const char *folder;
    const report *report;
} writing;

static void put_text(const char *text, size_t length, FILE *to)
{
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '&': fputs("&amp;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc(text[i], to);
        }
}

static void put_words(const char *text, FILE *to)
{
    put_text(text, strlen(text), to);
}

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* A file as base64 (RFC 4648), three bytes as four letters. */
static void put_base64(FILE *from, FILE *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char b[3];
    for (size_t got; (got = fread(b, 1, sizeof b, from)) > 0;) {
        memset(b + got, 0, sizeof b - got);
        fputc(letters[b[0] >> 2], to);
        fputc(letters[(b[0] & 3) << 4 | b[1] >> 4], to);
        fputc(got > 1 ? letters[(b[1] & 15) << 2 | b[2] >> 6] : '=', to);
        fputc(got > 2 ? letters[b[2] & 63] : '=', to);
    }
}

static void put_pictures(const char *folder, FILE *to)
{
    static const struct {
        const char *name, *says;
    } pictures[] = {{"accuracy.svg", "accuracy"}, {"loss.svg", "loss"}, {"search.svg", "validation loss over what was searched"}};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        FILE *from = open_file(folder, pictures[i].name);
        if (!from)
            continue;
        fprintf(to, "<img alt=\"%s\" src=\"data:image/svg+xml;base64,", pictures[i].says);
        put_base64(from, to);
        fputs("\">\n", to);
        fclose(from);
    }
}

/* What a stream holds, as text of a <pre>. */
static void put_stream(FILE *from, FILE *to)
{
    char buffer[4096];
    fputs("<pre>", to);
    for (size_t got; from && (got = fread(buffer, 1, sizeof buffer, from)) > 0;)
        put_text(buffer, got, to);
    fputs("</pre>\n", to);
}

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    FILE *table = tmpfile(), *config = open_file(w->folder, "config.json");
    const bool complete = table != NULL;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          to);
    put_words(w->report->title, to);
    fputs("</title>\n<style>body{font:16px/1.5 sans-serif;max-width:960px;margin:2em auto;padding:0 1em}"
          "pre{overflow-x:auto;background:#f4f4f4;padding:1em;font-size:13px}img{max-width:100%;height:auto;display:block;margin:1em 0}</style>\n"
          "</head><body>\n<h1>",
          to);
    put_words(w->report->title, to);
    fputs("</h1>\n<pre>", to);
    put_words(w->report->about, to);
    fputs("</pre>\n<h2>Results</h2>\n", to);
    if (table) {
        runlog_print_table(w->report->log, table);
        rewind(table);
    }
    put_stream(table, to);
    put_pictures(w->folder, to);
    fputs("<h2>To repeat it</h2>\n<pre>", to);
    put_words(w->report->command, to);
    fputs("</pre>\n<h2>All options</h2>\n", to);
    put_stream(config, to);
    fputs("</body></html>\n", to);
    if (table)
        fclose(table);
    if (config)
        fclose(config);
    return complete;
}

bool report_write(const char *folder, const report *r, char message[FILES_MESSAGE])
{
    return files_write(folder, "report.html", write_html, &(writing){folder, r}, message);
}
