#include "examples/programs/run/run.h"

#include "examples/programs/run/team.h"

static const char refit_file[] = "refit.safetensors"; /* the weights that were trained again */

/* ---- the loss ---- */

static tg_tensor forward(trainer *r, tg_tensor x, tg_rng *training)
{
    tg_mlp_trace trace;
    const tg_mlp *mlp = net_mlp(r->model);
    if (training || !mlp || r->refit)
        return tg_model_forward(run_model(r), x, training);
    tg_tensor output = tg_mlp_forward_with(mlp, x, NULL, &trace);
    tg_dead_units_see(r->dead, &trace);
    return output;
}

/* Adds an evaluation's batch to the tally; the loss and the score by which tg_fit chooses the best epoch are those of
 * the tally too. */
static tg_tensor measured(trainer *r, tg_tensor output, tg_tensor wanted, tg_tensor weights, double *score)
{
    const long rows = r->sums.rows;
    const double correct = r->sums.correct, mean = tally_add(&r->sums, r->about, output, wanted, weights);
    if (score)
        *score = (r->sums.correct - correct) / (double)(r->sums.rows - rows);
    return tg_ok(output) && tg_ok(wanted) ? tg_constant(tg_tape_of(output), TG_F64, &mean, TG_SCALAR) : output;
}

/* From the mean over the characters of some targets to that over the pairs, each with the sum of its characters. So a
 * character weighs the same in every pass, of however many or long pairs. */
static tg_tensor over_pairs(const trainer *r, tg_tensor mean, tg_tensor labels)
{
    const int32_t *label = tg_i32(labels);
    int64_t characters = 0;
    for (int64_t i = 0; label && i < tg_size(labels); i++)
        characters += label[i] != TG_SEQ2SEQ_PADDING;
    const float weight = (float)(r->weight_scale * (double)characters / (double)tg_dim(labels, 0));
    return tg_mul(mean, tg_constant(tg_tape_of(mean), TG_F32, &weight, TG_SCALAR));
}

static tg_tensor loss(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    trainer *r = context;
    if (training && !r->tape) {
        r->tape = tg_tape_of(batch[0]);
        tg_tape_time(r->tape, r->setup.profile);
    }
    tg_tensor output = forward(r, batch[0], training);
    const tg_tensor wanted = r->about->task == TG_CARD_IMAGES ? batch[0] : batch[1],
                    weights = r->from->data.weight ? batch[2] : TG_NONE;
    if (!training)
        return measured(r, output, wanted, weights, score);
    tg_tensor mean =
        tally_loss(r->about, output, wanted, r->from->data.weight ? tg_mul_scalar(weights, r->weight_scale) : TG_NONE,
                   r->spec->label_smoothing);
    mean = r->class_scale == 1 ? mean : tg_mul_scalar(mean, r->class_scale);
    return r->from->letters.pairs ? over_pairs(r, mean, wanted) : mean;
}

static void order(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)rng;
    dataset_feed_order((uint64_t)((trainer *)context)->spec->seed, epoch, rows, count);
}

/* ---- callbacks of the training loop ---- */

static bool report(trainer *r, int64_t epoch, int64_t step, int64_t steps, double loss_now)
{
    const runlog_epoch *best = r->from->valid.count > 0 && r->files.best.epoch ? &r->files.best : NULL;
    const jobs_progress now = {.fraction = (double)step / (double)steps,
                               .step = (long)step,
                               .steps = (long)steps,
                               .epoch = (int)epoch,
                               .epochs = r->spec->epochs,
                               .loss = loss_now,
                               .accuracy = r->accuracy,
                               .rate = r->step_seconds > 0 ? (double)r->rows / r->step_seconds : 0,
                               .best = best ? best->epoch : 0,
                               .best_loss = best ? best->val_loss : NAN,
                               .best_accuracy = best ? best->val_accuracy : NAN};
    if (r->setup.link)
        jobs_report(r->setup.link, &now);
    return !r->setup.on_progress || r->setup.on_progress(r->setup.context, &now);
}

static const char no_board[] = "the event file cannot be written", no_steps[] = "steps.csv cannot be written";

