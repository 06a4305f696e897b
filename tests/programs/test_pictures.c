/* What the programs draw: they name it, and folders of any name receive it. */
#include "tests/support/run_programs.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *pictures_suite(void);

/* Without pictures of its own a command leaves none of an earlier one, which may have shown other runs. */
START_TEST(what_was_drawn_is_named_and_not_left_when_old)
{
    static const char *const pictures[] = {"loss", "steps", "accuracy", "noise", "boundary", "search"};
    static const struct {
        const char *program, *arguments;
    } commands[] = {{"compare", "--data moons --activations relu --epochs 2 --seeds 1"},
                    {"train", "--data moons --epochs 2"},
                    {"train", "--data sine --epochs 2"}};
    for (int i = today(3); system("gnuplot --version >/dev/null 2>&1") == 0 && i < 3; i += every(3)) {
        char name[64];
        expect_fine(train_run(commands[i].program, "%s --rows 60 --out %d", commands[i].arguments, i));
        const char *files = strstr(train_output, "config.json; ");
        ck_assert_msg(files != NULL, "%s", train_output);
        for (int p = 0; p < 6; p++) {
            snprintf(name, sizeof name, "%d/%s.png", i, pictures[p]);
            const bool drawn = temporary_exists(name);
            snprintf(name, sizeof name, " %s,", pictures[p]);
            ck_assert_msg((strstr(files, name) != NULL) == drawn, "%s:%s %s", commands[i].arguments, name, files);
        }
        expect_fine(train_run(commands[i].program, "%s --rows 60 --no-plots --out %d", commands[i].arguments, i));
        for (int p = 0; p < 6; p++)
            ck_assert(!temporary_exists((snprintf(name, sizeof name, "%d/%s.png", i, pictures[p]), name)));
    }
}
END_TEST

/* One seed has no band. */
START_TEST(the_effect_of_noise_on_one_seed_is_drawn)
{
    static const char *const data[] = {"moons", "sine --lr 0.01,1"};
    for (int i = 0; system("gnuplot --version >/dev/null 2>&1") == 0 && i < 2; i++) {
        expect_fine(train_run("compare",
                              "--rows 60 --activations relu --seeds 1 --epochs 1 --test-noise 0,1 --overwrite "
                              "--out o --data %s",
                              data[i]));
        ck_assert_msg(strstr(train_output, " noise,"), "%s", train_output);
    }
}
END_TEST

/* And there are no rows of which a matrix could be. */
START_TEST(without_validation_rows_the_training_loss_is_drawn)
{
    for (int epochs = 1; system("gnuplot --version >/dev/null 2>&1") == 0 && epochs <= 2; epochs++) {
        expect_fine(train_run(
            "train", "--data moons --rows 60 --validation none --test none --epochs %d --overwrite --out o", epochs));
        ck_assert_msg(strstr(train_output, "; loss, steps, as .png") && !strstr(train_output, "confusion"), "%s",
                      train_output);
        ck_assert_ptr_nonnull(strstr(temporary_text("o/loss.svg"), ">training loss<"));
    }
}
END_TEST

/* gnuplot runs file names that look like pipes as commands, and expands home folders and names of data blocks. */
START_TEST(folders_of_any_name_have_their_pictures)
{
    static const struct {
        const char *program, *arguments, *picture;
    } commands[] = {{"activations", "--points 5", "activations.png"},
                    {"compare", "--overwrite --data moons --rows 60 --epochs 2 --seeds 1 --activations relu --hidden 4",
                     "boundary.svg"},
                    {"train", "--overwrite --data moons --rows 60 --epochs 2", "loss.png"},
                    {"study", "gelu-mnist --quick --only '[egr]*-lr0.001-*'", "gelu-mnist-quick/forms.svg"},
                    {"gradcheck", "--plot gelu_exact", "steps.svg"}};
    static const char *const names[16] = {
        "< touch ran #", "|touch ran", "~/x",  "a\nb",        "~root", "$HOME",       "$data",        "-", "-e",
        "\nit's",        "a\\nb",      "a\"b", "`touch ran`", "%s",    "a|touch ran", "with a blank "};
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        return;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (int n = today(4); n < (i ? 4 : 16); n += every(4)) { /* fewer names for programs that take longer */
            char arguments[400], picture[400];
            setenv("FOLDER", names[n], 1); /* no quoting for a shell is needed */
            snprintf(arguments, sizeof arguments, "%s --out=\"$FOLDER\"", commands[i].arguments);
            snprintf(picture, sizeof picture, "%s/%s", names[n], commands[i].picture);
            ck_assert_msg(train_run(commands[i].program, "%s", arguments) == 0 && temporary_exists(picture),
                          "%s in '%s': %s", arguments, names[n], train_output);
        }
    ck_assert(!temporary_exists("ran"));
}
END_TEST

/* The command at the head of a script: the shell gets the script in $SCRIPT and the results in $RESULTS. */
#define REDRAW                                                                                               \
    "-c 'command=$(sed -n \"/^#  *gnuplot -c/{s/^#  *//; s/  *#.*//; p; q}\" \"$TOP/plots/$SCRIPT.gp\") && " \
    "case $command in \"gnuplot -c plots/$SCRIPT.gp results\") ;; *) echo \"$command\"; exit 1;; esac && "   \
    "rm \"$RESULTS/$SCRIPT.png\" \"$RESULTS/$SCRIPT.svg\" && gnuplot -c \"$TOP/plots/$SCRIPT.gp\" \"$RESULTS\" 2>&1'"

