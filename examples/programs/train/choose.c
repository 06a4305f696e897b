#include "examples/programs/train/choose.h"

#include "examples/programs/report/files.h"
#include "examples/programs/run/pool.h"

/* Lists the runs of the search so far, without the pictures of a run that is compared. */
static void list(const choice *c, const experiment *e, pool *all)
{
    pool_free(all);
    *all = (pool){.folder = c->folder, .of_their_own = true, .overwrite = true, .measure = run_results};
    for (int number = 0; number < e->runs; number++)
        if (experiment_tries(e, number) && experiment_given(e, number).fold == c->spec->fold)
            pool_add(all, e, number, "");
    pool_look(all, &e->settings.sweep, NULL, NULL);
}

/* Trains what is missing; false if it did not end. */
static bool train(choice *c, pool *all, tg_error *error)
{
    const jobs_outcome outcome = pool_train(
        all,
        &(jobs_config){.at_once = all->run[0].of->settings.sweep.at_once, .out = stderr, .measured = "validation"});
    c->interrupted = outcome.interrupted;
    return outcome.refused       ? tg_fail(error, "%s", outcome.error.text)
           : outcome.interrupted ? tg_fail(error, "the search was interrupted; the same command continues")
           : outcome.failed      ? tg_fail(error, "the search: a run failed")
                                 : true;
}

/* The number of the run with the lowest validation loss. */
static int best_of(const choice *c, const pool *all)
{
    runlog *log = runlog_new(c->folder);
    pool_read(all, log);
    const int best = all->run[runlog_best_run(log, 0)].number;
    runlog_free(log);
    return best;
}

/* Searches; `lender` has the data, of which a text is then split anew. */
static bool search_with(choice *c, experiment *e, const experiment *lender, pool *all, tg_error *error)
{
    int best;
    if (!experiment_prepare(e, lender, error) || !files_make_folder(c->folder, error))
        return false;
    do {
        experiment_print_search(e, stderr);
        list(c, e, all);
        if (!train(c, all, error))
            return false;
        best = best_of(c, all);
    } while (experiment_grow(e, &best, error));
    const run_spec chosen = experiment_given(e, best);
    c->chosen = (search_point){
        {c->searched[SEARCH_RATE] ? chosen.lr : 0, c->searched[SEARCH_SCALE] ? chosen.net.init_scale : 0}};
    c->runs = all->count;
    return !error->text[0];
}

bool choose(choice *c, tg_error *error)
{
    static experiment e, lender;
    pool all = {0};
    e = experiment_of(c->spec, c->searched);
    e.settings.sweep.jobs = c->at_once;
    lender.from = *c->from;
    const bool fine = search_with(c, &e, &lender, &all, error);
    if (c->from->is_text && e.from.is_text)
        c->from->letters = e.from.letters; /* its characters have moved */
    pool_free(&all);
    experiment_free(&e);
    return fine;
}
