/* Model files: what is written can be read, a faulty file is refused in one line, and no failure damages a file or
 * model. */
#include "tests/support/temporary_files.h"
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tapegrad.h>
#if !defined _WIN32
#include <sys/resource.h>
#endif

Suite *safetensors_suite(void);

static tg_error error;

static tg_parameters *small_set(tg_dtype dtype, double first)
{
    tg_parameters *set = tg_parameters_new(dtype);
    tg_parameters_add(set, "layers.0.weight", TG_SHAPE(2, 3), true);
    tg_parameters_add(set, "layers.0.bias", TG_SHAPE(2), false);
    tg_parameters_add(set, "empty", TG_SHAPE(0, 4), true);
    tg_parameters_add(set, "scalar", TG_SCALAR, true);
    for (int i = 0; i < tg_parameters_count(set); i++)
        for (int64_t k = 0; k < tg_shape_size(&tg_parameters_at(set, i)->shape); k++)
            tg_parameter_put(tg_parameters_at(set, i), k, first + 10 * i + (double)k / 3);
    return set;
}

static void assert_same(const tg_parameters *a, const tg_parameters *b, double tolerance)
{
    for (int i = 0; i < tg_parameters_count(a); i++) {
        const tg_parameter *p = tg_parameters_at(a, i), *q = tg_parameters_find(b, p->name);
        for (int64_t k = 0; k < tg_shape_size(&p->shape); k++)
            ck_assert_double_le(fabs(tg_parameter_get(p, k) - tg_parameter_get(q, k)), tolerance);
    }
}

START_TEST(what_is_saved_is_loaded_in_either_type)
{
    static const tg_metadata lines[] = {{"activation", "gelu_exact"}, {"note", "a \"quote\", a \\ and \xc3\xbc"}};
    for (int from = TG_F32; from <= TG_F64; from++)
        for (int to = TG_F32; to <= TG_F64; to++) {
            tg_parameters *saved = small_set((tg_dtype)from, 1), *loaded = small_set((tg_dtype)to, -7);
            ck_assert_msg(tg_parameters_save(saved, temporary_path("m"), lines, 2, &error), "%s", error.text);
            ck_assert_msg(tg_parameters_load(loaded, temporary_path("m"), NULL, &error), "%s", error.text);
            assert_same(saved, loaded, from == to ? 0 : 1e-5);
            tg_safetensors *file = tg_safetensors_open(temporary_path("m"), &error);
            ck_assert_str_eq(tg_safetensors_metadata(file, "note"), lines[1].value);
            ck_assert_ptr_null(tg_safetensors_metadata(file, "nothing"));
            tg_safetensors_close(file);
            tg_parameters_free(saved);
            tg_parameters_free(loaded);
        }
}
END_TEST

static double read_at(tg_safetensors *file, const char *name, int index)
{
    double numbers[8];
    const tg_file_tensor *tensor = tg_safetensors_find(file, name);
    ck_assert_msg(tensor && tensor->size <= 8, "%s", name);
    ck_assert_msg(tg_safetensors_read(file, tensor, TG_F64, numbers, &error), "%s", error.text);
    return numbers[index];
}

START_TEST(a_file_of_pythons_package_is_read)
{
    tg_safetensors *file = tg_safetensors_open("tests/golden/python.safetensors", &error);
    ck_assert_msg(file != NULL, "%s", error.text);
    ck_assert_double_eq(read_at(file, "layers.0.weight", 5), 0.75);
    ck_assert_double_eq(read_at(file, "layers.0.bias", 0), 1e-300);
    ck_assert_double_eq(read_at(file, "half", 1), -0.25);
    ck_assert_double_eq(read_at(file, "half", 2), 65504);
    ck_assert_double_eq(read_at(file, "half", 3), ldexp(1, -24)); /* subnormal */
    ck_assert_double_eq(read_at(file, "half", 4), INFINITY);
    ck_assert_double_eq(read_at(file, "bfloat", 2), 3.140625);
    ck_assert_double_eq(read_at(file, "scalar", 0), 7);
    ck_assert_double_eq(read_at(file,
                                "odd \"name\" \\ \xc3\xbc"
                                "bung",
                                0),
                        1);
    ck_assert_int_eq(tg_safetensors_find(file, "empty")->shape.dim[1], 3);
    ck_assert_str_eq(tg_safetensors_metadata(file, "activation"), "gelu_exact");
    ck_assert_str_eq(tg_safetensors_metadata(file, "note"), "a \"quote\", a \\ and \xc3\xbc");
    double numbers[3];
    ck_assert(!tg_safetensors_read(file, tg_safetensors_find(file, "labels"), TG_F64, numbers, &error));
    ck_assert_str_eq(error.text, "tests/golden/python.safetensors: tensor labels: I64 numbers cannot be read as f64");
    ck_assert_ptr_null(tg_safetensors_at(file, 8));
    tg_safetensors_close(file);
}
END_TEST

