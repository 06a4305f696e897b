/* Files of the training loop: a run that is stopped and resumed equals one that was never stopped; and the curves. */
#include "tests/support/fit_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *fit_files_suite(void);

/* ---- stopping and going on ---- */

static bool stop_after(void *context, const tg_fit_step *now)
{
    return now->step != *(int *)context;
}

/* Compares all bytes of two files. */
static void assert_same_files(const char *a, const char *b)
{
    FILE *one = fopen(temporary_path(a), "rb"), *other = fopen(temporary_path(b), "rb");
    ck_assert_msg(one && other, "%s, %s", a, b);
    int c, d, bytes = 0;
    do {
        c = fgetc(one);
        d = fgetc(other);
        ck_assert_msg(c == d, "%s and %s differ at byte %d", a, b, bytes);
        bytes++;
    } while (c != EOF);
    fclose(one);
    fclose(other);
}

enum { STEPS = 12 };

/* Three runs with dropout and a batch norm: plain, with averages, with averages but no validation. */
static void begin_kind(fit_run *r, int kind, const char *folder)
{
    fit_begin(r, 0.25, TG_NORM_BATCH);
    fit_in_folder(r, folder);
    if (kind > 0)
        r->config.ema = (tg_ema_config){.decay = 0.8, .warmup = true};
    if (kind > 1)
        r->config.valid.count = 0;
}

START_TEST(stopped_at_any_step_and_resumed_is_never_stopped)
{
    fit_run whole, half, rest;
    const int kind = _i / STEPS;
    begin_kind(&whole, kind, "whole");
    fit_train(&whole);
    int stop = _i % STEPS + 1;
    begin_kind(&half, kind, "half");
    half.config.on_step = stop_after;
    half.config.context = &stop;
    fit_train(&half);
    ck_assert_int_eq(tg_fit_finished(half.fit), stop == STEPS);
    begin_kind(&rest, kind, "half");
    rest.config.resume = true;
    fit_train(&rest);
    fit_assert_same_weights(&whole, &rest);
    fit_assert_same_epochs(&whole, &rest);
    assert_same_files("whole/last.safetensors", "half/last.safetensors");
    assert_same_files("whole/best.safetensors", "half/best.safetensors");
    ck_assert(tg_fit_run(half.fit)); /* and in the same process */
    fit_assert_same_weights(&whole, &half);
    fit_assert_same_epochs(&whole, &half);
    fit_end(&whole);
    fit_end(&half);
    fit_end(&rest);
}
END_TEST

START_TEST(a_run_whose_files_only_serve_to_resume_leaves_none)
{
    static const char *const names[] = {"brief/last.safetensors", "brief/best.safetensors"};
    fit_run r;
    int stop = STEPS / 2;
    fit_begin(&r, 0.25, TG_NORM_BATCH);
    fit_in_folder(&r, "brief");
    r.config.only_to_resume = true;
    r.config.on_step = stop_after;
    r.config.context = &stop;
    fit_train(&r);
    ck_assert(!tg_fit_finished(r.fit) && temporary_exists(names[0]) && temporary_exists(names[1]));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(unlink(temporary_path(names[i])), 0);
    ck_assert(tg_fit_run(r.fit) && tg_fit_finished(r.fit));
    for (int i = 0; i < 2; i++)
        ck_assert_msg(!temporary_exists(names[i]), "%s", names[i]);
    fit_end(&r);
}
END_TEST

/* Stopped within the third epoch, without time to write a file in between. */
START_TEST(the_best_file_has_the_weights_of_its_epoch)
{
    fit_run r, two;
    int stop = 7;
    fit_begin(&r, 0, TG_NORM_NONE);
    fit_in_folder(&r, "run");
    r.config.valid.count = 0;
    r.config.on_step = stop_after;
    r.config.context = &stop;
    fit_train(&r);
    ck_assert(!tg_fit_finished(r.fit) && tg_fit_best(r.fit)->epoch == 2);
    fit_begin(&two, 0, TG_NORM_NONE);
    two.config.valid.count = 0;
    two.config.epochs = 2;
    fit_train(&two);
    tg_error error;
    ck_assert_msg(tg_parameters_load(tg_mlp_parameters(r.net), temporary_path("run/best.safetensors"), NULL, &error),
                  "%s", error.text);
    fit_assert_same_weights(&r, &two);
    fit_end(&r);
    fit_end(&two);
}
END_TEST

/* Both files are read before anything is changed, so a failure does not leave the weights of the best epoch behind. */
START_TEST(a_resume_that_fails_leaves_the_weights_alone)
{
    fit_run r, other, begun;
    fit_begin(&begun, 0, TG_NORM_NONE);
    fit_begin(&r, 0, TG_NORM_NONE);
    fit_in_folder(&r, "run");
    fit_train(&r);
    fit_begin(&other, 0, TG_NORM_NONE);
    fit_in_folder(&other, "run");
    other.config.resume = true;
    tg_optimizer *sgd = tg_optimizer_new(tg_mlp_parameters(other.net), &(tg_optimizer_config){.kind = TG_SGD});
    other.config.optimizer = sgd;
    other.fit = tg_fit_new(&other.config);
    ck_assert_ptr_nonnull(strstr(tg_fit_error(other.fit), "this run's optimiser is sgd"));
    fit_assert_same_weights(&other, &begun);
    fit_end(&begun);
    fit_end(&r);
    fit_end(&other);
    tg_optimizer_free(sgd);
}
END_TEST