/* The command at the head of each script draws its picture again in every folder of results. */
START_TEST(pictures_are_drawn_again_by_hand)
{
    static const char *const scripts[] = {"loss", "steps", "accuracy", "noise", "boundary", "search"};
    static const struct {
        const char *program, *arguments, *folder;
    } made[5] = {{"compare", "--epochs 3 --activations relu,silu --test-noise 0,1", "a blank"},
                 {"compare", "--epochs 1 --activations relu,silu", "it's"},
                 {"compare", "--epochs 2 --activations relu,silu --lr 0.01,0.001", "~x"},
                 {"compare", "--epochs 2 --activations relu,silu --norm none,rms", "a\"b"},
                 {"train", "--epochs 2", "| touch ran"}};
    char top[4096], path[5000];
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        return;
    ck_assert_ptr_nonnull(getcwd(top, sizeof top));
    setenv("TOP", top, 1);
    for (int i = today(5); i < 5; i += every(5)) {
        setenv("FOLDER", made[i].folder, 1);
        expect_fine(train_run(made[i].program, "--data moons --rows 60 %s --out \"$FOLDER\"", made[i].arguments));
        int drawn = 0;
        for (int s = 0; s < 6; s++) {
            snprintf(path, sizeof path, "%s/%s.png", made[i].folder, scripts[s]);
            if (!temporary_exists(path))
                continue;
            drawn++;
            setenv("SCRIPT", scripts[s], 1);
            setenv("RESULTS", drawn % 2 ? made[i].folder : temporary_path(made[i].folder), 1);
            ck_assert_msg(train_run("sh", REDRAW) == 0 && temporary_exists(path), "%s in '%s': %s", scripts[s],
                          made[i].folder, train_output);
        }
        ck_assert_int_ge(drawn, 3);
    }
    ck_assert(!temporary_exists("ran"));
}
END_TEST

/* Labels of neighbours overwrite each other's digits: "6 70 8" is 60, 70 and 80. */
START_TEST(the_epochs_below_a_picture_of_letters_are_whole_and_evenly_spaced)
{
    static const int epochs[] = {1, 100, 230};
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        return;
    for (int i = 0; i < 3; i++) {
        expect_fine(train_run("compare",
                              "--data sine --rows 60 --hidden 4 --epochs %d --lr 0.01,0.1 --overwrite --out o "
                              "--activations relu,gelu_exact --seeds 1",
                              epochs[i]));
        const char *line = strstr(train_output, "----+\n");
        ck_assert_msg(line != NULL, "%s", train_output);
        for (int n = 0; n < 2; n++) /* the axis, its tics */
            line += strcspn(line, "\n") + 1;
        int at[20], count = 0;
        for (char *end; count < 20 && line[strspn(line, " ")] != '\n'; line = end)
            at[count++] = (int)strtol(line, &end, 10);
        for (int k = 1; k < count; k++)
            ck_assert_msg(at[k] - at[k - 1] == at[count - 1] - at[count - 2], "%d epochs: %s", epochs[i], train_output);
        ck_assert_msg(count > 0 && at[count - 1] <= epochs[i] + 1, "%d epochs: %s", epochs[i], train_output);
    }
}
END_TEST

/* The picture of boundaries has a part for each activation, whatever the number of epochs. */
START_TEST(each_activation_has_its_own_boundary_however_few_the_epochs)
{
    static char few[1 << 20], errors[4000];
    char command[2000];
    snprintf(command, sizeof command,
             "--data moons --rows 60 --hidden 2 --epochs 1 --seeds 1 --activations relu,silu --report --out '%s'",
             temporary_folder());
    ck_assert_msg(compare_run(command, errors, sizeof errors) == 0, "%s", errors);
    if (!temporary_exists("boundary.svg"))
        return; /* gnuplot is missing */
    strcpy(few, temporary_text("boundary.svg"));
    snprintf(command, sizeof command,
             "cd '%s' && sed -i 's/^\\([a-z]*\\),1,/\\1,9,/' bands.csv && "
             "gnuplot -e \"dir='.'; title='moons: 2-2-2, adamw'\" \"$OLDPWD/plots/boundary.gp\"",
             temporary_folder());
    ck_assert_int_eq(system(command), 0);
    ck_assert(strcmp(few, temporary_text("boundary.svg")) == 0);
}
END_TEST

Suite *pictures_suite(void)
{
    Suite *suite = suite_create("pictures");
    TCase *tests = tcase_create("pictures");
    tcase_set_timeout(tests, 240);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, what_was_drawn_is_named_and_not_left_when_old);
    tcase_add_test(tests, folders_of_any_name_have_their_pictures);
    tcase_add_test(tests, pictures_are_drawn_again_by_hand);
    tcase_add_test(tests, the_effect_of_noise_on_one_seed_is_drawn);
    tcase_add_test(tests, without_validation_rows_the_training_loss_is_drawn);
    tcase_add_test(tests, the_epochs_below_a_picture_of_letters_are_whole_and_evenly_spaced);
    tcase_add_test(tests, each_activation_has_its_own_boundary_however_few_the_epochs);
    suite_add_tcase(suite, tests);
    return suite;
}
