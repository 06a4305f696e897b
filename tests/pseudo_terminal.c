#include "tests/pseudo_terminal.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

char *terminal_output(int columns, void (*print)(FILE *out, const void *context), const void *context)
{
    static char text[1 << 14];
    int main_side = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(main_side >= 0 && grantpt(main_side) == 0 && unlockpt(main_side) == 0);
    FILE *out = columns ? fopen(ptsname(main_side), "w") : tmpfile();
    ck_assert_ptr_nonnull(out);
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    if (columns)
        ck_assert_int_eq(
            ioctl(fileno(out), TIOCSWINSZ, &(struct winsize){.ws_row = 40, .ws_col = (unsigned short)columns}), 0);
    print(out, context);
    size_t length = 0;
    if (!columns) {
        rewind(out);
        length = fread(text, 1, sizeof text - 1, out);
    }
    fclose(out); /* after which the other side of a terminal ends */
    for (ssize_t got = 1; columns && got > 0; length += got > 0 ? (size_t)got : 0)
        got = read(main_side, text + length, sizeof text - 1 - length);
    text[length] = '\0';
    close(main_side);
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != '\r')
            *to++ = *from;
    *to = '\0';
    return text;
}