START_TEST(the_files_of_another_run_are_refused_in_a_line)
{
    fit_run r, other;
    fit_begin(&r, 0, TG_NORM_NONE);
    fit_in_folder(&r, "run");
    fit_train(&r);
    for (int c = 0; c < 7; c++) {
        fit_begin(&other, 0, c == 4 ? TG_NORM_LAYER : TG_NORM_NONE);
        fit_in_folder(&other, "run");
        other.config.resume = true;
        other.config.seed += c == 0;
        other.config.batch += c == 1;
        other.config.accumulate = c == 2 ? 2 : 1;
        other.config.epochs = c == 3 ? 2 : 4;
        other.config.ema.decay = c == 5 ? 0.9 : 0;
        other.config.least_rows = c == 6 ? 2 : 0;
        other.fit = tg_fit_new(&other.config);
        static const char *const parts[] = {"seed 11, and this one has",
                                            "seed 11, and this one has",
                                            "seed 11, and this one has",
                                            "more epochs",
                                            "norm",
                                            "averages of decay 0.9",
                                            "passes of 2 or more"};
        ck_assert_msg(tg_fit_error(other.fit), "no refusal for %s", parts[c]);
        ck_assert_msg(strstr(tg_fit_error(other.fit), parts[c]) && strstr(tg_fit_error(other.fit), "run/"), "%s",
                      tg_fit_error(other.fit));
        ck_assert(!tg_fit_run(other.fit) && !strchr(tg_fit_error(other.fit), '\n'));
        fit_end(&other);
    }
    static const struct {
        const char *key, *text, *part;
    } lines[] = {{NULL, NULL, "'fit.run' and 'fit.epochs' are missing"},
                 {"fit.epochs", "0x0p+0 0x0p+0", "'fit.epochs' does not fit to 'training.position'"},
                 {"fit.epochs", "none", "'fit.epochs' is damaged"}};
    for (int i = 0; i < 3; i++) {
        char run_of[300];
        tg_error error;
        fit_begin(&other, 0, TG_NORM_NONE);
        tg_safetensors *file = tg_safetensors_open(temporary_path(i ? "kept" : "run/last.safetensors"), &error);
        ck_assert_msg(file, "%s", error.text);
        snprintf(run_of, sizeof run_of, "%s", tg_safetensors_metadata(file, "fit.run"));
        tg_safetensors_close(file);
        if (i == 0)
            ck_assert_int_eq(rename(temporary_path("run/last.safetensors"), temporary_path("kept")), 0);
        const tg_metadata written[] = {{"fit.run", run_of}, {lines[i].key, lines[i].text}};
        tg_update_state update = tg_optimizer_state(r.optimizer);
        const tg_training_state state = {.parameters = tg_mlp_parameters(r.net), .update = &update, .position = STEPS};
        ck_assert(tg_training_state_save(&state, temporary_path("run/last.safetensors"), written, i ? 2 : 0, &error));
        fit_in_folder(&other, "run");
        other.config.resume = true;
        other.fit = tg_fit_new(&other.config);
        ck_assert_msg(strstr(tg_fit_error(other.fit), lines[i].part), "%s", tg_fit_error(other.fit));
        fit_end(&other);
    }
    temporary_write("run/last.safetensors", "nonsense", 8);
    fit_begin(&other, 0, TG_NORM_NONE);
    fit_in_folder(&other, "run");
    other.config.resume = true;
    other.fit = tg_fit_new(&other.config);
    ck_assert_ptr_nonnull(tg_fit_error(other.fit));
    fit_end(&other);
    fit_end(&r);
}
END_TEST

START_TEST(a_folder_that_cannot_be_is_an_error)
{
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    temporary_write("file", "", 0);
    r.config.folder = temporary_path("file/folder");
    r.fit = tg_fit_new(&r.config);
    ck_assert(!tg_fit_run(r.fit));
#if defined _WIN32 /* where no error says so */
    ck_assert_msg(strstr(tg_fit_error(r.fit), "file/folder: No such file or directory"), "%s", tg_fit_error(r.fit));
#else
    ck_assert_msg(strstr(tg_fit_error(r.fit), "file/folder: Not a directory"), "%s", tg_fit_error(r.fit));
#endif
    fit_end(&r);
    static char name[2000];
    memset(name, '/', sizeof name - 1);
    fit_begin(&r, 0, TG_NORM_NONE);
    r.config.folder = name;
    r.config.resume = true;
    r.fit = tg_fit_new(&r.config);
    ck_assert(!tg_fit_run(r.fit));
    ck_assert_msg(strstr(tg_fit_error(r.fit), "the folder's name is too long"), "%s", tg_fit_error(r.fit));
    fit_end(&r);
    fit_begin(&r, 0, TG_NORM_NONE);
    fit_train(&r);
    ck_assert(!tg_fit_write_curves(r.fit, name));
    ck_assert_msg(strstr(tg_fit_error(r.fit), "///: the name is too long"), "%s", tg_fit_error(r.fit));
    fit_end(&r);
}
END_TEST