static const char *written(const char *header, long long size, size_t data);

/* On a processor with the highest byte first, too. */
START_TEST(a_file_has_the_lowest_byte_of_a_number_first)
{
    static const float single[] = {1, -2.5f};
    static const double twice[] = {0.75};
    static const int32_t whole[] = {258};
    static const unsigned char bytes[] = {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0, 0, 0, 0, 0, 0, 0, 0xe8, 0x3f, 2, 1, 0, 0};
    const tg_file_item items[] = {{"single", TG_F32, TG_SHAPE(2), single},
                                  {"twice", TG_F64, TG_SHAPE(1), twice},
                                  {"whole", TG_I32, TG_SHAPE(1), whole}};
    ck_assert_msg(tg_safetensors_write(temporary_path("bytes"), items, 3, NULL, 0, &error), "%s", error.text);
    unsigned char read[1000];
    FILE *file = fopen(temporary_path("bytes"), "rb");
    const size_t size = fread(read, 1, sizeof read, file);
    fclose(file);
    ck_assert_mem_eq(read + size - sizeof bytes, bytes, sizeof bytes);
}
END_TEST

/* null in place of an object, as some programs write it and Python's package reads it. */
START_TEST(metadata_may_be_null)
{
    tg_safetensors *file = tg_safetensors_open(
        written("{\"__metadata__\": null,\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4),
        &error);
    ck_assert_msg(file != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(tg_safetensors_find(file, "a"));
    ck_assert_ptr_null(tg_safetensors_metadata(file, "a"));
    tg_safetensors_close(file);
}
END_TEST

/* Writes a file with this header, a right or wrong header size, and this many bytes after it. */
static const char *written(const char *header, long long size, size_t data)
{
    static unsigned char bytes[20000];
    const size_t length = strlen(header);
    const uint64_t claimed = size < 0 ? length : (uint64_t)size;
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(claimed >> (8 * i));
    memcpy(bytes + 8, header, length);
    memset(bytes + 8 + length, 0, data);
    temporary_write("bad", bytes, 8 + length + data);
    return temporary_path("bad");
}

#define TENSOR(shape, offsets) "{\"a\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static const struct {
    const char *header, *message;
    long long size; /* the size it names; -1: the true one */
    size_t data;
} malformed[] = {
    {"", "not a safetensors file: a header of 100 bytes in a file of 8", 100, 0},
    {"{}", "not a safetensors file: a header of 104857600 bytes", 104857600, 0},
    {"{}", "not a safetensors file: a header of 9223372036854775807 bytes", INT64_MAX, 0},
    {"", "'{' is missing", -1, 0},
    {"{", "'\"' is missing", -1, 0},
    {"{}x", "something follows its end", -1, 0},
    {"[]", "'{' is missing", -1, 0},
    {"{\"a\":1}", "'{' is missing", -1, 0},
    {"{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}", "tensor a: 'a' is repeated or unknown", -1, 0},
    {"{\"a", "a string does not end", -1, 0},
    {"{\"a\\u00zz\":{}}", "wrong escape", -1, 0},
    {"{\"a\\u0000b\":{}}", "wrong escape", -1, 0},
    {"{\"a\\n\":{}}", "wrong escape", -1, 0},
    {"{\"a\\ud800x\":{}}", "wrong escape", -1, 0},
    {"{\"a\x7f\":{}}", "not UTF-8, or has control characters", -1, 0},
    {"{\"a\xc2\x9b"
     "31m\":{}}",
     "not UTF-8, or has control characters", -1, 0},
    {"{\"a\\u009b31m\":{}}", "wrong escape", -1, 0},
    {"{\"__metadata__\":{\"a\\nb\":\"\"}}", "wrong escape", -1, 0},
    {"{\"__metadata__\":{\"a\":\"b\nc\"}}", "not UTF-8, or has control characters", -1, 0},
    {"{\"a\nb\":{}}", "not UTF-8, or has control characters", -1, 0},
    {"{\"a\xff\":{}}", "not UTF-8, or has control characters", -1, 0},
    {"{\"a\xed\xa0\x80\":{}}", "not UTF-8, or has control characters", -1, 0},
    {"{\"a\":{\"dtype\":\"F32\"}}", "tensor a: type, shape or offsets are missing", -1, 0},
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", "tensor a: unknown type F33", -1, 4},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", "tensor a: 'dtype' is repeated or unknown", -1, 0},
    {TENSOR("[-1]", "[0,4]"), "a whole number is missing", -1, 4},
    {TENSOR("[01]", "[0,4]"), "a whole number is missing", -1, 4},
    {TENSOR("[1.0]", "[0,4]"), "']' is missing", -1, 4},
    {TENSOR("[1e3]", "[0,4]"), "']' is missing", -1, 4},
    {TENSOR("[99999999999999999999]", "[0,4]"), "a number is too large", -1, 4},
    {TENSOR("[1,1,1,1,1,1,1,1,1]", "[0,4]"), "a list has more than 8 numbers", -1, 4},
    {TENSOR("[4611686018427387904]", "[0,4]"), "tensor a: its shape is absurdly large", -1, 4},
    {TENSOR("[4294967296,4294967296]", "[0,4]"), "tensor a: its shape is absurdly large", -1, 4},
    {TENSOR("[1]", "[0]"), "tensor a: its offsets cannot be read", -1, 4},
    {TENSOR("[1]", "[0,4,8]"), "a list has more than 2 numbers", -1, 4},
    {TENSOR("[1]", "[4,0]"), "tensor a: it lies at 4 .. 0", -1, 4},
    {TENSOR("[1]", "[0,4]"), "tensor a: it lies at 0 .. 4, and the file has 3 bytes", -1, 3},
    {TENSOR("[1]", "[0,8]"), "tensor a: its shape takes 4 bytes, its offsets have 8", -1, 8},
    {TENSOR("[1]", "[4,8]"), "tensor a: it leaves a gap before it", -1, 8},
    {TENSOR("[1]", "[0,4]"), "4 bytes at the end of the file belong to no tensor", -1, 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],"
     "\"data_offsets\":[4,12]}}",
     "tensor b: it overlaps another one", -1, 12},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
     "\"data_offsets\":[4,8]}}",
     "tensor a: there are two of this name", -1, 8},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", "metadata twice", -1, 0},
    {"{\"__metadata__\":{\"a\":1}}", "'\"' is missing", -1, 0},
    {"{\"__metadata__\":nul}", "'{' is missing", -1, 0},
};

