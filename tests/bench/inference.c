#include "tests/bench/modes.h"

#include "tests/bench/compile.h"
#include "tests/bench/race.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tapegrad.h>
#include <unistd.h>

/* ---- rows of tables: an image of 784 pixels into 10 classes, 13 columns to a number, and the mean of four nets 4-64-64-3,
 * with zeros between them and in groups ---- */

enum { MOST_INPUTS = 784, MOST_ROWS = 256, MOST_OUTPUTS = 10 };

static const struct {
    const char *name, *hidden;
    int inputs, width[2], outputs, groups;
} nets[] = {{"784-128-10", "128", 784, {128}, 10},
            {"13-64-64-1", "64,64", 13, {64, 64}, 1},
            {"4-256-256-3", "256,256", 4, {256, 256}, 3},
            {"4-(64-64)x4-3", "256,256", 4, {256, 256}, 3, 4}};
static const int rows[] = {1, 256};
enum { NETS = sizeof nets / sizeof *nets, ROWS = sizeof rows / sizeof *rows };

typedef struct predictions {
    tg_model *model;
    tg_tape *tape;
    int64_t rows, inputs;
    void *library;
    int (*emitted)(const float *x, float *y);
    double numbers[MOST_ROWS * MOST_INPUTS], results[MOST_ROWS * MOST_OUTPUTS];
    float x[MOST_ROWS * MOST_INPUTS], y[MOST_ROWS * MOST_OUTPUTS];
} predictions;

static double run_predict(void *context, int steps)
{
    predictions *p = context;
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++)
        if (!tg_model_predict_rows(p->model, p->numbers, p->rows, p->results, NULL))
            return -1;
    return race_clock(1) - start;
}

static tg_tensor forward(predictions *p, tg_tape *tape, tg_tensor *x)
{
    *x = tg_borrow(tape, TG_F32, p->x, TG_SHAPE(p->rows, p->inputs));
    return tg_model_forward(p->model, *x, NULL);
}

static double run_tape(void *context, int steps)
{
    predictions *p = context;
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++) {
        tg_tensor x;
        tg_tape_reset(p->tape);
        tg_no_grad_begin(p->tape);
        const tg_tensor y = forward(p, p->tape, &x);
        tg_no_grad_end(p->tape);
        if (!tg_ok(y))
            return -1;
    }
    return race_clock(1) - start;
}

static double run_emitted(void *context, int steps)
{
    predictions *p = context;
    const double start = race_clock(1);
    for (int i = 0; p->emitted && i < steps; i++)
        if (p->emitted(p->x, p->y) != 0)
            return -1;
    return p->emitted ? race_clock(1) - start : -1;
}

static double run_nothing(void *context, int steps)
{
    (void)context, (void)steps;
    return -1;
}

/* The card of a table whose columns are standardised. */
static tg_card *card_of(int net, tg_error *error)
{
    static char model[600], data[200 + 60 * MOST_INPUTS];
    const bool classes = nets[net].outputs > 1;
    snprintf(model, sizeof model,
             "{\"model\":\"mlp\",\"hidden\":\"%s\",\"activation\":\"relu\",\"norm\":\"none\",\"init\":\"default\","
             "\"inputs\":%d,\"outputs\":%d,\"image_height\":0,\"image_width\":0,\"vocabulary\":0}",
             nets[net].hidden, nets[net].inputs, nets[net].outputs);
    int at = snprintf(data, sizeof data, "{\"task\":\"%s\",\"inputs\":[", classes ? "classes" : "targets");
    for (int i = 0; i < nets[net].inputs; i++)
        at += snprintf(data + at, sizeof data - (size_t)at, "%s{\"mean\":0.5,\"scale\":2.0,\"number\":%d}",
                       i ? "," : "", i);
    at += snprintf(data + at, sizeof data - (size_t)at, "],\"classes\":[");
    for (int i = 0; classes && i < nets[net].outputs; i++)
        at += snprintf(data + at, sizeof data - (size_t)at, "%s\"%d\"", i ? "," : "", i);
    snprintf(data + at, sizeof data - (size_t)at,
             "],\"targets\":[%s],\"pixel_scale\":1.0,\"lines\":false,\"letters\":[]}",
             classes ? "" : "{\"name\":\"y\",\"mean\":0.0,\"scale\":1.0}");
    return tg_card_parse(model, data, error);
}

