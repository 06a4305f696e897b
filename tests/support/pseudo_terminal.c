#include "tests/support/pseudo_terminal.h"

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int descriptor = -1; /* descriptor of the file that stands in for a terminal */
static struct winsize size;

/* The linker redirects calls of isatty and ioctl to these: Makefile. */
int __real_isatty(int file);
int __wrap_isatty(int file);
int __wrap_ioctl(int file, unsigned long request, ...);

int __wrap_isatty(int file)
{
    return file == descriptor || __real_isatty(file);
}

/* The code under test makes no other request in this process. */
int __wrap_ioctl(int file, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    struct winsize *to = va_arg(arguments, struct winsize *);
    va_end(arguments);
    ck_assert(request == TIOCGWINSZ && file == descriptor);
    *to = size;
    return 0;
}

char *terminal_output(int columns, int rows, void (*print)(FILE *out, const void *context), const void *context)
{
    static char text[1 << 16];
    FILE *out = tmpfile();
    ck_assert_ptr_nonnull(out);
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    descriptor = columns ? fileno(out) : -1;
    size = (struct winsize){.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    print(out, context);
    descriptor = -1;
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != '\r')
            *to++ = *from;
    *to = '\0';
    return text;
}
