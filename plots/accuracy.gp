# Validation accuracy over epochs: the mean of each activation and its band over seeds; of many
# activations, a small picture of each.
#
#     gnuplot -c plots/accuracy.gp results      # reads results/bands.csv, draws results/accuracy.png and accuracy.svg
#
# Further variables: title='...' for a heading, out='...' for another folder to draw into.

folder = ARG0[1:strlen(ARG0) - strlen("accuracy.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"

stats bands using (strlen(strcol("val_accuracy"))) name "WRITTEN" nooutput
if (WRITTEN_max == 0) { exit }                # a regression

# Where all get nearly everything right, what differs is how much they get wrong: then the axis is logarithmic in the
# error, drawn upside down and labelled with the accuracy.
stats bands using (100 * (1 - column("val_accuracy"))) name "ERROR" nooutput
by_error = ERROR_min > 0 && ERROR_min < 10 && ERROR_max / ERROR_min > 3
height(accuracy) = !by_error ? 100 * accuracy : 100 * (1 - accuracy) < ERROR_min / 1.15 ? ERROR_min / 1.15 : \
    100 * (1 - accuracy) > ERROR_max * 1.1 ? ERROR_max * 1.1 : 100 * (1 - accuracy)
if (by_error) {
    set logscale y
    set yrange [ERROR_max * 1.1 : ERROR_min / 1.15]
    set ytics ()
    do for [power=-6:1] {
        do for [digit in ERROR_max / ERROR_min < 20 ? "1 1.5 2 3 4 5 7" : "1 2 5"] {
            error = digit * 10.0**power
            set ytics add (sprintf("%.10g", 100 - error) error)
        }
    }
} else {
    low = 100 - ERROR_max
    high = 100 - ERROR_min
    if (RUNS_max > 1) {
        stats bands using (100 * column("val_accuracy_low")) name "LOW" nooutput
        stats bands using (100 * column("val_accuracy_high")) name "HIGH" nooutput
        if (exists("LOW_min") && LOW_min < low) { low = LOW_min }
        if (exists("HIGH_max") && HIGH_max > high) { high = HIGH_max }
    }
    span = high > low ? high - low : 1
    set yrange [low - 0.05 * span : high + 0.05 * span]
}
set ylabel by_error ? "validation accuracy (%), logarithmic in the error" : "validation accuracy (%)"
set key title "validation accuracy\nof the best epoch"
beside(i) = epochs > 1 ? epoch(i) : epoch(i) + 0.1 * (i - (count + 1) / 2.0)     # one epoch: bars side by side
name(i) = sprintf("%s  %.2f %%", full_name(i), best_accuracy[i])
heading = over
if (count >= too_many) {
    picture = "accuracy"
    curve = "val_accuracy"
    drawn(i, name) = height(of(i, name))
    load folder . "multiples.gp"
    exit
}
set label 2 heading at graph 0, graph 1 left offset 0, 1.2 noenhanced textcolor rgb "#404040"

do for [format in formats] {
    eval value(format)
    set output out . "/accuracy." . format
    plot for [i=1:count] bands using (epoch(i)):(height(of(i, "val_accuracy_low"))):(height(of(i, "val_accuracy_high"))) \
             with filledcurves linetype shade(i) notitle, \
         for [i=1:epochs > 1 || RUNS_max < 2 ? 0 : count] bands using (beside(i)):(height(of(i, "val_accuracy"))): \
             (height(of(i, "val_accuracy_low"))):(height(of(i, "val_accuracy_high"))) with yerrorbars linetype solid(i) notitle, \
         for [i=1:count] bands using (beside(i)):(height(of(i, "val_accuracy"))) \
             with linespoints linetype solid(i) pointinterval marks_every title name(i)
    set output
}
