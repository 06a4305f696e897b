# Loss over epochs: the mean of each activation and its band over seeds; of many activations, a small picture of each.
#
#     gnuplot -c plots/loss.gp results          # reads results/bands.csv, draws results/loss.png and loss.svg
#
# Further variables: title='...' for a heading, out='...' for another folder to draw into.

folder = ARG0[1:strlen(ARG0) - strlen("loss.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"
if (epochs == 1 && !exists("steps_there")) {          # called by hand
    stats dir . "/step_bands.csv" using (column("step")) name "THERE" nooutput
    steps_there = THERE_records > 0
}
if (epochs == 1 && steps_there) {
    picture = "loss"
    load folder . "steps.gp"
    exit
}

# The range is that of the validation losses and as much of the training losses beneath as leaves those readable.
measure = validated ? "val_loss" : "train_loss"
stats bands using (finite(column(measure))) name "VAL" nooutput
stats bands using (finite(column("train_loss"))) name "TRAIN" nooutput
if (!exists("VAL_min") || !exists("TRAIN_min")) { exit error "every run diverged: there is no loss to draw" }
low = TRAIN_min < VAL_min ? TRAIN_min : VAL_min
high = TRAIN_max > VAL_max ? TRAIN_max : VAL_max
table = bands
load folder . "typical.gp"
if (high > shown_most) { high = shown_most }
if (low > 0 && high / low > 6 && low < VAL_min / 4) { low = VAL_min / 4 }
long = 6
load folder . "loss_axis.gp"
edge(i, name) = of(i, measure) > peak ? NaN : within(of(i, name))       # a band whose mean has left the picture is not drawn
set ylabel loss_label
set key title loss_title
name(i) = validated && best_loss[i] > peak ? full_name(i) . "  diverged" : loss_name(i)
heading = (validated ? "solid: validation, dashed: training; " : "") . over
if (count >= too_many) {
    picture = "loss"
    curve = "val_loss"
    drawn(i, name) = strstrt(name, "_") == 4 && strlen(name) > 8 ? edge(i, name) : of(i, name)
    load folder . "multiples.gp"
    exit
}
set label 2 heading at graph 0, graph 1 left offset 0, 1.2 noenhanced \
    textcolor rgb "#404040"

do for [format in formats] {
    eval value(format)
    set output out . "/loss." . format
    plot for [i=1:count] bands using (epoch(i)):(edge(i, measure . "_low")):(edge(i, measure . "_high")) \
             with filledcurves linetype shade(i) notitle, \
         for [i=1:count] bands using (epoch(i)):(of(i, "train_loss")) with lines linetype dashed(i) notitle, \
         for [i=1:count] bands using (epoch(i)):(of(i, measure)) \
             with linespoints linetype solid(i) pointinterval marks_every title name(i)
    set output
}