/* The prediction as C and, if `onnx` is a path, in that file. */
static bool export(predictions *p, const inference_settings *s, const char *onnx)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor x;
    const tg_tensor y = forward(p, tape, &x);
    const tg_export_config config = {.input = {.tensor = x}, .output = {.tensor = y}};
    const size_t length = tg_export(tape, &config, NULL, 0);
    char *text = length ? malloc(length + 1) : NULL;
    if (text && tg_export(tape, &config, text, length + 1))
        p->library = bench_compile(text, "predict", s->compiler, "", "--inference");
    if (p->library)
        *(void **)&p->emitted = dlsym(p->library, "net_predict");
    free(text);
    bool written = !onnx;
    const size_t bytes = onnx ? tg_export_onnx(tape, &config, NULL, 0) : 0;
    char *model = bytes ? malloc(bytes) : NULL;
    FILE *file = model && tg_export_onnx(tape, &config, model, bytes) ? fopen(onnx, "wb") : NULL;
    if (file)
        written = fwrite(model, 1, bytes, file) == bytes;
    written = file ? (fclose(file) == 0 && written) : written;
    if (tg_tape_error(tape))
        fprintf(stderr, "bench: %s\n", tg_tape_error(tape));
    free(model);
    tg_tape_free(tape);
    return p->emitted && written;
}

static bool open_predictions(predictions *p, int net, int64_t count)
{
    tg_error error;
    tg_rng rng = tg_rng_seed(1);
    memset(p, 0, sizeof *p);
    p->rows = count;
    p->inputs = nets[net].inputs;
    tg_card *card = card_of(net, &error);
    p->model = card ? tg_mlp_new(&rng, &(tg_mlp_config){.inputs = nets[net].inputs,
                                                        .hidden = {nets[net].width[0], nets[net].width[1]},
                                                        .outputs = nets[net].outputs,
                                                        .groups = nets[net].groups,
                                                        .activation = TG_RELU})
                    : NULL;
    p->tape = tg_tape_new();
    if (!p->model || !p->tape) {
        fprintf(stderr, "bench: %s\n", card ? "out of memory" : error.text);
        tg_card_free(card);
        return false;
    }
    tg_model_set_card(p->model, card);
    for (int64_t i = 0; i < count * p->inputs; i++) {
        p->numbers[i] = tg_rng_normal(&rng);
        p->x[i] = (float)((p->numbers[i] - 0.5) / 2);
    }
    return true;
}

/* The library's ways must agree before they are timed. */
static bool agree(predictions *p, int net)
{
    const int64_t count = p->rows * nets[net].outputs;
    tg_tensor x;
    tg_tape_reset(p->tape);
    const float *y = tg_f32(forward(p, p->tape, &x));
    bool fine = y && p->emitted(p->x, p->y) == 0 && memcmp(y, p->y, (size_t)count * sizeof *y) == 0;
    if (!fine)
        fprintf(stderr, "bench: exported C predicts other numbers than the tape\n");
    return fine;
}

enum { PREDICT, TAPE, EMITTED, TORCH, ONNX, ENTRIES };

static void print(const char *name, const race_entry *entries, int count, bool csv)
{
    printf(csv ? "\"%s\"" : "%-30s", name);
    for (int i = 0; i < count; i++)
        if (isnan(entries[i].seconds))
            printf(csv ? "," : "%12s", "-");
        else
            printf(csv ? ",%.2f" : "%12.2f", 1e6 * entries[i].seconds);
    printf("\n");
    fflush(stdout);
}

