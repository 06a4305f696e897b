/* Repeats published experiments and measures claims: each study is a command that runs unattended, continues where it
 * was interrupted, and writes a report. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/report/files.h"
#include "examples/programs/run/options.h"
#include "examples/programs/study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STUDY(name) &study_##name,
static const study *const studies[] = {STUDIES};
enum { COUNT = sizeof studies / sizeof *studies };

#define AT(member) offsetof(study_settings, member)

static const program_option table[] = {
    {"quick", NULL, "synthetic data, small networks, few epochs: a test that takes seconds", OPTION_FLAG, AT(quick)},
    SWEEP_OPTIONS(AT(sweep)),
    {"out", "DIR",
     "parent of the studies' folders, which have runs.csv, report.html, report.md, pictures, and the runs", OPTION_TEXT,
     AT(out)},
    {"data", "DIR", "folder that has mnist/ (the four files), optdigits/, tinyshakespeare/input.txt and perldiag.pod",
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

static void list_studies(const void *heading, FILE *to)
{
    fprintf(to, "%s:\n", (const char *)heading);
    for (int i = 0; i < COUNT; i++)
        fprintf(to, "  %-18s %s\n", studies[i]->name, studies[i]->about);
    fprintf(to, "  %-18s %s\n", "all", "all of them, one after the other");
}

static const study *find_study(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(studies[i]->name, name) == 0)
            return studies[i];
    return NULL;
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

/* Runs the chosen study, or all; returns the exit status. */
static int run(const study *chosen, study_settings *s, const char *command)
{
    static study_context c;
    tg_error error;
    int status = 0;
    if (!sweep_prepare(&s->sweep, &error))
        return study_refuse(error.text, 2);
    if (!command || strlen(s->out) > STUDY_OUT)
        return study_refuse(command ? "--out: the name is too long" : "out of memory", 2);
    for (int i = 0; i < COUNT && !status; i++) {
        if (chosen && chosen != studies[i])
            continue;
        c = study_context_of(s, studies[i]->name, command);
        status = files_check_folder(c.folder, &error) ? study_do(studies[i], &c)
                                                      : (terminal_say("study", "--out", error.text), 2);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char usage[] = "Studies, to be run as `study NAME`; more with --help";
    static char program[] = "build/bin/study";
    study_settings s = {.out = "results/studies", .data = "data"};
    const bool named = argc > 1 && argv[1][0] != '-';
    const study *chosen = named ? find_study(argv[1]) : NULL;
    if (named && !chosen && strcmp(argv[1], "all") != 0) {
        fprintf(stderr, "study: there is no study '%s'\n", plain(argv[1]));
        list_studies(usage, stderr);
        return 2;
    }
    char *const own = argv[0];
    argv[0] = program;
    char *command = named ? options_command(argv) : NULL;
    argv[named] = own;
    int status = argc > 1 ? 2 : 0;
    if (!read_options(argc - named, argv + named, &s))
        status = 2;
    else if (named)
        status = run(chosen, &s, command);
    else
        list_studies(usage, argc > 1 ? stderr : stdout);
    free(command);
    return status;
}