START_TEST(a_malformed_file_is_refused_in_one_line)
{
    const char *path = written(malformed[_i].header, malformed[_i].size, malformed[_i].data);
    ck_assert_msg(!tg_safetensors_open(path, &error), "%s", malformed[_i].header);
    ck_assert_msg(strstr(error.text, malformed[_i].message), "%s, not: %s", error.text, malformed[_i].message);
    ck_assert_ptr_null(strchr(error.text, '\n'));
    ck_assert_int_eq(strncmp(error.text, path, strlen(path)), 0);
}
END_TEST

/* A valid file, truncated or changed at every byte, gives an error or another valid file, and nothing worse. */
START_TEST(no_damage_to_a_file_does_damage_to_its_reader)
{
    tg_parameters *saved = small_set(TG_F32, 1), *loaded = small_set(TG_F32, 2);
    ck_assert(tg_parameters_save(saved, temporary_path("m"), NULL, 0, &error));
    static char bytes[2000];
    FILE *file = fopen(temporary_path("m"), "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ck_assert_int_lt(size, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        temporary_write("cut", bytes, cut);
        ck_assert(!tg_parameters_load(loaded, temporary_path("cut"), NULL, &error));
    }
    int accepted = 0;
    for (size_t at = 0; at < size - 36; at++) {
        const char kept = bytes[at];
        bytes[at] ^= (char)(1 << at % 7);
        temporary_write("changed", bytes, size);
        accepted += tg_parameters_load(loaded, temporary_path("changed"), NULL, &error);
        bytes[at] = kept;
    }
    ck_assert_int_le(accepted, 8); /* a space changed to another one */
    tg_parameters_free(saved);
    tg_parameters_free(loaded);
}
END_TEST

/* A set of one parameter. */
static tg_parameters *one(const char *name, tg_shape shape)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameters_add(set, name, shape, true);
    return set;
}