static bool time_predictions(int net, int64_t count, bench_peer *peers[2], const inference_settings *s)
{
    static predictions p;
    char name[60], work[500], onnx[300];
    race_entry entries[ENTRIES] = {[PREDICT] = {.run = run_predict, .context = &p},
                                   [TAPE] = {.run = run_tape, .context = &p},
                                   [EMITTED] = {.run = run_emitted, .context = &p},
                                   [TORCH] = {.run = run_nothing},
                                   [ONNX] = {.run = run_nothing}};
    snprintf(onnx, sizeof onnx, "%s/bench_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    const int file = peers[1] ? mkstemp(onnx) : -1;
    bool fine = open_predictions(&p, net, count) && export(&p, s, file >= 0 ? onnx : NULL) && agree(&p, net);
    snprintf(work, sizeof work, "net infer:relu %lld %d %d", (long long)count, nets[net].inputs, nets[net].width[0]);
    if (nets[net].width[1])
        snprintf(work + strlen(work), sizeof work - strlen(work), " %d", nets[net].width[1]);
    snprintf(work + strlen(work), sizeof work - strlen(work), " %d", nets[net].outputs);
    if (fine && bench_peer_prepare(peers[0], work))
        entries[TORCH] = (race_entry){.run = bench_peer_run, .context = peers[0]};
    snprintf(work, sizeof work, "net onnx:%s %lld %d", onnx, (long long)count, nets[net].inputs);
    if (fine && file >= 0 && bench_peer_prepare(peers[1], work))
        entries[ONNX] = (race_entry){.run = bench_peer_run, .context = peers[1]};
    if (fine)
        race(entries, ENTRIES, s->seconds);
    snprintf(name, sizeof name, "%s, %lld row%s", nets[net].name, (long long)count, count > 1 ? "s" : "");
    if (fine)
        print(name, entries, ENTRIES, s->csv);
    if (file >= 0)
        close(file), unlink(onnx);
    if (p.library)
        dlclose(p.library);
    tg_model_free(p.model);
    tg_tape_free(p.tape);
    return fine;
}

/* ---- characters, one after the other ---- */

enum { LETTERS = 65, CONTEXT = 256, WIDTH = 128, STATE = 256 };

typedef struct writing {
    tg_decoder *decoder;
    int from, count; /* which characters are timed */
} writing;

static int32_t likeliest(const float *logits)
{
    int32_t best = 0;
    for (int32_t i = 1; i < LETTERS; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

/* A step is a character. */
static double run_writing(void *context, int steps)
{
    const writing *w = context;
    double spent = 0;
    for (int done = 0; done < steps;) {
        int32_t id = 1;
        double start = 0;
        tg_decoder_restart(w->decoder);
        for (int i = 0; i < w->from + w->count && done < steps; i++) {
            if (i == w->from)
                start = race_clock(1);
            const float *logits = tg_f32(tg_decoder_read(w->decoder, &id, 1));
            if (!logits)
                return -1;
            id = likeliest(logits);
            done += i >= w->from;
        }
        spent += race_clock(1) - start;
    }
    return spent;
}

static bool time_writing(const char *name, const tg_model *model, int from, int count, bench_peer *peer,
                         const char *work, const inference_settings *s)
{
    writing w = {tg_decoder_new(model, CONTEXT), from, count};
    race_entry entries[] = {{.run = run_writing, .context = &w}, {.run = run_nothing}};
    if (w.decoder && work && bench_peer_prepare(peer, work))
        entries[1] = (race_entry){.run = bench_peer_run, .context = peer};
    if (w.decoder)
        race(entries, 2, s->seconds);
    if (w.decoder)
        print(name, entries, 2, s->csv);
    tg_decoder_free(w.decoder);
    return w.decoder && !isnan(entries[0].seconds);
}

static bool time_texts(bench_peer *peer, const inference_settings *s)
{
    tg_rng rng = tg_rng_seed(1);
    tg_model *gpt = tg_transformer_new(&rng, &(tg_transformer_config){.vocabulary = LETTERS,
                                                                      .context = CONTEXT,
                                                                      .layers = 4,
                                                                      .block = tg_block_gpt(WIDTH, 4),
                                                                      .tied = true}),
             *lstm = tg_char_rnn_new(
                 &rng,
                 &(tg_char_rnn_config){.vocabulary = LETTERS, .cell = TG_LSTM, .embedding = STATE, .width = STATE});
    printf(s->csv ? "text,us,torch_us\n" : "\n%-30s%12s%12s\n", "us a character", "read", "PyTorch");
    const bool fine =
        gpt && lstm &&
        time_writing("GPT 4 x 128, all of 256", gpt, 0, CONTEXT, peer, "net write:gpt 256 4 4 128 65", s) &&
        time_writing("LSTM 256, all of 256", lstm, 0, CONTEXT, peer, "net write:lstm 256 256 65", s) &&
        time_writing("LSTM 256, numbers 8 to 15", lstm, 8, 8, NULL, NULL, s) &&
        time_writing("LSTM 256, numbers 128 to 135", lstm, 128, 8, NULL, NULL, s);
    tg_model_free(gpt);
    tg_model_free(lstm);
    return fine;
}

/* ---- files ---- */

static const char table_data[] =
    "{\"task\":\"targets\",\"inputs\":[{\"mean\":0,\"scale\":1,\"number\":0}],\"classes\":[],\"targets\":[{\"name\":"
    "\"y\",\"mean\":0,\"scale\":1}],\"lines\":false,\"letters\":[]}";
static const char text_data[] = "{\"task\":\"letters\",\"inputs\":[],\"classes\":[],\"targets\":[],\"lines\":false,"
                                "\"letters\":[9,10,97,98,99]}";

/* Files that claim a net far larger than the tensors they have, or than the three characters that it encodes. */
static const struct {
    const char *name, *data, *net, *claim;
    bool opens;
} files[] = {{"mlp 1-8-8-1 that claims 1-3436-3436-1", table_data,
              "\"model\":\"mlp\",\"hidden\":\"8,8\",\"inputs\":1,\"outputs\":1,\"vocabulary\":0",
              "\"model\":\"mlp\",\"hidden\":\"3436,3436\",\"inputs\":1,\"outputs\":1,\"vocabulary\":0", false},
             {"seq2seq of context 1,600", text_data, NULL,
              "\"model\":\"seq2seq\",\"layers\":1,\"heads\":2,\"width\":8,\"relative\":true,\"context\":1600,"
              "\"inputs\":0,\"outputs\":0,\"vocabulary\":5",
              true},
             {"seq2seq of context 16,000", text_data, NULL,
              "\"model\":\"seq2seq\",\"layers\":1,\"heads\":2,\"width\":8,\"relative\":true,\"context\":16000,"
              "\"inputs\":0,\"outputs\":0,\"vocabulary\":5",
              true}};

static tg_card *claimed(const char *net, const char *data, tg_error *error)
{
    char model[400];
    snprintf(model, sizeof model,
             "{%s,\"activation\":\"relu\",\"norm\":\"%s\",\"init\":\"default\",\"image_height\":0,"
             "\"image_width\":0}",
             net, strstr(net, "mlp") ? "none" : "rms");
    return tg_card_parse(model, data, error);
}

/* Writes the file: the weights of one net, under the card of another. */
static bool write_claim(int number, const char *path, tg_error *error)
{
    tg_metadata lines[TG_CARD_LINES];
    const tg_rng rng = tg_rng_seed(1);
    tg_card *card = claimed(files[number].claim, files[number].data, error),
            *own = claimed(files[number].net ? files[number].net : files[number].claim, files[number].data, error);
    tg_model *model = card && own ? tg_model_of_spec(&own->spec, &rng, error) : NULL;
    if (card)
        tg_card_metadata(card, lines);
    const bool fine = model && tg_parameters_save(tg_model_parameters(model), path, lines, TG_CARD_LINES, error);
    tg_model_free(model);
    tg_card_free(card);
    tg_card_free(own);
    return fine;
}

/* Encodes three characters and their newline. */
static bool encode_characters(const tg_model *model)
{
    static const int32_t ids[] = {2, 3, 4, 1};
    tg_tape *tape = tg_tape_new();
    tg_tensor mask;
    tg_no_grad_begin(tape);
    const bool fine = tg_f32(tg_seq2seq_encode(model, tg_borrow(tape, TG_I32, ids, TG_SHAPE(1, 4)), &mask));
    tg_tape_free(tape);
    return fine;
}

/* In a process of its own, whose resident memory is that of the file alone. */
static int open_claim(int number, const char *path, bool csv)
{
    tg_error error;
    struct rusage usage;
    const double start = race_clock(1);
    tg_model *model = tg_model_open(path, &error);
    const bool fine = files[number].opens ? model && encode_characters(model) : !model;
    const double seconds = race_clock(1) - start;
    getrusage(RUSAGE_SELF, &usage);
    if (!fine)
        return fprintf(stderr, "bench: %s: not as expected\n", files[number].name), 1;
    printf(csv ? "\"%s\",%.2f,%.1f\n" : "%-42s%12.2f%12.1f\n", files[number].name, 1e3 * seconds,
           (double)usage.ru_maxrss / 1e3);
    return fflush(stdout) == 0 ? 0 : 1;
}

static bool open_claims(const inference_settings *s)
{
    char path[300];
    snprintf(path, sizeof path, "%s/bench_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    const int file = mkstemp(path);
    bool fine = file >= 0;
    printf(s->csv ? "file,ms,resident_MB\n" : "\n%-42s%12s%12s\n", "a file that is opened, or refused", "ms", "MB");
    for (int i = 0; fine && i < (int)(sizeof files / sizeof *files); i++) {
        tg_error error;
        int status = -1;
        fine = write_claim(i, path, &error) || (fprintf(stderr, "bench: %s\n", error.text), false);
        fflush(stdout);
        const pid_t child = fine ? fork() : -1;
        if (child == 0)
            _exit(open_claim(i, path, s->csv));
        fine = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    }
    if (file >= 0)
        close(file), unlink(path);
    return fine;
}

bool inference_bench(const inference_settings *s)
{
    bench_peer *peers[2] = {NULL, NULL};
    bool fine = true;
    tg_set_threads(1);
    for (int i = 0; s->peer.python && i < 2; i++) {
        peers[i] = bench_peer_start(PEER_TORCH, s->peer.python, 1);
        fine = fine && (peers[i] || !s->peer.required);
    }
    if (fine)
        printf(s->csv ? "prediction,predict_us,tape_us,emitted_us,torch_us,onnxruntime_us\n"
                      : "%-30s%12s%12s%12s%12s%12s\n",
               "us a call", "predict", "tape", "emitted C", "PyTorch", "onnxruntime");
    for (int i = 0; i < NETS * ROWS; i++)
        fine = fine && time_predictions(i / ROWS, rows[i % ROWS], peers, s);
    fine = fine && time_texts(peers[0], s) && open_claims(s);
    bench_peer_stop(peers[0]);
    bench_peer_stop(peers[1]);
    return fine;
}
