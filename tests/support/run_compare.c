#include "tests/support/run_compare.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *compare_build(void)
{
    const char *folder = getenv("TG_BUILD");
    return folder ? folder : "build";
}

int compare_run(const char *arguments, char *errors, size_t size)
{
    char command[2000];
    snprintf(command, sizeof command, "%s/bin/compare %s 2>&1 >/dev/null </dev/null", compare_build(), arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = fread(errors, 1, size - 1, pipe);
    errors[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *rows_without_seconds(const char *folder)
{
    char path[400], line[400], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/curves.csv", folder);
    FILE *file = fopen(path, "r"), *rows = open_memstream(&text, &size);
    ck_assert_msg(file && rows, "no %s", path);
    while (fgets(line, sizeof line, file))
        fprintf(rows, "%.*s\n", (int)(strrchr(line, ',') - line), line);
    fclose(file);
    fclose(rows);
    return text;
}