static bool fail(trainer *r, const char *why)
{
    r->broken = true;
    return tg_fail(&r->error, "%s", why);
}

/* Records the mean loss of the steps since the last entry as one entry. */
static bool put_entry(trainer *r, long step)
{
    record_pending *pending = &r->files.pending;
    const double mean = pending->sum / (double)pending->count;
    *pending = (record_pending){0};
    return (record_put_loss(&r->files, step, mean) || fail(r, no_steps)) &&
           (events_scalar(r->board, "loss/train", step, mean) || fail(r, no_board));
}

static bool keep_loss(trainer *r, const tg_fit_step *now)
{
    r->files.pending.sum += now->loss;
    r->files.pending.count++;
    return now->step % r->every != 0 || put_entry(r, (long)now->step);
}

/* A run that ends between two entries has a last one of the steps that are left. */
static bool keep_last(trainer *r)
{
    const record_pending *pending = &r->files.pending;
    const bool left = tg_fit_finished(r->fit) && pending->count > 0 && isfinite(pending->sum);
    return !left || put_entry(r, (long)tg_fit_step_count(r->fit));
}

/* The losses that are not yet an entry, for a run that continues from this step. */
static bool keep_pending(trainer *r)
{
    return record_put_pending(&r->files, (long)tg_fit_step_count(r->fit)) || fail(r, no_steps);
}

static bool on_step(void *context, const tg_fit_step *now)
{
    trainer *r = context;
    const double time = jobs_clock();
    r->seconds += time - r->since;
    if (r->rows > 0) { /* the first step allocates memory */
        r->step_seconds += time - r->since;
        r->timed_steps++;
    } else if (now->steps > 1)
        tg_tape_time(r->tape, r->setup.profile); /* operations are timed from here on, like steps */
    r->rows += now->rows;
    const bool goes_on = keep_loss(r, now) && report(r, now->epoch, now->step, now->steps, now->mean_loss);
    r->since = jobs_clock();
    return goes_on;
}

/* Measures the loss on all training rows after every so many epochs, and after the last. */
static bool measure_training(trainer *r, int64_t epoch, double *mean)
{
    const run_spec *s = r->spec;
    runlog_measures all;
    if (!s->train_loss_every || (epoch % s->train_loss_every != 0 && epoch != s->epochs))
        return true;
    const bool fine = run_measure(r, &r->from->train, &all);
    *mean = all.loss;
    return fine;
}

/* Without validation rows no epoch is chosen, and the test loss is a curve. */
static bool measure_test(trainer *r, double *mean)
{
    runlog_measures all;
    if (r->from->valid.count > 0 || r->from->test.count == 0)
        return true;
    const bool fine = run_measure(r, &r->from->test, &all);
    *mean = all.loss;
    return fine;
}

static bool on_epoch(void *context, const tg_fit_epoch *now)
{
    trainer *r = context;
    const runlog_measures valid = tally_measures(&r->sums, r->about);
    runlog_epoch row = {.epoch = (int)now->epoch,
                        .step = (long)now->step,
                        .train_loss = now->train_loss,
                        .val_loss = valid.loss,
                        .val_accuracy = valid.accuracy,
                        .test_loss = NAN,
                        .grad_norm = now->gradient_norm,
                        .dead_fraction = r->dead ? tg_dead_units_fraction(r->dead) : NAN,
                        .best = now->best,
                        .whole_train_loss = NAN,
                        .seconds = r->setup.timed ? r->seconds : NAN};
    if (!measure_test(r, &row.test_loss) || !measure_training(r, now->epoch, &row.whole_train_loss))
        return false;
    tg_dead_units_clear(r->dead);
    r->accuracy = row.val_accuracy;
    if (!keep_pending(r))
        return false;
    if (!record_put_epoch(&r->files, &row))
        return fail(r, "curves.csv cannot be written");
    if (!events_epoch(r->board, &row))
        return fail(r, no_board);
    const bool goes_on = report(r, now->epoch, now->step, r->steps_of_epoch * r->spec->epochs, row.val_loss);
    r->since = jobs_clock();
    return goes_on;
}

/* ---- making a run ---- */

