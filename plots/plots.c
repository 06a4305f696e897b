#include "plots/plots.h"
#include "examples/lab/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- finding the scripts ------------------------------------------------------------------------------------ */

static bool is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

/* Looks in the folder of the program and those above it, then in the current one. */
static bool find_scripts(char folder[PATH_MAX])
{
    static const char *const places[] = {"plots", "share/tapegrad/plots"};
    char program[PATH_MAX - 64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    for (char *slash = strrchr(program, '/'); slash; slash = strrchr(program, '/')) {
        *slash = '\0';
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            snprintf(folder, PATH_MAX, "%s/%s", program, places[i]);
            if (is_file(folder, "style.gp"))
                return true;
        }
    }
    strcpy(folder, "plots");
    return is_file(folder, "style.gp");
}

/* ---- running gnuplot ---------------------------------------------------------------------------------------- */

/* Appends name='text'; to a command of gnuplot, in whose quotes a quote is written twice. */
static void set_text(FILE *command, const char *name, const char *text)
{
    fprintf(command, "%s='", name);
    for (; *text; text++)
        fprintf(command, *text == '\'' ? "''" : "%c", *text == '\n' ? ' ' : *text);
    fputs("'; ", command);
}

/* The last line of a file that says something, as gnuplot ends its complaints with what they are about. */
static void last_line(FILE *from, char line[PLOTS_MESSAGE])
{
    char text[PLOTS_MESSAGE];
    line[0] = '\0';
    rewind(from);
    while (fgets(text, sizeof text, from)) {
        text[strcspn(text, "\n")] = '\0';
        if (text[strspn(text, " \t^")])
            strcpy(line, text + strspn(text, " \t"));
    }
}

/* Runs `gnuplot -e command folder/script` with its output going to two files; the reason of a failure goes to `message`. */
static bool run_gnuplot(const char *folder, const char *script, char *command, FILE *output, FILE *errors,
                        char message[PLOTS_MESSAGE])
{
    char path[PATH_MAX + 64], gnuplot[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    snprintf(path, sizeof path, "%s/%s", folder, script);
    char *const arguments[] = {gnuplot, defaults, execute, command, path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(errors), STDERR_FILENO);
    int failure = posix_spawnp(&pid, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure) {
        snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: cannot run gnuplot: %s%s", strerror(failure),
                 failure == ENOENT ? " (Debian's package is gnuplot-nox)" : "");
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    char reason[PLOTS_MESSAGE];
    last_line(errors, reason);
    snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: gnuplot failed: %.300s",
             reason[0] ? reason : "it was stopped");
    return false;
}

/* Whether there is anything to draw: the second line of the bands. */
static bool has_curves(const char *directory, char message[PLOTS_MESSAGE])
{
    char path[PATH_MAX], line[1024];
    snprintf(path, sizeof path, "%s/bands.csv", directory);
    FILE *bands = fopen(path, "re");
    bool curves = bands && fgets(line, sizeof line, bands) && fgets(line, sizeof line, bands);
    if (!bands)
        snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: cannot read '%.300s': %s", path,
                 strerror(errno));
    else if (!curves)
        snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: no epoch was finished");
    if (bands)
        fclose(bands);
    return curves;
}

/* Runs a script on a folder with some settings, `output` taking what it prints. */
static bool run_script(const char *script, const char *settings, FILE *output, char message[PLOTS_MESSAGE])
{
    char folder[PATH_MAX];
    if (!find_scripts(folder)) {
        snprintf(message, PLOTS_MESSAGE,
                 "no pictures are drawn: cannot find the folder plots with gnuplot's scripts");
        return false;
    }
    char *command = strdup(settings);
    FILE *errors = tmpfile();
    bool run = command && errors;
    if (!run)
        snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: %s", strerror(errno));
    run = run && run_gnuplot(folder, script, command, output, errors, message);
    if (errors)
        fclose(errors);
    free(command);
    return run;
}

/* ---- pictures ----------------------------------------------------------------------------------------------- */

static const char *const pictures[] = {"loss.png", "loss.svg", "accuracy.png", "accuracy.svg"};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

