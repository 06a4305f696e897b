#include "plots/plots.h"
#include "examples/data/words.h"
#include "examples/report/files.h"
#include "examples/run/signals.h"
#include "examples/report/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- finding the scripts ---- */

static bool is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode) && status.st_size > 0;
}

static bool find_above_the_program(char folder[PATH_MAX])
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
    return false;
}

/* Finds a file in a list of data folders separated by colons. */
static bool find_in_data(const char *folders, const char *below, char folder[PATH_MAX])
{
    for (; folders && *folders; folders += strspn(folders, ":")) {
        const int length = (int)strcspn(folders, ":");
        if (snprintf(folder, PATH_MAX, "%.*s%s/tapegrad/plots", length, folders, below) < PATH_MAX &&
            is_file(folder, "style.gp"))
            return true;
        folders += length;
    }
    return false;
}

/* A program that was moved alone searches the data folders of the XDG Base Directory Specification. */
static bool find_scripts(char folder[PATH_MAX])
{
    const char *home = getenv("XDG_DATA_HOME"), *shared = getenv("XDG_DATA_DIRS");
    if (find_above_the_program(folder) || find_in_data(home, "", folder) ||
        find_in_data(getenv("HOME"), "/.local/share", folder) ||
        find_in_data(shared && *shared ? shared : "/usr/local/share:/usr/share", "", folder))
        return true;
    strcpy(folder, "plots");
    return is_file(folder, "style.gp");
}

/* ---- commands for gnuplot, and its messages ---- */

/* Appends name='text'; to a command of gnuplot, in whose quotes a quote is written twice. */
static void set_text(FILE *command, const char *name, const char *text)
{
    fprintf(command, "%s='", name);
    for (; *text; text++)
        fprintf(command, *text == '\'' ? "''" : "%c", *text == '\n' ? ' ' : plain_letter(*text));
    fputs("'; ", command);
}

/* Sets a path so that gnuplot cannot take it for a command ("|touch x", "< touch x"), a user's home ("~x") or a data
 * block ("$x"). */
static void set_path(FILE *command, const char *name, const char *path)
{
    fprintf(command, "%s='%s", name, *path == '/' ? "" : "./");
    for (; *path; path++)
        fprintf(command, *path == '\'' ? "''" : *path == '\n' ? "'.\"\\n\".'" : "%c", *path);
    fputs("'; ", command);
}

/* Passes the look to the scripts. Class names are class_1, class_2, ... */
static void set_look(FILE *command, const plots_look *look)
{
    set_text(command, "title", look->title ? look->title : "");
    set_text(command, "scale", look->scale ? look->scale : "auto");
    fprintf(command, "seed_lines=%d; ", look->seed_lines);
    if (look->searched)
        set_text(command, "searched", look->searched);
    if (look->searched && look->searched_words)
        set_text(command, "searched_words", look->searched_words);
    for (size_t i = 0; i < look->classes && i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "class_%zu", i + 1);
        set_text(command, name, look->class_names[i]);
    }
    if (look->feature_names) {
        set_text(command, "x_name", look->feature_names[0]);
        set_text(command, "y_name", look->feature_names[1]);
    }
}

enum { LINE = 512 };

/* The last line of a file that is not empty, as gnuplot ends its messages with the cause. */
static void last_line(FILE *from, char line[LINE])
{
    char text[LINE];
    line[0] = '\0';
    rewind(from);
    while (fgets(text, sizeof text, from)) {
        text[strcspn(text, "\n")] = '\0';
        if (text[strspn(text, " \t^")])
            strcpy(line, text + strspn(text, " \t"));
    }
}

/* ---- signals ---- */

static volatile sig_atomic_t gnuplot; /* the process that draws */

static void end_gnuplot(int signal)
{
    (void)signal;
    if (gnuplot > 0)
        kill((pid_t)gnuplot, SIGTERM);
}

/* ---- running gnuplot ---- */