/* The seed of one of the nets that are trained. */
static uint64_t seed_of(const run_spec *s, int net)
{
    return (uint64_t)s->seed + ((uint64_t)net << 32);
}

static tg_model *new_net(const run_spec *s, int net, tg_error *error)
{
    const tg_rng seed = tg_rng_seed(seed_of(s, net)), weights = tg_rng_stream(&seed, "weights");
    return net_new(&s->net, &weights, error);
}

/* Makes the net before its first step, and sets the specification's widths. */
static tg_model *make_net(run_spec *s, tg_error *error)
{
    const bool equal = s->gated && s->gated[0] == 'p';
    if (equal && !net_spec_equalize(&s->net, error))
        return NULL;
    if (s->net.equal_width)
        s->gated = "width"; /* of those that the record has */
    return new_net(s, 0, error);
}

static bool make(trainer *r, tg_error *error)
{
    run_spec *s = r->spec;
    if (!source_split(s, r->from, error))
        return false;
    if (r->setup.started)
        source_scale_as(r->setup.started, r->from);
    run_spec_complete(s, r->from->train.count);
    if (!run_spec_check(s, source_classifies(s, r->from), error) || !(r->model = make_net(s, error)) ||
        !(r->about = card_of_source(s, r->from, error)))
        return false;
    tg_model_set_card(r->model, r->about);
    if (s->start && !r->setup.begun && !card_start(s, r->model, r->from, r->about, r->setup.started, error))
        return false;
    r->weight_scale = source_weight_scale(r->from, &r->from->data.train);
    r->class_scale = 1;
    r->dead = net_mlp(r->model) ? tg_dead_units_new(net_mlp(r->model)) : NULL;
    return true;
}

static tg_fit_config config_of(trainer *r)
{
    enum { EVALUATED = 500 }; /* rows of a pass that measures */
    const run_spec *s = r->spec;
    return (tg_fit_config){.loss = loss,
                           .model = r,
                           .train = r->from->train,
                           .valid = r->from->valid,
                           .batch = s->batch,
                           .evaluation_batch = r->from->is_text || r->from->data.width ? 0 : EVALUATED,
                           .accumulate = s->accumulate,
                           .shards = s->shards,
                           .least_rows = net_least_rows(&s->net),
                           .drop_partial =
                               s->drop_last || (r->setup.profile && /* a smaller step would distort the times */
                                                r->from->train.count >= (int64_t)s->batch * s->accumulate),
                           .epochs = s->epochs,
                           .patience = s->patience,
                           .ema = {.decay = s->ema, .warmup = true},
                           .round = run_spec_format(s),
                           .best_by_score = strcmp(s->best, "accuracy") == 0,
                           .seed = (uint64_t)s->seed,
                           .folder = r->setup.folder,
                           .resume = r->setup.folder != NULL,
                           .only_to_resume = r->setup.numbers_only,
                           .communicator = r->setup.together ? team_communicator() : NULL,
                           .on_step = on_step,
                           .on_epoch = team_follows() ? NULL : on_epoch,
                           .order = order,
                           .context = r};
}

long run_parameters(const run_spec *spec, const run_source *from, tg_error *error)
{
    run_source rows = *from;
    trainer r = {.setup = {.spec = *spec}, .from = &rows};
    r.spec = &r.setup.spec;
    tg_model *made = make_net(r.spec, error);
    const tg_fit_config config = config_of(&r);
    const tg_optimizer_config how = run_spec_optimizer(r.spec, tg_fit_steps(&config));
    const char *wrong = made ? tg_optimizer_config_error(&how) : NULL;
    const long size = made && !wrong ? (long)tg_parameters_size(tg_model_parameters(made)) : -1;
    if (wrong)
        tg_fail(error, "%s", wrong);
    tg_model_free(made);
    return size;
}