/* ---- curves ---- */

#if !defined _WIN32 /* which has other shells, and no such names */

/* gnuplot would run the first character of "|x", and a shell the rest. */
START_TEST(the_script_of_curves_runs_no_name)
{
    static const char *const folders[] = {"x';touch pwned;'", "a\nb", "|touch pwned"},
                             *const names[] = {"|touch pwned", "a\nsystem(\"touch pwned\")\nb", "it's"};
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    fit_train(&r);
    for (int f = 0; f < 3; f++)
        for (int n = 0; n < 3; n++) {
            char path[200], command[2000];
            ck_assert(mkdir(temporary_path(folders[f]), 0777) == 0 || n > 0);
            snprintf(path, sizeof path, "%s/%s", folders[f], names[n]);
            ck_assert(tg_fit_write_curves(r.fit, temporary_path(path)));
            setenv("SCRIPT", path, 1);
            snprintf(command, sizeof command,
                     "cd '%s' && gnuplot \"./$SCRIPT.gp\" >/dev/null 2>&1; cd \"$(dirname \"./$SCRIPT\")\" && gnuplot "
                     "\"./$(basename \"$SCRIPT\").gp\" >/dev/null 2>&1; ! ls -R '%s' | grep -qx 'pwned.*'",
                     temporary_folder(), temporary_folder());
            ck_assert_msg(system(command) == 0, "%s ran", path);
            strcat(path, ".png");
            ck_assert_msg(system("gnuplot --version >/dev/null 2>&1") != 0 || temporary_exists(path), "no %s", path);
        }
    fit_end(&r);
}
END_TEST

START_TEST(curves_are_a_table_and_a_script_that_draws_it)
{
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    fit_train(&r);
    mkdir(temporary_path("it's"), 0777);
    ck_assert(tg_fit_write_curves(r.fit, temporary_path("it's/cur've")));
    char *table = fit_copy_of("it's/cur've.csv"), expected[300], command[1000];
    ck_assert_ptr_eq(strstr(table, "epoch,step,rate,train_loss,valid_loss,valid_score,gradient_norm,best\n1,3,"),
                     table);
    const tg_fit_epoch *last = tg_fit_epoch_at(r.fit, 3);
    snprintf(expected, sizeof expected, "\n4,12,%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", last->rate, last->train_loss,
             last->valid_loss, last->valid_score, last->gradient_norm, last->best);
    ck_assert_msg(strstr(table, expected), "no %s in %s", expected, table);
    free(table);
    temporary_write("theirs", "kept", 4); /* a link in the folder is replaced, not followed */
    ck_assert_int_eq(symlink("theirs", temporary_path("linked.csv")), 0);
    ck_assert(tg_fit_write_curves(r.fit, temporary_path("linked")));
    ck_assert_str_eq(temporary_text("theirs"), "kept");
    ck_assert_ptr_nonnull(strstr(temporary_text("linked.csv"), "epoch,step"));
    ck_assert(!tg_fit_write_curves(r.fit, temporary_path("missing/curves")));
    ck_assert_ptr_nonnull(strstr(tg_fit_error(r.fit), "missing/curves.csv: No such file"));
    fit_end(&r);
    if (system("gnuplot --version >/dev/null 2>&1") == 0) {
        snprintf(command, sizeof command, "cd '%s'/\"it's\" && gnuplot \"cur've.gp\" >/dev/null 2>&1",
                 temporary_folder());
        ck_assert_int_eq(system(command), 0);
        ck_assert_ptr_nonnull(strstr(temporary_text("it's/cur've.png") + 1, "PNG"));
    }
}
END_TEST

#endif

Suite *fit_files_suite(void)
{
    Suite *suite = suite_create("fit_files");
    TCase *tests = tcase_create("fit_files");
    tcase_add_checked_fixture(tests, fit_suite_start, fit_suite_finish);
    tcase_add_loop_test(tests, stopped_at_any_step_and_resumed_is_never_stopped, 0, 3 * STEPS);
    tcase_add_test(tests, a_run_whose_files_only_serve_to_resume_leaves_none);
    tcase_add_test(tests, the_best_file_has_the_weights_of_its_epoch);
    tcase_add_test(tests, a_resume_that_fails_leaves_the_weights_alone);
    tcase_add_test(tests, the_files_of_another_run_are_refused_in_a_line);
    tcase_add_test(tests, a_folder_that_cannot_be_is_an_error);
#if !defined _WIN32
    tcase_add_test(tests, the_script_of_curves_runs_no_name);
    tcase_add_test(tests, curves_are_a_table_and_a_script_that_draws_it);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