START_TEST(names_and_shapes_must_agree_unless_told_otherwise)
{
    tg_parameters *saved = small_set(TG_F32, 1), *other = small_set(TG_F64, 5), *untouched = small_set(TG_F64, 5);
    const char *path = temporary_path("m");
    ck_assert(tg_parameters_save(saved, path, NULL, 0, &error));
    tg_parameters_add(other, "new", TG_SHAPE(2), true);
    ck_assert(!tg_parameters_load(other, path, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, ": tensor new is missing"));
    assert_same(untouched, other, 0);
    ck_assert(tg_parameters_load(other, path, &(tg_load_options){.allow_missing = true}, &error));
    assert_same(saved, other, 0);

    tg_parameters *few = one("scalar", TG_SCALAR);
    ck_assert(!tg_parameters_load(few, path, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "tensor empty: the model has no such parameter"));
    ck_assert(tg_parameters_load(few, path, &(tg_load_options){.allow_unknown = true}, &error));
    ck_assert_double_eq(tg_parameter_get(tg_parameters_at(few, 0), 0), 31);

    tg_parameters *wide = one("layers.0.weight", TG_SHAPE(3, 2));
    ck_assert(!tg_parameters_load(wide, path, &(tg_load_options){.allow_unknown = true}, &error));
    ck_assert_ptr_nonnull(strstr(
        error.text, "tensor layers.0.weight: its shape is [2, 3], and that of the model's layers.0.weight [3, 2]"));
    tg_parameters_free(saved);
    tg_parameters_free(other);
    tg_parameters_free(untouched);
    tg_parameters_free(few);
    tg_parameters_free(wide);
}
END_TEST

START_TEST(tensors_are_renamed_by_pattern)
{
    tg_parameters *saved = small_set(TG_F32, 1), *model = one("blocks.0.w", TG_SHAPE(2, 3));
    const char *path = temporary_path("m");
    ck_assert(tg_parameters_save(saved, path, NULL, 0, &error));
    static const tg_rename renames[] = {{"scalar", "blocks.0.bias"}, {"layers.*.weight", "blocks.*.w"}};
    const tg_load_options options = {.allow_unknown = true, .renames = renames, .rename_count = 2};
    ck_assert_msg(tg_parameters_load(model, path, &options, &error), "%s", error.text);
    ck_assert_double_eq_tol(tg_parameter_get(tg_parameters_at(model, 0), 5), 1 + 5. / 3, 1e-6);
    static const tg_rename both[] = {{"layers*", "blocks.0.w"}};
    ck_assert(!tg_parameters_load(model, path, &(tg_load_options){true, true, both, 1}, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "its shape is [2]"));
    tg_parameters_free(saved);
    tg_parameters_free(model);

    saved = one("a.weight", TG_SHAPE(2));
    tg_parameters_add(saved, "b.weight", TG_SHAPE(2), true);
    model = one("weight", TG_SHAPE(2));
    ck_assert(tg_parameters_save(saved, path, NULL, 0, &error));
    static const tg_rename same[] = {{"a.weight", "weight"}, {"b.weight", "weight"}};
    ck_assert(!tg_parameters_load(model, path, &(tg_load_options){.renames = same, .rename_count = 2}, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "tensors a.weight and b.weight: both would be weight"));
    tg_parameters_free(saved);
    tg_parameters_free(model);
}
END_TEST

#if !defined _WIN32 /* where no disk can be made to look full */

/* The linker redirects calls of fclose to this: Makefile. */
static bool close_fails;
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);

int __wrap_fclose(FILE *file)
{
    const bool fails = close_fails && fileno(file) >= 0; /* a file, and not memory */
    const int result = __real_fclose(file);
    errno = fails ? EDQUOT : errno;
    return fails ? EOF : result;
}