static bool make_fit(trainer *r, tg_error *error)
{
    static tg_metadata lines[TG_CARD_LINES];
    const run_spec *s = r->spec;
    tg_fit_config config = config_of(r);
    tg_card_metadata(r->about, lines);
    config.metadata = lines;
    config.metadata_count = TG_CARD_LINES;
    const tg_optimizer_config how = run_spec_optimizer(s, tg_fit_steps(&config));
    r->steps_of_epoch = tg_fit_steps(&config) / s->epochs;
    r->every = (long)((how.schedule.steps + RUN_CHUNKS - 1) / RUN_CHUNKS);
    r->every = r->every ? r->every : 1;
    const char *wrong = tg_optimizer_config_error(&how);
    r->optimizer = wrong ? NULL : tg_optimizer_new(tg_model_parameters(r->model), &how);
    config.optimizer = r->optimizer;
    r->fit = tg_fit_new(&config);
    wrong = wrong ? wrong : tg_fit_error(r->fit);
    if (wrong)
        tg_fail(error, "%s", wrong);
    return !wrong;
}

/* Writes the folder's records to a new event file, to which the run appends. */
static bool open_board(trainer *r, tg_error *error)
{
    if (!r->setup.folder || !r->spec->tensorboard || team_follows())
        return true;
    r->board = record_open_events(r->setup.folder, error);
    return r->board;
}

bool run_open(trainer *r, const run_setup *setup, tg_error *error)
{
    *r = (trainer){.setup = *setup, .from = setup->from, .accuracy = NAN};
    r->spec = &r->setup.spec;
    const bool writes = setup->folder && !team_follows();
    const bool fine = spec_take_products(r->spec->products, error) && make(r, error) && make_fit(r, error) &&
                      (!writes || record_continue(&r->files, setup->folder, (long)tg_fit_step_count(r->fit),
                                                  r->spec->train_loss_every > 0, error)) &&
                      open_board(r, error);
    r->seconds = r->files.seconds;
    if (!fine)
        run_close(r);
    else if (writes && !tg_fit_finished(r->fit))
        files_remove(setup->folder, refit_file); /* of fewer epochs */
    return fine;
}

void run_close(trainer *r)
{
    record_close(&r->files);
    events_close(r->board);
    tg_fit_free(r->fit);
    tg_optimizer_free(r->optimizer);
    tg_dead_units_free(r->dead);
    tg_model_free(r->model);
    tg_model_free(r->refit);
    *r = (trainer){.spec = NULL};
}

/* ---- the run ---- */

bool run_train(trainer *r, tg_error *error)
{
    r->since = jobs_clock();
    const bool trained = tg_fit_run(r->fit), fine = trained && keep_last(r) && keep_pending(r) && !r->broken;
    if (!fine)
        tg_fail(error, "%s", r->broken ? r->error.text : tg_fit_error(r->fit));
    if (tg_fit_diverged(r->fit) && r->setup.link)
        jobs_report(r->setup.link, &(jobs_progress){.fraction = 1,
                                                    .epoch = (int)tg_fit_epoch_count(r->fit) + 1,
                                                    .epochs = r->spec->epochs,
                                                    .loss = INFINITY,
                                                    .accuracy = NAN});
    return fine;
}

/* ---- training again on training and validation rows ---- */

/* For how many steps a net is to be trained, and the loss that it then had on validation rows. */
typedef struct found {
    int64_t steps;
    double loss;
} found;

/* A net that is trained again. */
typedef struct refit {
    trainer r; /* first, as order() expects: its own net; the other members are those of the run */
    dataset_part rows, train, valid; /* training and validation rows, and another division of them */
    int32_t *order;
    found now;
} refit;

static bool until_steps(void *context, const tg_fit_step *now)
{
    return now->step < ((const refit *)context)->now.steps;
}

/* One that diverges before its first epoch ends has no best one. */
static found best_of(const tg_fit *fit, int64_t otherwise)
{
    const tg_fit_epoch *best = tg_fit_best(fit);
    return best ? (found){best->step, best->valid_loss} : (found){otherwise, INFINITY};
}

/* Trains a new net, its number `net`, on these rows with the rates of the run: until validation rows end it, and sets
 * `now` by its best epoch; or without validation rows for as many steps as that says. NULL and one line on failure. */
