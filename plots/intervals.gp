# Many activations: a mean and its 95 % interval for each in place of curves that hide each other. Loaded by loss.gp and accuracy.gp, which set
# measure ("loss", "accuracy"), times (100 for shares) and picture (the file's name). Reads summary.csv.

summary = dir . "/summary.csv"
stats summary using (strlen(strcol("test_" . measure . "_mean"))) name "TEST" nooutput
prefix = (TEST_max > 0 ? "test_" : "final_val_") . measure
mean(dummy) = finite(times * column(prefix . "_mean"))
set xrange [*:*]
stats summary using (mean(0)) name "MEAN" nooutput
if (!exists("MEAN_min")) { exit error "every run diverged: there is nothing to draw" }
far = measure eq "loss" ? 20 * abs(MEAN_min) : 1e300            # what diverged is named, but does not set the axis
shown(x) = x > far ? NaN : x
low(dummy) = strlen(strcol(prefix . "_low")) ? times * column(prefix . "_low") : mean(0)
high(dummy) = strlen(strcol(prefix . "_high")) ? times * column(prefix . "_high") : mean(0)
stats summary using (shown(mean(0)) == shown(mean(0)) ? low(0) : NaN) name "LOW" nooutput
stats summary using (shown(mean(0)) == shown(mean(0)) ? high(0) : NaN) name "HIGH" nooutput
width = HIGH_max > LOW_min ? HIGH_max - LOW_min : 1
left = LOW_min - 0.05 * width
left = measure eq "loss" && left < 0 ? 0 : left               # no loss is below
set xrange [left : HIGH_max + 0.05 * width]
set xtics autofreq
set ytics ()
words_of(i) = word(names, i)
array value[count]
do for [i=1:count] {
    value[i] = NaN
    stats summary using (is(i) ? (value[i] = mean(0), 0) : 0) nooutput
    set ytics add ((value[i] == value[i] && value[i] <= far ? words_of(i) : words_of(i) . " (diverged)") i) noenhanced
}
unset logscale
set yrange [count + 0.6 : 0.4]
unset key
set grid xtics noytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set xlabel (TEST_max > 0 ? "test " : "final validation ") . (measure eq "accuracy" ? "accuracy (%)" : is_regression ? \
           "mean squared error of standardised targets" : "loss (cross-entropy)")
unset ylabel
set rmargin 4
set label 2 RUNS_max < 2 ? "one seed" : sprintf("mean of %d runs and its 95 %% interval", RUNS_max) at graph 0, graph 1 left offset 0, 1.2 noenhanced \
    textcolor rgb "#404040"
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/" . picture . "." . format
    plot for [i=1:count] summary using (is(i) ? shown(mean(0)) : NaN):(i):(low(0) < left ? left : low(0)):(high(0)) with xerrorbars linetype solid(i) linewidth 2
    set output
}