START_TEST(a_write_that_fails_keeps_the_old_file_and_leaves_nothing_else)
{
    tg_parameters *old = small_set(TG_F32, 1), *new = one("large", TG_SHAPE(100000)), *loaded = small_set(TG_F32, 3);
    const char *path = temporary_path("m");
    ck_assert(tg_parameters_save(old, path, NULL, 0, &error));
    const struct rlimit small = {4096, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0); /* as a full disk does */
    const bool fine = tg_parameters_save(new, path, NULL, 0, &error);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    ck_assert(!fine);
    ck_assert_ptr_nonnull(strstr(error.text, "File too large"));
    close_fails = true; /* as a full disk of another machine does */
    ck_assert(!tg_parameters_save(new, path, NULL, 0, &error));
    close_fails = false;
    ck_assert_msg(strstr(error.text, strerror(EDQUOT)) != NULL, "%s", error.text);
    ck_assert_msg(tg_parameters_load(loaded, path, NULL, &error), "%s", error.text);
    assert_same(old, loaded, 0);
    char count[600];
    snprintf(count, sizeof count, "test $(ls '%s' | wc -l) -eq 1", temporary_folder());
    ck_assert_int_eq(system(count), 0);
    ck_assert(!tg_parameters_save(old, temporary_path("no/such/folder"), NULL, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "No such file or directory"));
    tg_parameters_free(old);
    tg_parameters_free(new);
    tg_parameters_free(loaded);
}
END_TEST

#endif

enum { SHARED = 1 << 16 };

typedef struct writer {
    pthread_t thread;
    const char *path;
    float number;
    int refused;
} writer;

static void *write_again_and_again(void *context)
{
    writer *w = context;
    float *numbers = malloc(SHARED * sizeof *numbers);
    for (int i = 0; i < SHARED; i++)
        numbers[i] = w->number;
    const tg_file_item item = {"x", TG_F32, TG_SHAPE(SHARED), numbers};
    for (int i = 0; i < 100; i++)
        w->refused += !tg_safetensors_write(w->path, &item, 1, NULL, 0, NULL);
    free(numbers);
    return NULL;
}

/* Each writes a file of its own beside it, so that it is a whole one at any time; also where a killed process has left
 * one of that name. */
START_TEST(threads_may_write_one_file)
{
    static float read[SHARED];
    const char *const path = temporary_path("shared");
    writer writers[2] = {{.path = path, .number = 1}, {.path = path, .number = 2}};
    char left[60];
    snprintf(left, sizeof left, "shared.%ld.tmp", (long)getpid());
    temporary_write(left, "left", 4);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_again_and_again, &writers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i].thread, NULL);
    tg_safetensors *file = tg_safetensors_open(path, &error);
    ck_assert(file && tg_safetensors_read(file, tg_safetensors_find(file, "x"), TG_F32, read, &error));
    tg_safetensors_close(file);
    for (int i = 1; i < SHARED; i++)
        ck_assert_float_eq(read[i], read[0]);
    ck_assert_int_eq(writers[0].refused + writers[1].refused, 0);
}
END_TEST

START_TEST(metadata_may_have_any_character)
{
    const tg_metadata lines[] = {{"note", "one\ntwo\t\x1b[31m \x7f \xc2\x9b \" \\ \x01"}};
    const char *path = temporary_path("m");
    ck_assert_msg(tg_safetensors_write(path, NULL, 0, lines, 1, &error), "%s", error.text);
    tg_safetensors *file = tg_safetensors_open(path, &error);
    ck_assert_msg(file != NULL, "%s", error.text);
    ck_assert_str_eq(tg_safetensors_metadata(file, "note"), lines[0].value);
    tg_safetensors_close(file);

    static const struct {
        const char *header, *text;
    } escaped[] = {{"{\"__metadata__\":{\"a\":\"\\b\\f\\n\\r\\t\\u001b\"}}", "\b\f\n\r\t\x1b"},
                   {"{\"__metadata__\":{\"a\":\"\\u00e9\\u20ac\\ud83d\\ude00\"}}", "é€😀"}}; /* two, three, four bytes */
    for (int i = 0; i < 2; i++) {
        file = tg_safetensors_open(written(escaped[i].header, -1, 0), &error);
        ck_assert_msg(file != NULL, "%s", error.text);
        ck_assert_str_eq(tg_safetensors_metadata(file, "a"), escaped[i].text);
        tg_safetensors_close(file);
    }
}
END_TEST

START_TEST(messages_have_nothing_that_a_terminal_obeys)
{
    ck_assert(!tg_safetensors_open(temporary_path("\x1b[31m\xc2\x9b"
                                                  "2J\n"),
                                   &error));
    ck_assert_ptr_nonnull(strstr(error.text, "/?[31m??2J?: No such file"));
}
END_TEST

