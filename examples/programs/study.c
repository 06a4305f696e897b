/* Repeats published experiments and measures claims: each study is a file, and a command that runs unattended,
 * continues where it was interrupted, and writes a report. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/shared.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/posix.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(study_settings, member)

static const program_option table[] = {
    {"quick", NULL, "synthetic data, small networks, few epochs: a test that takes seconds", OPTION_FLAG, AT(quick)},
    SWEEP_OPTIONS(AT(sweep)),
    {"out", "DIR",
     "parent of the studies' folders, which have runs.csv, report.html, report.md, pictures, and the runs", OPTION_TEXT,
     AT(out)},
    {"data", "DIR",
     "folder of the data, to which the paths in a study's file are relative: mnist/ (the four files), optdigits/, "
     "tinyshakespeare/input.txt and perldiag.pod",
     OPTION_TEXT, AT(data)},
    {"epochs", "N",
     "number of epochs in place of the protocol's; finished runs are extended, never shortened; 0: the protocol's",
     OPTION_INT, AT(epochs), 0, 100000},
    {"only", "PATTERN",
     "train only runs whose names match this shell pattern: '*-seed1', 'relu*lr0.001*'; the report covers all finished "
     "runs",
     OPTION_TEXT, AT(only)},
    {"overwrite", NULL, "retrain runs that the folder has with other settings", OPTION_FLAG, AT(overwrite)},
    {"report-only", NULL, "train nothing; report the runs in runs.csv of the study's folder", OPTION_FLAG,
     AT(report_only)},
    {"no-plots", NULL, "draw nothing; a report then has no pictures", OPTION_FLAG, AT(no_plots)},
    {0}};

/* ---- the files ---- */

static const char ending[] = ".json";

static bool has_ending(const char *name)
{
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static int is_study(const struct dirent *entry)
{
    return has_ending(entry->d_name);
}

/* The folder of the studies that come with the program; empty if it is not there. */
static const char *library(void)
{
    static char folder[PATH_MAX];
    if (!folder[0] && !shared_find("studies", "forms.report", folder))
        folder[0] = '\0';
    return folder;
}

/* Calls `with` for each of these studies, in the order of their names, until it returns something else than 0. */
static int each_study(int (*with)(const char *path, void *context), void *context)
{
    struct dirent **entries = NULL;
    const int count = scandir(library(), &entries, is_study, alphasort);
    int result = 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (!result && snprintf(path, sizeof path, "%s/%s", library(), entries[i]->d_name) < PATH_MAX)
            result = with(path, context);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int list_one(const char *path, void *to)
{
    json_t *file = json_load_file(path, 0, NULL);
    const char *name = strrchr(path, '/') + 1, *about = study_text(file, "about");
    fprintf(to, "  %-18.*s %s\n", (int)(strlen(name) - strlen(ending)), name, about ? about : "");
    json_decref(file);
    return 0;
}

static void list_studies(const void *heading, FILE *to)
{
    fprintf(to, "%s:\n", (const char *)heading);
    each_study(list_one, to);
    fprintf(to, "  %-18s %s\n  %-18s %s\n", "all", "all of them, one after the other", "FILE.json",
            "one of your own (docs/studies.md)");
}

/* The file of a name, which is its path, or that of a study that comes with the program; NULL if there is none. */
static const char *find_study(const char *name, char path[PATH_MAX])
{
    const int length = has_ending(name) ? snprintf(path, PATH_MAX, "%s", name)
                                        : snprintf(path, PATH_MAX, "%s/%s%s", library(), name, ending);
    return length < PATH_MAX && access(path, R_OK) == 0 ? path : NULL;
}

/* ---- the program ---- */

typedef struct order {
    study_settings *settings;
    const char *command;
} order;

/* Trains what is missing, and writes and prints the report; the exit status. */
static int run(const char *path, void *context)
{
    static study s;
    const order *o = context;
    tg_error error = {0};
    s = (study){.settings = o->settings, .command = o->command, .library = library(), .drawn = PLOTS_NOTHING};
    const char *option = NULL;
    int status = study_read(&s, path, &error) ? 0 : 2;
    if (!status && !files_check_folder(s.folder, &error)) {
        option = "--out";
        status = 2;
    }
    status = status ? status : study_work(&s, &error);
    if (!status && !study_report(&s, &error))
        status = 1;
    if (status)
        terminal_say("study", option, error.text);
    if (s.outcome.interrupted)
        fputs("interrupted: the same command goes on\n", stderr);
    const bool failed = s.drawn == PLOTS_FAILED || s.outcome.failed > 0;
    status = s.outcome.interrupted || s.drawn == PLOTS_INTERRUPTED ? signals_status() : status ? status : failed;
    study_free(&s);
    return status;
}

/* Reads the options after the study's name; false, with a message, if one has no effect. */
static bool read_options(int argc, char **argv, study_settings *s)
{
    static const char *const of_training[] = {"only", "jobs", "part", NULL};
    const options_program program = {.name = "study",
                                     .about = "study NAME [OPTION...]: repeats published experiments and settles "
                                              "claims by measurement. Each finished run is a record in the "
                                              "folder: the same command continues where it was interrupted.",
                                     .table = table,
                                     .after = files_text(list_studies, "Studies"),
                                     .given_offset = offsetof(study_settings, given)};
    options_parse(&program, argc, argv, s);
    const char *idle = s->report_only ? options_first(&s->given, of_training) : NULL;
    if (idle)
        return fprintf(stderr, "study: --%s: with --report-only nothing is trained\n", idle), false;
    if (s->quick && options_has(&s->given, "data"))
        return fprintf(stderr, "study: --data: a quick study uses synthetic data\n"), false;
    return true;
}

int main(int argc, char **argv)
{
    static const char usage[] = "Studies, to be run as `study NAME`; more with --help";
    static char program[] = "build/bin/study";
    tg_error error;
    char path[PATH_MAX];
    study_settings s = {.out = "results/studies", .data = "data"};
    const bool named = argc > 1 && argv[1][0] != '-', each = named && strcmp(argv[1], "all") == 0;
    if (named && !each && !find_study(argv[1], path)) {
        fprintf(stderr, "study: there is no study '%s'\n", plain(argv[1]));
        list_studies(usage, stderr);
        return 2;
    }
    char *const own = argv[0];
    argv[0] = program;
    order o = {.settings = &s, .command = named ? options_command(argv) : NULL};
    argv[named] = own;
    int status = argc > 1 ? 2 : 0;
    if (!read_options(argc - named, argv + named, &s))
        status = 2;
    else if (!named)
        list_studies(usage, argc > 1 ? stderr : stdout);
    else if (!sweep_prepare(&s.sweep, &error) || strlen(s.out) > PATH_MAX - 4 * NAME_MAX)
        terminal_say("study", NULL, s.sweep.at_once ? "--out: the name is too long" : error.text);
    else
        status = each ? each_study(run, &o) : run(path, &o);
    free((char *)o.command);
    return status;
}