/* Starts `gnuplot -e command script` with its output going to two files. */
static int start_gnuplot(char *script, char *command, FILE *output, FILE *errors, pid_t *pid)
{
    char name[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    char *const arguments[] = {name, defaults, execute, command, script, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(errors), STDERR_FILENO);
    const int failure = posix_spawnp(pid, name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* The time limit for gnuplot. */
static double patience(void)
{
    const char *said = getenv("TG_GNUPLOT_SECONDS");
    const double seconds = said ? strtod(said, NULL) : 0;
    return seconds > 0 ? seconds : 300;
}

/* Waits until it ends; after `seconds`, kills it and returns false. */
static bool wait_for_gnuplot(pid_t pid, int *status, double seconds)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    for (double waited = 0;; waited += 5e-3) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        if (waited >= seconds)
            break;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    return false;
}

static plots_outcome run_gnuplot(const char *folder, const char *script, char *command, FILE *output, FILE *errors,
                                 tg_error *error)
{
    char path[PATH_MAX + 64], reason[LINE];
    signals_before before;
    pid_t pid;
    int status = 0;
    bool ended = true;
    snprintf(path, sizeof path, "%s/%s", folder, script);
    gnuplot = 0;
    signals_catch(&before, end_gnuplot);
    const int failure = start_gnuplot(path, command, output, errors, &pid);
    if (!failure) {
        gnuplot = pid;
        if (signals_caught())
            kill(pid, SIGTERM);
        ended = wait_for_gnuplot(pid, &status, patience());
        gnuplot = 0;
    }
    const bool interrupted = signals_caught() || (!failure && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    signals_release(&before);
    if (interrupted)
        return tg_fail(error, "no pictures are drawn: interrupted"), PLOTS_INTERRUPTED;
    if (failure) {
        tg_fail(error, "no pictures are drawn: cannot run gnuplot: %s%s", strerror(failure),
                failure == ENOENT ? " (Debian's package is gnuplot-nox)" : "");
        return PLOTS_NOTHING;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PLOTS_DRAWN;
    if (!ended) {
        tg_fail(error, "no pictures are drawn: gnuplot was ended after %g seconds (TG_GNUPLOT_SECONDS gives it more)",
                patience());
        return PLOTS_FAILED;
    }
    last_line(errors, reason);
    tg_fail(error, "no pictures are drawn: gnuplot failed: %.300s", reason[0] ? reason : "it was stopped");
    return PLOTS_FAILED;
}

/* Reads the bands. PLOTS_DRAWN if there is something to draw, a second line; whether they have an accuracy, their last
 * three columns. */
static plots_outcome read_bands(const char *directory, bool *accuracy, tg_error *error)
{
    char path[PATH_MAX], line[1024] = "";
    int rows = 0;
    errno = snprintf(path, sizeof path, "%s/bands.csv", directory) < (int)sizeof path ? 0 : ENAMETOOLONG;
    FILE *bands = errno ? NULL : fopen(path, "re");
    for (*accuracy = false; bands && fgets(line, sizeof line, bands); rows++)
        *accuracy = *accuracy || (rows > 0 && !strstr(line, ",,,\n"));
    const int failure = !bands || ferror(bands) ? errno : 0;
    if (bands)
        fclose(bands);
    if (failure)
        tg_fail(error, "no pictures are drawn: cannot read '%.300s': %s", path, strerror(failure));
    else if (rows < 2)
        tg_fail(error, "no pictures are drawn: no epoch was finished");
    return failure && failure != ENOENT ? PLOTS_FAILED : failure || rows < 2 ? PLOTS_NOTHING : PLOTS_DRAWN;
}

/* Runs a script with some settings; what it prints goes to `output`. */
static plots_outcome run_script(const char *script, const char *settings, FILE *output, tg_error *error)
{
    char folder[PATH_MAX];
    if (!find_scripts(folder)) {
        tg_fail(error, "no pictures are drawn: cannot find the folder plots with gnuplot's scripts");
        return PLOTS_NOTHING;
    }
    char *command = strdup(settings);
    FILE *errors = tmpfile();
    plots_outcome outcome = PLOTS_FAILED;
    if (command && errors)
        outcome = run_gnuplot(folder, script, command, output, errors, error);
    else
        tg_fail(error, "no pictures are drawn: %s", strerror(errno));
    if (errors)
        fclose(errors);
    free(command);
    return outcome;
}

/* ---- pictures ---- */

static const char unfinished_prefix[] = ".pictures.";

/* Calls `act` on each file of a folder; stops, with false, when that returns false. */
static bool each_file(const char *folder, bool (*act)(const char *folder, const char *name, void *context),
                      void *context)
{
    DIR *opened = opendir(folder);
    bool well = true;
    for (const struct dirent *entry; well && opened && (entry = readdir(opened));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            well = act(folder, entry->d_name, context);
    if (opened)
        closedir(opened);
    return well;
}

/* Removes a folder with its files, but never follows a symbolic link: a results folder may contain someone else's. */
static void remove_folder(const char *folder)
{
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *opened = descriptor < 0 ? NULL : fdopendir(descriptor);
    for (const struct dirent *entry; opened && (entry = readdir(opened));)
        unlinkat(descriptor, entry->d_name, 0);
    if (opened)
        closedir(opened);
    else if (descriptor >= 0)
        close(descriptor);
    rmdir(folder);
}

/* Removes a folder left by a program that was killed while drawing; the program's process number is in the name. */
static bool remove_if_stale(const char *folder, const char *name, void *context)
{
    char path[PATH_MAX];
    const size_t length = sizeof unfinished_prefix - 1;
    (void)context;
    char none[] = "", *rest = none;
    const long owner = strncmp(name, unfinished_prefix, length) == 0 ? strtol(name + length, &rest, 10) : 0;
    const bool of_this_machine = strncmp(rest, files_machine(), strlen(files_machine())) == 0;
    if (owner > 0 && of_this_machine && kill((pid_t)owner, 0) != 0 && errno == ESRCH &&
        snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
        remove_folder(path);
    return true;
}

typedef struct transfer {
    const char *to;
    tg_error *error;
    int pictures;
} transfer;

/* True if a picture has the end of its file format: gnuplot does not report a full disk. */
static bool is_whole(const char *folder, const char *name, void *context)
{
    const transfer *t = context;
    char path[PATH_MAX], end[33] = "";
    const bool svg = strstr(name, ".svg") != NULL;
    FILE *file = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "re") : NULL;
    const bool read =
        file && fseek(file, -(long)(sizeof end - 1), SEEK_END) == 0 && fread(end, sizeof end - 1, 1, file) == 1;
    if (file)
        fclose(file);
    if (read && memmem(end, sizeof end - 1, svg ? "</svg>" : "IEND", svg ? 6 : 4))
        return true;
    return tg_fail(t->error, "no pictures are drawn: cannot write all of '%.300s/%.60s': is the disk full?", t->to,
                   name);
}

static bool move_file(const char *folder, const char *name, void *context)
{
    transfer *t = context;
    char from[PATH_MAX], to[PATH_MAX];
    if (snprintf(from, sizeof from, "%s/%s", folder, name) < (int)sizeof from &&
        snprintf(to, sizeof to, "%s/%s", t->to, name) < (int)sizeof to && rename(from, to) == 0)
        return t->pictures++, true;
    return tg_fail(t->error, "cannot write '%.300s/%.60s': %s", t->to, name, strerror(errno));
}

/* Runs scripts, ended by NULL, that draw into a folder of their own, and moves their pictures here. */
static plots_outcome draw(const char *const scripts[], const char *directory, const plots_look *look, tg_error *error)
{
    char unfinished[PATH_MAX], *settings = NULL;
    size_t size = 0;
    each_file(directory, remove_if_stale, NULL);
    snprintf(unfinished, sizeof unfinished, "%s/%s%ld%s.XXXXXX", directory, unfinished_prefix, (long)getpid(),
             files_machine());
    FILE *command = open_memstream(&settings, &size), *output = tmpfile();
    const bool ready = command && output && mkdtemp(unfinished);
    plots_outcome outcome = ready ? PLOTS_DRAWN : PLOTS_FAILED;
    if (!ready)
        tg_fail(error, "no pictures are drawn: cannot write into '%.300s': %s", directory, strerror(errno));
    if (command) {
        set_path(command, "dir", directory);
        set_path(command, "out", unfinished);
        fprintf(command, "steps_there=%d; ", is_file(directory, "steps.csv"));
        set_look(command, look);
        if (!files_close_memory(command, &settings) && outcome == PLOTS_DRAWN) {
            tg_fail(error, "no pictures are drawn: out of memory");
            outcome = PLOTS_FAILED;
        }
    }
    for (int i = 0; scripts[i] && outcome == PLOTS_DRAWN; i++)
        outcome = run_script(scripts[i], settings, output, error);
    transfer t = {.to = directory, .error = error};
    if (outcome == PLOTS_DRAWN && !(each_file(unfinished, is_whole, &t) && each_file(unfinished, move_file, &t)))
        outcome = PLOTS_FAILED;
    if (ready)
        remove_folder(unfinished);
    if (output)
        fclose(output);
    free(settings);
    return outcome;
}

plots_outcome plots_run(const char *script, const char *directory, tg_error *error)
{
    return draw((const char *const[]){script, NULL}, directory, &(plots_look){0}, error);
}

/* Removes pictures of a kind that earlier results have left. */
static void remove_pictures(const char *directory, const char *kind)
{
    static const char *const endings[] = {"png", "svg"};
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++)
        if (snprintf(path, sizeof path, "%s/%s.%s", directory, kind, endings[i]) < (int)sizeof path)
            unlink(path);
}

static bool is_drawn(const char *kind, const char *directory, const plots_look *look, bool accuracy)
{
    return strcmp(kind, "accuracy") == 0   ? accuracy
           : strcmp(kind, "search") == 0   ? look->searched != NULL
           : strcmp(kind, "steps") == 0    ? is_file(directory, "steps.csv")
           : strcmp(kind, "noise") == 0    ? is_file(directory, "noise.csv")
           : strcmp(kind, "boundary") == 0 ? is_file(directory, "surface.csv")
                                           : true;
}

static const char *const kinds[] = {"loss", "steps", "accuracy", "noise", "boundary", "search"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

void plots_list(const char *directory, FILE *out)
{
    char name[64];
    bool any = false;
    for (int i = 0; i < KINDS; i++) {
        snprintf(name, sizeof name, "%s.png", kinds[i]);
        if (!is_file(directory, name))
            continue;
        fprintf(out, "%s%s", any ? ", " : "", kinds[i]);
        any = true;
    }
    fputs(any ? ", as .png and .svg" : "", out);
}

plots_outcome plots_draw(const char *directory, const plots_look *look, tg_error *error)
{
    char names[KINDS][32];
    const char *scripts[KINDS + 1];
    int count = 0;
    bool accuracy;
    const plots_outcome found = read_bands(directory, &accuracy, error);
    if (found != PLOTS_DRAWN) {
        for (int i = 0; i < KINDS && found == PLOTS_NOTHING && is_file(directory, "bands.csv"); i++)
            remove_pictures(directory, kinds[i]); /* they show the curves of other results */
        return found;
    }
    for (int i = 0; i < KINDS; i++)
        if (is_drawn(kinds[i], directory, look, accuracy)) {
            snprintf(names[count], sizeof names[count], "%s.gp", kinds[i]);
            scripts[count] = names[count];
            count++;
        }
    scripts[count] = NULL;
    const plots_outcome outcome = draw(scripts, directory, look, error);
    for (int i = 0; i < KINDS && outcome == PLOTS_DRAWN; i++)
        if (!is_drawn(kinds[i], directory, look, accuracy))
            remove_pictures(directory, kinds[i]);
    return outcome;
}

/* ---- the terminal ---- */

/* Copies lines without trailing blanks, and without the form feeds that gnuplot puts between pictures. */
static void copy_lines(FILE *from, FILE *to)
{
    char line[8192];
    bool empty = true; /* the previous line: of several empty lines, one is kept */
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
    tg_error error;
    char *settings = NULL;
    size_t size = 0;
    terminal screen = terminal_of(out);
    int half = screen.rows / 2, rows = !screen.live || half > 20 ? 20 : half < 14 ? 14 : half;
    bool accuracy;
    FILE *output = read_bands(directory, &accuracy, &error) == PLOTS_DRAWN ? tmpfile() : NULL;
    FILE *command = output ? open_memstream(&settings, &size) : NULL;
    if (command) {
        set_path(command, "dir", directory);
        fprintf(command, "columns=%d; rows=%d; colour=%d", screen.columns < 120 ? screen.columns - 1 : 119, rows,
                screen.colour);
        files_close_memory(command, &settings);
    }
    bool drawn = settings && run_script("terminal.gp", settings, output, &error) == PLOTS_DRAWN;
    if (drawn)
        copy_lines(output, out);
    if (output)
        fclose(output);
    free(settings);
    return drawn;
}