static tg_model *train_net(trainer *r, refit *again, int net, const dataset_part *rows, const dataset_part *valid,
                           tg_error *error)
{
    const run_spec *s = r->spec;
    tg_fit_config config = config_of(r);
    const tg_optimizer_config how = run_spec_optimizer(s, tg_fit_steps(&config));
    dataset_feed train = {&r->from->data, rows, source_reconstructs(s)},
                 other = {&r->from->data, valid, train.inputs_only};
    tg_model *made = again->r.model = new_net(s, net, error);
    if (!made || (s->start && !card_start(s, made, r->from, r->about, r->setup.started, error))) {
        tg_model_free(made);
        return NULL;
    }
    again->r.tape = NULL;
    again->r.weight_scale = source_weight_scale(r->from, rows);
    again->r.class_scale = rows == &again->train && net == 0 ? 1 : source_class_scale(r->from, rows);
    config.model = &again->r;
    config.train = dataset_feed_rows(&train);
    config.valid = valid ? dataset_feed_rows(&other) : (tg_fit_rows){.count = 0};
    config.seed = seed_of(s, net);
    config.folder = NULL;
    config.resume = config.only_to_resume = false;
    config.communicator = NULL; /* shards give the same bytes in one process */
    config.on_step = valid ? NULL : until_steps;
    config.on_epoch = NULL;
    config.context = again;
    if (!valid) {
        config.epochs = 1;
        config.epochs = again->now.steps / tg_fit_steps(&config) + 1;
        config.patience = 0;
    }
    config.optimizer = tg_optimizer_new(tg_model_parameters(made), &how);
    tg_fit *fit = tg_fit_new(&config);
    const bool fine = tg_fit_run(fit) || tg_fail(error, "%s", tg_fit_error(fit));
    if (fine && valid)
        again->now = best_of(fit, again->now.steps);
    tg_fit_free(fit);
    tg_optimizer_free(config.optimizer);
    if (!fine)
        tg_model_free(made);
    return fine ? made : NULL;
}

/* Finds out how long a net has to be trained: the first with the rows of the run, others with another division. Of one
 * with a side that weighs nothing nothing can be learned: as long as the net before. */
static bool search_steps(trainer *r, refit *again, int net, found *out, tg_error *error)
{
    const dataset *data = &r->from->data;
    size_t valid = data->validation.rows;
    again->train = data->train;
    again->valid = data->validation;
    if (net > 0) {
        if (!dataset_shuffle(data, &again->rows, seed_of(r->spec, net), again->order, &valid))
            return tg_fail(error, "out of memory");
        again->valid = (dataset_part){valid, again->order};
        again->train = (dataset_part){again->rows.rows - valid, again->order + valid};
    }
    bool fine = true;
    if (source_weighs(r->from, &again->train) && source_weighs(r->from, &again->valid)) {
        tg_model *searched = train_net(r, again, net, &again->train, &again->valid, error);
        tg_model_free(searched);
        fine = searched;
    }
    *out = again->now;
    return fine;
}

static double sum_of_losses(const found *of, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += of[i].loss;
    return sum;
}

/* Finds the steps of nets number `from` to `to` - 1. */
static bool search_all(trainer *r, refit *again, int from, int to, found *out, tg_error *error)
{
    bool fine = true;
    for (int i = from; fine && i < to; i++)
        fine = search_steps(r, again, i, &out[i], error);
    return fine;
}

/* Softens inputs with long tails, and searches the first nets again; keeps that if --soften says so, or by default if
 * the sum of their validation losses is lower than `plain` has it. */
static bool try_softened(trainer *r, refit *again, int nets, found *plain, tg_error *error)
{
    const char *how = r->spec->soften;
    found *soft = calloc((size_t)nets, sizeof *soft);
    r->softened = soft && how[0] != 'n' && !r->setup.started ? dataset_soften(&r->from->data, true) : 0;
    bool fine = (soft && r->softened >= 0) || tg_fail(error, "out of memory");
    fine = fine && (r->softened == 0 || search_all(r, again, 0, nets, soft, error));
    if (fine && r->softened > 0 && (how[0] == 'y' || sum_of_losses(soft, nets) < sum_of_losses(plain, nets)))
        memcpy(plain, soft, (size_t)nets * sizeof *soft);
    else if (fine && r->softened > 0)
        r->softened = dataset_soften(&r->from->data, false);
    free(soft);
    return fine && (r->softened >= 0 || tg_fail(error, "out of memory"));
}