START_TEST(names_that_no_reader_takes_are_not_written)
{
    const float x = 1;
    const tg_file_item twice[] = {{"a", TG_F32, TG_SHAPE(1), &x}, {"a", TG_F32, TG_SHAPE(1), &x}};
    const char *path = temporary_path("m");
    ck_assert(!tg_safetensors_write(path, twice, 2, NULL, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "there are two of this name"));
    const tg_file_item control = {"a\nb", TG_F32, TG_SHAPE(1), &x};
    ck_assert(!tg_safetensors_write(path, &control, 1, NULL, 0, &error));
    const tg_file_item reserved = {"__metadata__", TG_F32, TG_SHAPE(1), &x};
    ck_assert(!tg_safetensors_write(path, &reserved, 1, NULL, 0, &error));
    const tg_file_item nothing = {NULL, TG_F32, TG_SHAPE(1), &x}, without_data = {"a", TG_F32, TG_SHAPE(1), NULL};
    ck_assert(!tg_safetensors_write(path, &nothing, 1, NULL, 0, &error));
    ck_assert(!tg_safetensors_write(path, &without_data, 1, NULL, 0, &error));
    ck_assert(!temporary_exists("m"));
    ck_assert(tg_safetensors_write(path, NULL, 0, NULL, 0, &error));
    tg_safetensors *file = tg_safetensors_open(path, &error);
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_null(tg_safetensors_at(file, 0));
    tg_safetensors_close(file);
}
END_TEST

START_TEST(too_little_memory_is_an_error_like_any_other)
{
    tg_parameters *saved = small_set(TG_F32, 1), *loaded = small_set(TG_F32, 2), *untouched = small_set(TG_F32, 2);
    static const tg_metadata line = {"a", "b"};
    char path[500];
    snprintf(path, sizeof path, "%s", temporary_path("m"));
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        const bool fine =
            tg_parameters_save(saved, path, &line, 1, &error) && tg_parameters_load(loaded, path, NULL, &error);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
        if (reached) {
            ck_assert_ptr_nonnull(strstr(error.text, "out of memory"));
            assert_same(untouched, loaded, 0);
        }
        ck_assert_int_lt(nth, 60);
    }
    assert_same(saved, loaded, 0);
    tg_parameters_free(saved);
    tg_parameters_free(loaded);
    tg_parameters_free(untouched);
}
END_TEST

START_TEST(null_is_survived)
{
    tg_safetensors_close(NULL);
    ck_assert_ptr_null(tg_safetensors_open(NULL, &error));
    ck_assert_ptr_null(tg_safetensors_at(NULL, 0));
    ck_assert_ptr_null(tg_safetensors_find(NULL, "a"));
    ck_assert_ptr_null(tg_safetensors_metadata(NULL, "a"));
    ck_assert(!tg_safetensors_read(NULL, NULL, TG_F32, NULL, &error));
    ck_assert(!tg_safetensors_write(NULL, NULL, 0, NULL, 0, &error));
    ck_assert(!tg_parameters_save(NULL, "x", NULL, 0, &error));
    ck_assert(!tg_parameters_load(NULL, NULL, NULL, &error));
    ck_assert_ptr_null(tg_safetensors_open(temporary_path("not there"), &error));
    ck_assert_ptr_nonnull(strstr(error.text, "No such file or directory"));
    ck_assert_ptr_null(tg_safetensors_open(temporary_folder(), &error));
    ck_assert_ptr_nonnull(strstr(error.text, ": Is a directory"));
}
END_TEST

Suite *safetensors_suite(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *tests = tcase_create("safetensors");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, what_is_saved_is_loaded_in_either_type);
    tcase_add_test(tests, a_file_of_pythons_package_is_read);
    tcase_add_test(tests, a_file_has_the_lowest_byte_of_a_number_first);
    tcase_add_test(tests, metadata_may_be_null);
    tcase_add_loop_test(tests, a_malformed_file_is_refused_in_one_line, 0, sizeof malformed / sizeof malformed[0]);
    tcase_add_test(tests, no_damage_to_a_file_does_damage_to_its_reader);
    tcase_add_test(tests, names_and_shapes_must_agree_unless_told_otherwise);
    tcase_add_test(tests, tensors_are_renamed_by_pattern);
#if !defined _WIN32
    tcase_add_test(tests, a_write_that_fails_keeps_the_old_file_and_leaves_nothing_else);
#endif
    tcase_add_test(tests, names_that_no_reader_takes_are_not_written);
    tcase_add_test(tests, threads_may_write_one_file);
    tcase_add_test(tests, metadata_may_have_any_character);
    tcase_add_test(tests, messages_have_nothing_that_a_terminal_obeys);
    tcase_add_test(tests, too_little_memory_is_an_error_like_any_other);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
