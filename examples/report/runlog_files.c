/* The files of a run log. */
#include "examples/report/files.h"
#include "examples/report/runlog_internal.h"

static bool write_config(const runlog *log, FILE *to)
{
    int failed = json_dumpf(log->options, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)); /* 0.1 stays 0.1 */
    fputc('\n', to);
    return !failed || ferror(to); /* the caller checks the stream */
}

void runlog_print_options(const void *log, FILE *to)
{
    write_config(log, to);
}

enum { A_SEARCH = -1 };

static const struct file {
    const char *name;
    bool (*write)(const runlog *log, FILE *to);
    bool at_best; /* in a search, only of each activation's best point */
    int needs;    /* the data that the file needs: a series, counted from 1, or a search; 0: none */
} files[] = {
    {"curves.csv", runlog_write_curves},
    {"bands.csv", runlog_write_bands, true},
    {"summary.csv", runlog_write_summary, true},
    {"steps.csv", runlog_write_steps, true, RUNLOG_STEPS + 1},
    {"confusion.csv", runlog_write_confusion, true, RUNLOG_CONFUSION + 1},
    {"noise.csv", runlog_write_noise, true, RUNLOG_NOISE + 1},
    {"surface.csv", runlog_write_surface, true, RUNLOG_SURFACE + 1},
    {"points.csv", runlog_write_points, true, RUNLOG_POINTS + 1},
    {"search.csv", runlog_write_search, false, A_SEARCH},
    {"config.json", write_config},
};
enum { FILES = sizeof files / sizeof files[0] };

bool runlog_check_directory(const char *directory, tg_error *error)
{
    bool possible = files_check_folder(directory, error);
    for (int i = 0; i < FILES && possible; i++)
        possible = files_check_name(directory, files[i].name, error);
    return possible;
}

typedef struct writing {
    const runlog *log;
    const struct file *file;
} writing;

static bool write_one(const void *context, FILE *to)
{
    const writing *w = context;
    return w->file->write(w->log, to);
}

static bool is_wanted(const runlog *log, const struct file *file)
{
    return file->needs == 0 ||
           (file->needs == A_SEARCH ? runlog_is_search(log) : runlog_has_series(log, (runlog_series)(file->needs - 1)));
}

bool runlog_write(const runlog *log, tg_error *error)
{
    runlog *best = log && !log->lost ? runlog_at_best(log, false) : NULL;
    if (!best) {
        return tg_fail(error, "the results are not written: out of memory while collecting them");
    }
    bool written = files_make_folder(log->directory, error);
    for (int i = 0; i < FILES && written; i++) {
        if (!is_wanted(log, &files[i]))
            files_remove(log->directory, files[i].name); /* from an earlier comparison */
        else
            written = files_write(log->directory, files[i].name, write_one,
                                  &(writing){files[i].at_best ? best : log, &files[i]}, error);
    }
    runlog_free(best);
    return written;
}
