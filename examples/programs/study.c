/* Repeats published experiments and measures claims: each study is a file, and a command that runs unattended,
 * continues where it was interrupted, and writes a report. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/posix.h"

#define AT(member) offsetof(study_settings, member)

static const program_option table[] = {
    {"quick", NULL, "synthetic data, small networks, few epochs: a test that takes seconds", OPTION_FLAG, AT(quick)},
    SWEEP_OPTIONS(AT(sweep)),
    {"out", "DIR", "parent of the studies' folders of results", OPTION_TEXT, AT(out)},
    {"data", "DIR", "folder of the data: mnist/, optdigits/, tinyshakespeare/input.txt, perldiag.pod", OPTION_TEXT,
     AT(data)},
    {"epochs", "N", "epochs in place of the protocol's; finished runs are extended, never shortened", OPTION_INT,
     AT(epochs), 0, 100000},
    {"only", "PATTERN", "train only runs whose names match this shell pattern: '*-seed1'", OPTION_TEXT, AT(only)},
    {"overwrite", NULL, "retrain runs that the folder has with other settings", OPTION_FLAG, AT(overwrite)},
    {"report-only", NULL, "train nothing; report the runs in runs.csv", OPTION_FLAG, AT(report_only)},
    {"no-plots", NULL, "draw nothing; a report then has no pictures", OPTION_FLAG, AT(no_plots)},
    {0}};

static const char usage[] = "Studies, to be run as `study NAME`; more with --help";

/* ---- the files ---- */

/* The folder of the studies that come with the program; empty if it is not there. */
static const char *library(void)
{
    static char folder[PATH_MAX];
    if (!folder[0] && !shared_find("studies", "forms.report", folder))
        folder[0] = '\0';
    return folder;
}

static bool has_ending(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static int is_study(const struct dirent *entry)
{
    return has_ending(entry->d_name);
}

/* Calls `with` for each of these studies, in the order of their names, until it returns something else than 0. */
static int each_study(int (*with)(const char *path, void *context), void *context)
{
    struct dirent **entries = NULL;
    const int count = scandir(library(), &entries, is_study, alphasort);
    int result = 0;
    for (int i = 0; i < count; i++) {
        char *path = memory_text("%s/%s", library(), entries[i]->d_name);
        result = result ? result : with(path, context);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int list_one(const char *path, void *to)
{
    json_t *file = json_load_file(path, 0, NULL);
    const char *name = strrchr(path, '/') + 1, *about = study_text(file, "about");
    fprintf(to, "  %-24.*s %s\n", (int)(strlen(name) - 5), name, about ? about : "");
    json_decref(file);
    return 0;
}

static void list_studies(const void *heading, FILE *to)
{
    fprintf(to, "%s:\n", (const char *)heading);
    each_study(list_one, to);
    fprintf(to, "  %-24s %s\n  %-24s %s\n", "all", "all of them, one after the other", "FILE.json",
            "one of your own (docs/studies.md)");
}

/* ---- the program ---- */

/* Trains what is missing, and writes and prints the report; the exit status. */
static int run(const char *path, void *settings)
{
    static study s;
    tg_error error = {0};
    s = (study){.settings = settings, .reports = library(), .drawn = PLOTS_NOTHING};
    int status = study_read(&s, path, &error) ? 0 : 2;
    if (!status && !files_check_folder(s.folder, &error))
        status = (tg_fail(&error, "--out: %s", error.text), 2);
    status = status ? status : study_work(&s, &error);
    status = status ? status : !study_report(&s, &error);
    if (status)
        terminal_say("study", NULL, error.text);
    if (s.outcome.interrupted)
        fputs("interrupted: the same command goes on\n", stderr);
    if (s.outcome.interrupted || s.drawn == PLOTS_INTERRUPTED)
        status = signals_status();
    else if (!status)
        status = s.drawn == PLOTS_FAILED || s.outcome.failed > 0;
    study_free(&s);
    return status;
}

/* Runs the study of a name, which is its path, or that of one that comes with the program, or "all". */
static int run_named(const char *name, study_settings *s)
{
    if (strcmp(name, "all") == 0)
        return each_study(run, s);
    char *path = has_ending(name) ? memory_text("%s", name) : memory_text("%s/%s.json", library(), name);
    const bool there = access(path, R_OK) == 0;
    const int status = there ? run(path, s) : 2;
    if (!there) {
        fprintf(stderr, "study: there is no study '%s'\n", plain(name));
        list_studies(usage, stderr);
    }
    free(path);
    return status;
}

/* Checks the options; false, with a message, if one has no effect. */
static bool check(study_settings *s)
{
    static const char *const of_training[] = {"only", "jobs", "part", NULL};
    const char *idle = s->report_only ? options_first(&s->given, of_training) : NULL;
    tg_error error;
    if (idle)
        return fprintf(stderr, "study: --%s: with --report-only nothing is trained\n", idle), false;
    if (s->quick && options_has(&s->given, "data"))
        return fprintf(stderr, "study: --data: a quick study uses synthetic data\n"), false;
    if (!sweep_prepare(&s->sweep, &error))
        return terminal_say("study", NULL, error.text), false;
    return strlen(s->out) < PATH_MAX - 4 * NAME_MAX || (terminal_say("study", "--out", "the name is too long"), false);
}

int main(int argc, char **argv)
{
    static char *studies; /* read as long as the program runs */
    studies = files_text(list_studies, "Studies");
    static char called[] = "build/bin/study";
    study_settings s = {.out = "results/studies", .data = "data"};
    const options_program program = {.name = "study",
                                     .about = "Repeats published experiments and settles claims by measurement. Each "
                                              "finished run is a record in the folder: the same command continues "
                                              "where it was interrupted.",
                                     .table = table,
                                     .after = studies,
                                     .words = "[NAME...]",
                                     .words_offset = AT(names),
                                     .given_offset = AT(given)};
    char *const own = argv[0];
    argv[0] = called; /* a report names the same command wherever the program lies */
    s.command = options_command(argv);
    argv[0] = own;
    options_parse(&program, argc, argv, &s);
    int status = check(&s) ? 0 : 2;
    for (int i = 0; s.names && s.names[i] && !status; i++)
        status = run_named(s.names[i], &s);
    if (!s.names && argc > 1)
        status = 2;
    if (!s.names)
        list_studies(usage, status ? stderr : stdout);
    free((char *)s.command);
    return status;
}
