/* An image as a network of its coordinates: sines learn it with its derivatives, other activations blur it (Sitzmann
 * and others, arXiv 2006.09661). The net sees grey values only; its gradient and its Laplacian, by tg_grad, are
 * compared with those of the image, which is a formula.
 *
 *     siren [ACTIVATION [STEPS]]    sine, relu, tanh, gelu_exact, ...; writes siren.csv and, with gnuplot, siren.png */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, PARTS = 4 };

/* Brightness where x and y are between -1 and 1: rings that become finer outwards, a disc with soft edges, a patch of
 * stripes, and a slope. */
static tg_tensor image(tg_tensor x, tg_tensor y)
{
    const tg_tensor rings = tg_add(tg_square(x), tg_square(y));
    const tg_tensor disc = tg_add(tg_square(tg_add_scalar(x, -0.4)), tg_square(tg_add_scalar(y, 0.4)));
    const tg_tensor patch = tg_add(tg_square(tg_add_scalar(x, 0.5)), tg_square(tg_add_scalar(y, -0.5)));
    const tg_tensor wave = tg_add(tg_mul_scalar(x, 25), tg_mul_scalar(y, 12));
    tg_tensor sum = tg_mul_scalar(tg_mul(tg_sin(tg_mul_scalar(rings, 30)), tg_exp(tg_mul_scalar(rings, -2))), 0.5);
    sum = tg_add(sum, tg_mul_scalar(tg_tanh(tg_add_scalar(tg_mul_scalar(disc, -50), 4)), 0.3));
    sum = tg_add(sum, tg_mul_scalar(tg_mul(tg_sin(wave), tg_exp(tg_mul_scalar(patch, -4))), 0.2));
    return tg_add(sum, tg_mul_scalar(x, 0.1));
}

/* f, f_x, f_y and f_xx + f_yy at every pixel, of a net or, without one, of the image. */
static bool differentiate(tg_tape *tape, const tg_mlp *net, double parts[PARTS][PIXELS])
{
    static double at[2][PIXELS];
    static float at_float[2][PIXELS];
    tg_tensor place[2], first[2] = {TG_NONE, TG_NONE}, second[2] = {TG_NONE, TG_NONE};
    tg_tape_reset(tape);
    for (int i = 0; i < 2 * PIXELS; i++) { /* the middles of the pixels */
        const int p = i % PIXELS;
        at_float[i / PIXELS][p] = (float)(at[i / PIXELS][p] = (2. * (i < PIXELS ? p % SIDE : p / SIDE) + 1) / SIDE - 1);
    }
    for (int i = 0; i < 2; i++)
        place[i] = net ? tg_borrow(tape, TG_F32, at_float[i], TG_SHAPE(PIXELS, 1))
                       : tg_borrow(tape, TG_F64, at[i], TG_SHAPE(PIXELS, 1));
    const tg_tensor f = net ? tg_mlp_forward(net, tg_concat(place, 2, 1)) : image(place[0], place[1]);
    tg_grad(&f, 1, place, 2, NULL, true, first); /* a pixel's f depends on its own place only */
    for (int i = 0; i < 2; i++)
        tg_grad(&first[i], 1, &place[i], 1, NULL, false, &second[i]);
    return tg_read(f, TG_F64, parts[0], PIXELS) && tg_read(first[0], TG_F64, parts[1], PIXELS) &&
           tg_read(first[1], TG_F64, parts[2], PIXELS) &&
           tg_read(tg_add(second[0], second[1]), TG_F64, parts[3], PIXELS);
}

/* Peak signal to noise ratio in dB, of some parts: 10 log10(range^2 / mean squared error). */
static double psnr(const double truth[], const double ours[], int count)
{
    double low = INFINITY, high = -INFINITY, squares = 0;
    for (int i = 0; i < count; i++) {
        low = fmin(low, truth[i]), high = fmax(high, truth[i]);
        squares += (truth[i] - ours[i]) * (truth[i] - ours[i]) / count;
    }
    return 10 * log10((high - low) * (high - low) / squares);
}

