# Loss over steps: the training loss of every step, or so many that they make 500 points, and the validation loss at the end of each epoch.
#
#     gnuplot -c plots/steps.gp results         # reads results/step_bands.csv, draws results/steps.png and steps.svg
#
# Further variables: title='...' for a heading, out='...' for another folder to draw into.

if (!exists("picture")) { picture = "steps" }     # "loss" where a run of one epoch has no other curve
if (picture eq "steps") { folder = ARG0[1:strlen(ARG0) - strlen("steps.gp")] }
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"
steps = dir . "/step_bands.csv"
written(name) = strlen(strcol(name)) ? finite(column(name)) : NaN
of_step(i, name) = is(i) ? written(name) : NaN

stats steps using (written(validated ? "val_loss" : "train_loss")) name "VAL" nooutput
stats steps using (written("train_loss")) name "TRAIN" nooutput
stats steps using (column("step")) name "STEP" nooutput
if (!exists("VAL_min") || !exists("TRAIN_min")) { exit error "every run diverged: there is no loss to draw" }
low = TRAIN_min < VAL_min ? TRAIN_min : VAL_min
high = TRAIN_max > VAL_max ? TRAIN_max : VAL_max
table = steps
measure = "train_loss"
load folder . "typical.gp"
if (high > shown_most) { high = shown_most }
if (low > 0 && high / low > 6 && low < VAL_min / 20) { low = VAL_min / 20 }
long = 6
load folder . "loss_axis.gp"
edge(i, name) = of_step(i, name) > peak ? NaN : within(of_step(i, name))

name(i) = loss_name(i)
set key title loss_title
set xlabel "step"
set xtics autofreq
set xrange [0 : STEP_max * 1.01]
set ylabel loss_label
heading = (validated ? "thin: training, marks: validation; " : "") . (RUNS_max < 2 ? "one seed" : sprintf("means of %d %s", RUNS_max, averaged))
if (count >= too_many) {
    across_label = "step"
    round_step(x) = (power = 10.0**floor(log10(x)), x <= power ? power : x <= 2 * power ? 2 * power : x <= 5 * power ? 5 * power : 10 * power)
    load folder . "multiples.gp"
    exit
}
set label 2 heading at graph 0, graph 1 left offset 0, 1.2 noenhanced textcolor rgb "#404040"

do for [format in formats] {
    eval value(format)
    set output out . "/" . picture . "." . format
    plot for [i=1:count] steps using (column("step")):(edge(i, "train_loss")) with lines linetype thin(i) notitle, \
         for [i=1:count] "" using (written("val_loss") == written("val_loss") || !validated ? column("step") : NaN):(of_step(i, validated ? "val_loss" : "train_loss")) \
             with linespoints linetype solid(i) pointinterval marks_every title name(i)
    set output
}
