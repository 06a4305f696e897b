# How noise in the features harms the nets at their best epoch: accuracy and loss over the size of the noise.
#
#     gnuplot -c plots/noise.gp results         # reads results/noise.csv, draws results/noise.png and noise.svg
#
# Further variables: title='...' for a heading, out='...' for another folder to draw into.

folder = ARG0[1:strlen(ARG0) - strlen("noise.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"
noise = dir . "/noise.csv"
written(name) = strlen(strcol(name)) ? finite(column(name)) : NaN
of_noise(i, name) = is(i) ? written(name) : NaN

unset label 1
unset label 2
stats noise using (column("noise")) name "SIZE" nooutput
stats noise using (written("loss")) name "LOSS" nooutput
if (!exists("LOSS_min")) { exit error "every run diverged: there is nothing to draw" }
HIGH_max = LOSS_max
LOW_min = LOSS_min
stats noise using (written("loss_low")) name "LOW" nooutput
stats noise using (written("loss_high")) name "HIGH" nooutput
table = noise
measure = "loss"
load folder . "typical.gp"
set xlabel "a: noise from -a to a added to each feature"
set xtics autofreq
across = SIZE_max > SIZE_min ? SIZE_max - SIZE_min : 1
set xrange [SIZE_min - 0.02 * across : SIZE_max + 0.02 * across]
set tmargin 4.5
wide = is_regression ? 900 : 1400
png = sprintf('set terminal pngcairo size %d, 560 font "DejaVu Sans,12" background rgb "white"', wide)
pdf = sprintf('set terminal pdfcairo size %g, 3.5 font "DejaVu Sans,9"', wide / 160.0)
svg = sprintf('set terminal svg size 640, %d font "DejaVu Sans,14" background rgb "white" noenhanced', is_regression ? 620 : 1160)
heading(text) = text . (RUNS_max < 2 ? "one seed" : sprintf("mean of %d %s, band: %s", RUNS_max, averaged, RUNS_max > 3 ? "95 % interval" : "least to greatest"))

do for [format in formats] {
    eval value(format)
    set output out . "/noise." . format
    if (!is_regression) {
        set multiplot layout format eq "svg" ? 2 : 1, format eq "svg" ? 1 : 2
        set label 1 title at graph 0, graph 1 left offset 0, 2.6 noenhanced font ",14"
        set label 2 heading("accuracy; ") at graph 0, graph 1 left offset 0, 1.2 noenhanced textcolor rgb "#404040"
        unset logscale y
        set ytics autofreq
        set yrange [*:*]
        set ylabel "accuracy (%)"
        unset key
        plot for [i=1:count] noise using (column("noise")):(100 * of_noise(i, "accuracy_low")):(100 * of_noise(i, "accuracy_high")) \
                 with filledcurves linetype shade(i) notitle, \
             for [i=1:count] noise using (column("noise")):(100 * of_noise(i, "accuracy")) with linespoints linetype solid(i) notitle
        unset label 1
    } else {
        set label 1 title at graph 0, graph 1 left offset 0, 2.6 noenhanced font ",14"
    }
    low = exists("LOW_min") && LOW_min < LOSS_min && LOW_min > LOSS_min / 3 ? LOW_min : LOSS_min # one seed has no band
    high = exists("HIGH_max") && HIGH_max > LOSS_max ? HIGH_max : LOSS_max
    if (high > shown_most) { high = shown_most }
    long = 10
    load folder . "loss_axis.gp"
    edge(i, name) = of_noise(i, "loss") > peak ? NaN : within(of_noise(i, name))
    set label 2 heading("loss; ") at graph 0, graph 1 left offset 0, 1.2 noenhanced textcolor rgb "#404040"
    set ylabel is_regression ? "mean squared error, standardised targets" : "mean loss per example (cross-entropy)"
    if (format ne "svg") { set key outside right center vertical } else { set key outside bottom center horizontal }
    set key maxrows 14 Left reverse samplen 2.5 spacing 1.3 noenhanced notitle
    plot for [i=1:count] noise using (column("noise")):(edge(i, "loss_low")):(edge(i, "loss_high")) with filledcurves linetype shade(i) notitle, \
         for [i=1:count] noise using (column("noise")):(of_noise(i, "loss")) with linespoints linetype solid(i) title full_name(i)
    unset multiplot
    set output
}