/* Moves the finished pictures from one folder into the other, and removes there those that were not drawn. */
static bool take_over(const char *from, const char *to, char message[PLOTS_MESSAGE])
{
    bool well = true;
    for (int i = 0; i < PICTURES; i++) {
        char drawn[PATH_MAX + 64], final[PATH_MAX + 64];
        snprintf(drawn, sizeof drawn, "%s/%s", from, pictures[i]);
        snprintf(final, sizeof final, "%s/%s", to, pictures[i]);
        if (!is_file(from, pictures[i])) {
            unlink(final);
        } else if (rename(drawn, final) != 0) {
            snprintf(message, PLOTS_MESSAGE, "cannot write '%.300s': %s", final, strerror(errno));
            well = false;
        }
    }
    return well;
}

bool plots_draw(const char *directory, const char *title, char message[PLOTS_MESSAGE])
{
    char unfinished[PATH_MAX], *settings = NULL;
    size_t size = 0;
    if (!has_curves(directory, message))
        return false;
    snprintf(unfinished, sizeof unfinished, "%s/.pictures.XXXXXX", directory);
    FILE *command = open_memstream(&settings, &size), *output = tmpfile();
    bool ready = command && output && mkdtemp(unfinished);
    if (!ready)
        snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: cannot write into '%.300s': %s", directory,
                 strerror(errno));
    if (command) {
        set_text(command, "dir", directory);
        set_text(command, "out", unfinished);
        set_text(command, "title", title ? title : "");
        fclose(command);
    }
    bool drawn = ready && run_script("loss.gp", settings, output, message) &&
                 run_script("accuracy.gp", settings, output, message);
    if (drawn)
        drawn = take_over(unfinished, directory, message);
    if (ready) {
        char path[PATH_MAX + 64];
        for (int i = 0; i < PICTURES; i++) { /* what a script that failed has left */
            snprintf(path, sizeof path, "%s/%s", unfinished, pictures[i]);
            unlink(path);
        }
        rmdir(unfinished);
    }
    if (output)
        fclose(output);
    free(settings);
    return drawn;
}

bool plots_run(const char *script, const char *directory, char message[PLOTS_MESSAGE])
{
    char *settings = NULL;
    size_t size = 0;
    FILE *command = open_memstream(&settings, &size), *output = tmpfile();
    if (command) {
        set_text(command, "dir", directory);
        fclose(command);
    }
    bool drawn = command && output && run_script(script, settings, output, message);
    if (!command || !output)
        snprintf(message, PLOTS_MESSAGE, "no pictures are drawn: %s", strerror(errno));
    if (output)
        fclose(output);
    free(settings);
    return drawn;
}

/* ---- the terminal ------------------------------------------------------------------------------------------- */

/* Copies lines without the blanks at their ends, and without the form feeds that gnuplot puts between pictures. */
static void copy_lines(FILE *from, FILE *to)
{
    char line[8192];
    bool empty = true; /* the line before: of several empty ones, one is enough */
    rewind(from);
    while (fgets(line, sizeof line, from)) {
        size_t length = strlen(line);
        while (length > 0 && strchr(" \f\n", line[length - 1]))
            length--;
        const char *begin = line + strspn(line, "\f");
        if (length > 0 || !empty)
            fprintf(to, "%.*s\n", length > 0 ? (int)(line + length - begin) : 0, begin);
        empty = length == 0;
    }
}

bool plots_show(const char *directory, FILE *out)
{
    char message[PLOTS_MESSAGE], *settings = NULL;
    size_t size = 0;
    terminal screen = terminal_of(out);
    int half = screen.rows / 2, rows = !screen.live || half > 20 ? 20 : half < 14 ? 14 : half;
    FILE *output = has_curves(directory, message) ? tmpfile() : NULL;
    FILE *command = output ? open_memstream(&settings, &size) : NULL;
    if (command) {
        set_text(command, "dir", directory);
        fprintf(command, "columns=%d; rows=%d; colour=%d", screen.columns < 120 ? screen.columns - 1 : 119,
                rows, screen.colour);
        fclose(command);
    }
    bool drawn = command && run_script("terminal.gp", settings, output, message);
    if (drawn)
        copy_lines(output, out);
    if (output)
        fclose(output);
    free(settings);
    return drawn;
}
