#include "examples/programs/report/html.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"

void html_letters(FILE *to, const char *text, size_t length)
{
    static const char *const as[256] = {['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    char *clean = memory_text("%.*s", (int)length, text);
    for (const char *letter = plain_lines(clean); *letter; letter++)
        if (as[(unsigned char)*letter])
            fputs(as[(unsigned char)*letter], to);
        else
            fputc(*letter, to);
    free(clean);
}

void html_text(FILE *to, const char *text)
{
    html_letters(to, text, strlen(text));
}

void html_print(FILE *to, const char *html, ...)
{
    va_list arguments;
    va_start(arguments, html);
    for (const char *next; (next = strstr(html, "%s")) != NULL; html = next + 2) {
        fwrite(html, 1, (size_t)(next - html), to);
        html_text(to, va_arg(arguments, const char *));
    }
    fputs(html, to);
    va_end(arguments);
}

void html_element(FILE *to, const char *tag, const char *text)
{
    fprintf(to, "<%s>", tag);
    html_text(to, text);
    fprintf(to, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* For screens from 320 pixels, light and dark; pictures keep their white background. */
static const char usual[] =
    ":root{color-scheme:light dark;--ink:#222;--soft:#f4f4f4;--line:#ddd;--rule:#888;--mark:#0072b2}"
    "@media(prefers-color-scheme:dark){:root{--ink:#ddd;--soft:#262626;--line:#444;--rule:#999;--mark:#56b4e9}"
    "body{background:#161616}}"
    "body{font:16px/1.5 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:var(--ink)}"
    "h1{font-size:1.6em;overflow-wrap:anywhere}h2{font-size:1.2em;margin-top:2em}p{margin:.5em 0}"
    "pre{overflow-x:auto;background:var(--soft);padding:1em;font-size:13px}"
    "pre.words{white-space:pre-wrap;overflow-wrap:anywhere}"
    ".wide{overflow-x:auto;margin:1em 0}"
    "img{width:100%;max-width:900px;height:auto;display:block;background:#fff}"
    "table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;font-weight:bold;padding:.3em 0}"
    "th,td{padding:.2em .7em;text-align:left;border-bottom:1px solid var(--line)}"
    "th{border-bottom:2px solid var(--rule)}.n{text-align:right;white-space:nowrap}"
    ".good{font-weight:bold;color:#009e73}.bad{font-weight:bold;color:#d55e00}"
    ".note{font-size:14px;opacity:.85}.verdict{border-left:4px solid var(--mark);padding-left:1em}"
    ".chart{margin:1em 0;max-width:900px}.chart svg{width:100%;height:auto}.chart text{font-size:12px;fill:var(--ink)}"
    "figcaption{font-weight:bold}"
    ".many{display:flex;flex-wrap:wrap;gap:0 3em}.many .wide{max-width:100%}"
    "@media(max-width:600px){body{margin:1em auto;padding:0 .6em}th,td{padding:.2em .4em}.chart text{font-size:20px}}";

void html_begin(FILE *to, const char *title, const char *style, bool running)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n",
          to);
    html_element(to, "title", title);
    fputs(running ? "<meta http-equiv=\"refresh\" content=\"5\">\n" : "", to);
    fprintf(to, "<style>%s%s</style>\n</head><body>\n", usual, style ? style : "");
    html_element(to, "h1", title);
    if (running)
        html_element(to, "p class=\"note\"", "Still running: this page loads itself again every five seconds.");
}

void html_end(FILE *to)
{
    fputs("</body></html>\n", to);
}

/* Writes a file as base64 (RFC 4648): three bytes as four characters. */
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

bool html_picture(FILE *to, const char *folder, const char *file, const char *says)
{
    tg_error unread;
    FILE *from = files_read(folder, file, &unread);
    if (!from)
        return !unread.text[0];
    html_print(to, "<div class=\"wide\"><img alt=\"%s\" src=\"data:image/svg+xml;base64,", says);
    put_base64(from, to);
    fputs("\"></div>\n", to);
    return files_end_reading(from, folder, file, &unread);
}