/* Above the image, the length of its gradient and its Laplacian, below the same of the net. */
static const char picture[] =
    "set terminal pngcairo size 840,580 font 'sans,11'; set output 'siren.png'; set datafile separator ','\n"
    "set multiplot layout 2,3; unset key; unset tics; unset colorbox; set palette gray; set size ratio -1\n"
    "array low[3] = [-0.7, 0, -250]; array high[3] = [0.7, 20, 250]; array what[3] = ['image', 'gradient', "
    "'Laplacian']\n"
    "set xrange [-1:1]; set yrange [1:-1]\n"
    "do for [row=0:1] { do for [i=1:3] { set cbrange [low[i]:high[i]]; set title what[i] . (row ? ', net' : ', true')\n"
    "plot 'siren.csv' using 1:2:(i == 2 ? sqrt(column(4 + 4*row)**2 + column(5 + 4*row)**2) : column(2 + i + (i > 2) + "
    "4*row)) with image } }\n";

static bool write_csv(double truth[PARTS][PIXELS], double ours[PARTS][PIXELS])
{
    FILE *csv = fopen("siren.csv", "w");
    for (int p = 0; csv && p < PIXELS; p++) {
        fprintf(csv, "%.17g,%.17g", (2. * (p % SIDE) + 1) / SIDE - 1, (2. * (p / SIDE) + 1) / SIDE - 1);
        for (int i = 0; i < 2 * PARTS; i++)
            fprintf(csv, ",%.9g", (i < PARTS ? truth : ours)[i % PARTS][p]);
        fputc('\n', csv);
    }
    return csv && fclose(csv) == 0;
}

int main(int argc, char **argv)
{
    static double truth[PARTS][PIXELS], ours[PARTS][PIXELS];
    static float places[PIXELS][2], grey[PIXELS];
    tg_mlp_config config = {.inputs = 2, .hidden = {64, 64, 64, 64}, .outputs = 1, .activation = TG_SINE};
    const int steps = argc > 2 ? atoi(argv[2]) : 500;
    if ((argc > 1 && !tg_activation_from_name(argv[1], &config.activation)) || steps < 1)
        return puts("usage: siren [ACTIVATION [STEPS]], such as sine, relu or gelu_exact"),
               strcmp(argv[1], "--help") != 0 ? 2 : 0;
    config.init = config.activation == TG_SINE ? TG_INIT_SIREN : TG_INIT_VARIANCE_PRESERVING;
    const tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &config);
    tg_optimizer *adam = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.kind = TG_ADAM, .lr = 1e-2});
    tg_tape *tape = tg_tape_new();
    if (!differentiate(tape, NULL, truth))
        return fprintf(stderr, "siren: %s\n", tg_tape_error(tape)), 1;
    for (int p = 0; p < PIXELS; p++) {
        places[p][0] = (float)((2. * (p % SIDE) + 1) / SIDE - 1),
        places[p][1] = (float)((2. * (p / SIDE) + 1) / SIDE - 1);
        grey[p] = (float)truth[0][p];
    }
    for (int step = 1; step <= steps; step++) {
        tg_tape_reset(tape);
        const tg_tensor y = tg_mlp_forward(net, tg_borrow(tape, TG_F32, places, TG_SHAPE(PIXELS, 2)));
        const tg_tensor loss = tg_mse(y, tg_borrow(tape, TG_F32, grey, TG_SHAPE(PIXELS, 1)));
        if (!tg_backward(loss) || !tg_optimizer_step(adam))
            return fprintf(stderr, "siren: %s\n", tg_tape_error(tape) ? tg_tape_error(tape) : tg_optimizer_error(adam)),
                   1;
        if (step % 100 == 0)
            printf("step %3d   squared error %.2e\n", step, tg_item(loss)), fflush(stdout);
    }
    if (!differentiate(tape, net, ours) || !write_csv(truth, ours))
        return fprintf(stderr, "siren: %s\n", tg_tape_error(tape) ? tg_tape_error(tape) : "siren.csv"), 1;
    printf("%s: PSNR of the image %.1f dB, of its gradient %.1f, of its Laplacian %.1f\n",
           tg_activation_name(config.activation), psnr(truth[0], ours[0], PIXELS), psnr(truth[1], ours[1], 2 * PIXELS),
           psnr(truth[3], ours[3], PIXELS));
    FILE *gnuplot = popen("gnuplot", "w");
    if (gnuplot && fputs(picture, gnuplot) >= 0 && pclose(gnuplot) == 0)
        puts("siren.png: image, gradient and Laplacian, true and by the net");
    tg_mlp_free(net), tg_optimizer_free(adam), tg_tape_free(tape);
    return fflush(stdout) != 0;
}
