#include "tests/support/csv_tables.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

const char csv_flowers[] = "id,colour,size,petals,kind\n"
                           "a1,red,1,5,rose\n"
                           "a2,blue,NA,5,aster\n"
                           "a3,?,3,,rose\n"
                           "a4,red,4,6,\n"
                           "a5,red,5,6,aster\n";

bool csv_load(const char *text, dataset_options options, dataset *set, tg_error *error)
{
    temporary_write("table.csv", text, strlen(text));
    char spec[300];
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("table.csv"));
    return dataset_load(spec, &options, set, error);
}

void csv_split_off_first(dataset *set)
{
    tg_error error;
    ck_assert_msg(dataset_split(set, &(dataset_parts){.validation = "first:1", .test = "none"}, &error), "%s",
                  error.text);
}

dataset loaded(const char *text, dataset_options options)
{
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load(text, options, &set, &error), "%s", error.text);
    csv_split_off_first(&set);
    return set;
}

void csv_expect_error(const char *text, dataset_options options, const char *message)
{
    dataset set;
    tg_error error;
    char expected[400];
    ck_assert_msg(!csv_load(text, options, &set, &error), "accepted: %s", text);
    snprintf(expected, sizeof expected, "%s%s", temporary_path("table.csv"), message);
    ck_assert_str_eq(error.text, expected);
    ck_assert_ptr_null(set.name);
}

double csv_original(const dataset *set, size_t row, size_t feature)
{
    return set->x[row * set->features + feature] * set->feature_scale[feature] + set->feature_mean[feature];
}
