#include "examples/programs/run/paper.h"

#include "examples/programs/report/files.h"
#include "examples/programs/report/table.h"

static bool write_table(const void *context, FILE *to)
{
    const paper *p = context;
    fputs("\\begin{table}\n\\centering\n\\caption{", to);
    table_latex_text(to, p->title);
    fputs("}\n\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n", to);
    p->put(p->of, PAPER_TABLE, to);
    fputs("}\n\\par\\smallskip\\footnotesize\\raggedright\n", to);
    p->put(p->of, PAPER_NOTES, to);
    fputs("\\end{table}\n", to);
    return true;
}

static bool write_methods(const void *context, FILE *to)
{
    const paper *p = context;
    p->put(p->of, PAPER_METHODS, to);
    return true;
}

static const char *const files[] = {"table.tex", "methods.txt", "intervals.pdf", "ranks.pdf"};
enum { TEXTS = 2, FILES = sizeof files / sizeof *files };

/* Removes what an earlier call left, from file number `first` on. */
static void remove_from(const char *out, int first)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/paper", out);
    for (int i = first; i < FILES; i++)
        files_remove(folder, files[i]);
    plots_remove(folder);
}

void paper_remove(const char *out)
{
    remove_from(out, 0);
}

bool paper_has(const char *out, const char *path)
{
    char ours[PATH_MAX];
    bool has = false;
    for (int i = 0; i < FILES; i++) {
        snprintf(ours, sizeof ours, "%s/paper/%s", out, files[i]);
        has |= files_are_one(ours, path);
    }
    return has;
}

bool paper_write(const paper *p, tg_error *error)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/paper", p->out);
    if (!p->draws)
        remove_from(p->out, TEXTS);
    if (!files_make_folder(folder, error) || !files_write(folder, "table.tex", write_table, p, error) ||
        !files_write(folder, "methods.txt", write_methods, p, error))
        return false;
    const plots_outcome drawn = p->draws ? plots_paper(p->script, p->out, folder, &p->look, error) : PLOTS_NOTHING;
    return drawn == PLOTS_DRAWN || drawn == PLOTS_NOTHING;
}