/* Finds the steps of every net, after the choice whether inputs are softened: where rows are few, all nets choose, else
 * the first. With the first rows for validation there is one division, which serves all nets. */
static bool search(trainer *r, refit *again, bool redrawn, found *each, tg_error *error)
{
    enum { FEW = 1000 };
    const int nets = r->spec->nets, searched = redrawn ? nets : 1,
              choose = r->from->data.train.rows < FEW ? searched : 1;
    each[0] = again->now; /* which the run found */
    const bool fine = search_all(r, again, 1, choose, each, error) && try_softened(r, again, choose, each, error) &&
                      search_all(r, again, choose, searched, each, error);
    for (int i = searched; i < nets; i++)
        each[i] = each[0];
    return fine;
}

/* best.safetensors keeps the weights of the best epoch, from which more epochs go on. */
static bool keep_refit(trainer *r, const run_spec *kept, tg_error *error)
{
    char path[PATH_MAX];
    tg_metadata lines[TG_CARD_LINES];
    if (!r->setup.folder || r->setup.numbers_only)
        return true;
    tg_card *card = card_of_source(kept, r->from, error);
    if (!card)
        return false;
    tg_card_metadata(card, lines);
    snprintf(path, sizeof path, "%s/%s", r->setup.folder, refit_file);
    const bool fine = tg_parameters_save(tg_model_parameters(r->refit), path, lines, TG_CARD_LINES, error);
    tg_card_free(card);
    return fine;
}

bool run_refit(trainer *r, tg_error *error)
{
    run_spec kept = *r->spec;
    const tg_fit_epoch *best = tg_fit_best(r->fit);
    const dataset *data = &r->from->data;
    if (!kept.refit || kept.refit[0] != 'y' || !best || r->from->valid.count == 0)
        return true;
    /* The validation rows follow the training rows in the order of the splits. */
    refit again = {.r = {.spec = r->spec, .about = r->about, .from = r->from},
                   .rows = {data->train.rows + data->validation.rows, data->train.row},
                   .order = calloc(data->rows, sizeof *again.order),
                   .now = {best->step, best->valid_loss}};
    const bool redrawn = !kept.validation || kept.validation[0] != 'f'; /* first:N */
    tg_model **nets = calloc((size_t)kept.nets, sizeof *nets);
    found *each = calloc((size_t)kept.nets, sizeof *each);
    bool fine = (nets && each && again.order) || tg_fail(error, "out of memory");
    fine = fine && search(r, &again, redrawn, each, error);
    for (int i = 0; fine && i < kept.nets; i++) {
        again.now = each[i];
        fine = (nets[i] = train_net(r, &again, i, &again.rows, NULL, error));
    }
    r->refit = !fine ? NULL : kept.nets > 1 ? net_join(&kept.net, nets, kept.nets, error) : nets[0];
    for (int i = 0; nets && i < kept.nets; i++)
        if (nets[i] != r->refit)
            tg_model_free(nets[i]);
    free(nets);
    free(each);
    free(again.order);
    return r->refit && keep_refit(r, &kept, error);
}

bool run_finished(const trainer *r)
{
    return tg_fit_finished(r->fit);
}

bool run_measure(trainer *r, const tg_fit_rows *rows, runlog_measures *m)
{
    const bool fine = tg_fit_evaluate(r->fit, rows, NULL, NULL);
    *m = tally_measures(&r->sums, r->about);
    return fine;
}

bool run_conclude(trainer *r, run_measurer *measure, tg_error *error)
{
    runlog_run results = runlog_run_new();
    bool fine = measure(r, &results, error);
    record_end_pending(&r->files);
    fine = fine && record_conclude(r->setup.folder, &results, error) &&
           (record_put_test(r->board, &results, r->setup.folder) || tg_fail(error, "%s", no_board));
    runlog_run_free(&results);
    if (fine && (r->setup.numbers_only || tg_fit_diverged(r->fit))) {
        files_remove(r->setup.folder, "last.safetensors");
        files_remove(r->setup.folder, "best.safetensors");
    }
    return fine;
}
