#include "tests/support/exported.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int shell(const char *format, ...)
{
    char command[4000];
    int used = snprintf(command, sizeof command, "cd '%s' && ", temporary_folder());
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + used, sizeof command - (size_t)used, format, arguments);
    va_end(arguments);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#if defined __x86_64__
enum { IS_X86 = 1 };
#else
enum { IS_X86 = 0 };
#endif

/* Emscripten's tools need Debian's Node.js modules, whichever Node.js runs them. The program is a single file, reads
 * and writes files of this system, and flushes its output when main returns. */
static const compiler compilers[] = {
    {{"gcc"}, "gcc -O2", "./net", true, IS_X86 ? "-march=native" : ""},
    {{"clang"}, "clang -O2", "./net", true, IS_X86 ? "-mfma" : ""},
    {{"tcc"}, "tcc", "./net", true, ""},
    {{"aarch64-linux-gnu-gcc", "qemu-aarch64-static"},
     "aarch64-linux-gnu-gcc -O2 -static",
     "qemu-aarch64-static ./net",
     false,
     ""},
    {{"emcc", "node"},
     "NODE_PATH=/usr/share/nodejs emcc -O2 -sNODERAWFS=1 -sFORCE_FILESYSTEM=1 -sSINGLE_FILE=1 -sEXIT_RUNTIME=1 "
     "-sINITIAL_MEMORY=64MB",
     "node ./net",
     false,
     ""},
};
enum { COMPILERS = sizeof compilers / sizeof compilers[0] };

static bool is_here(int i)
{
    static int known[COMPILERS]; /* 1: available, -1: not */
    for (int k = 0; k < 2 && compilers[i].needs[k] && known[i] >= 0; k++) {
        known[i] = shell("command -v %s >/dev/null", compilers[i].needs[k]) == 0 ? 1 : -1;
        if (known[i] < 0)
            printf("skipped: %s is not installed\n", compilers[i].needs[k]);
    }
    return known[i] > 0;
}

const compiler *compiler_next(const compiler *last, compilers_of which)
{
    for (int i = last ? (int)(last - compilers) + 1 : 0; i < COMPILERS && !(last && which == COMPILERS_ONE); i++)
        if ((compilers[i].is_native || which == COMPILERS_ALL) && is_here(i))
            return &compilers[i];
    return NULL;
}

bool compiler_build(const compiler *c, const char *files)
{
    const bool is_fused = tg_kernels.products[TG_F32]->fused;
    return shell("%s -std=c99 -Wall -Wextra -pedantic -Werror -ffp-contract=off %s -DTG_HAS_FMA=%d %s -o net -lm",
                 c->command, is_fused ? c->fused : "", is_fused, files) == 0;
}

bool exported_spec(int i, const char *norm, net_spec *spec)
{
    const char *model = net_models[i];
    const bool attends = strcmp(model, "gpt") == 0 || strcmp(model, "vit") == 0 || tg_model_traits_of(model)->pairs;
    const bool by_rows = strcmp(norm, "layer") == 0 || strcmp(norm, "rms") == 0;
    *spec = (net_spec){.model = model,
                       .norm = norm,
                       .inputs = 28 * 28,
                       .outputs = 10,
                       .image_width = 28,
                       .image_height = 28,
                       .vocabulary = 31,
                       .hidden = "24,16",
                       .filters = "4,8",
                       .layers = 2,
                       .width = 16,
                       .context = 12};
    tg_model_spec_complete(spec);
    return attends ? by_rows : !(by_rows && strcmp(model, "convnet") == 0);
}

const net_spec exported_rotary_gpt = {.model = "gpt",
                                      .norm = "rms",
                                      .vocabulary = 9,
                                      .layers = 2,
                                      .heads = 4,
                                      .kv_heads = 2,
                                      .width = 32,
                                      .context = 20,
                                      .rotary = true,
                                      .activation = "swiglu"};

int64_t exported_width(const net_spec *spec)
{
    const tg_model_traits *traits = tg_model_traits_of(spec->model);
    return traits->pairs ? 2 * spec->context : traits->text ? spec->context : spec->inputs;
}

tg_tensor exported_prediction(const net_spec *spec, const tg_model *model, tg_tape *tape, tg_tensor *x)
{
    tg_rng rng = tg_rng_seed(3);
    float row[28 * 28];
    int32_t letters[64];
    for (int i = 0; i < 28 * 28; i++)
        row[i] = (float)tg_rng_uniform(&rng) * 2 - 0.5f;
    for (int i = 0; i < 64; i++)
        letters[i] = (int32_t)(tg_rng_uniform(&rng) * spec->vocabulary);
    tg_no_grad_begin(tape);
    *x = tg_model_traits_of(spec->model)->text ? tg_constant(tape, TG_I32, letters, TG_SHAPE(1, exported_width(spec)))
                                               : tg_constant(tape, TG_F32, row, TG_SHAPE(1, exported_width(spec)));
    const tg_tensor y = tg_model_forward(model, *x, NULL);
    tg_no_grad_end(tape);
    ck_assert_msg(tg_ok(y), "%s", tg_tape_error(tape));
    return y;
}

tg_model *exported_model(const net_spec *spec)
{
    tg_error error = {""};
    tg_rng rng = tg_rng_seed(7);
    tg_model *model = net_new(spec, &rng, &error);
    ck_assert_msg(model, "%s", error.text);
    tg_parameters *set = tg_model_parameters(model);
    for (int i = 0; i < tg_parameters_count(set); i++)
        for (int64_t k = 0; k < tg_shape_size(&tg_parameters_at(set, i)->shape); k++)
            tg_parameter_put(tg_parameters_at(set, i), k,
                             tg_parameter_get(tg_parameters_at(set, i), k) + 0.2 * (tg_rng_uniform(&rng) - 0.4));
    return model;
}
