# The validation loss over what is searched, such as the learning rate, and its band over seeds. Where more is searched than one list of numbers,
# each number stands for the best of the others.
#
#     gnuplot -c plots/search.gp results     # reads results/search.csv, draws results/search.png and search.svg
#
# Further variables: title='...' for a heading, out='...' for another folder to draw into; searched='norm' and searched_words='none rms', if the
# axis is to be another than the first that the points name; searched_rates='1 0.001 0.5 0.003', if each value has a learning rate of its own.

folder = ARG0[1:strlen(ARG0) - strlen("search.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"
search = dir . "/search.csv"
# Called by hand, without what is searched: the points have its name and its values, "lr 0.01" or "norm rms".
if (!exists("searched")) {
    names_values = ""
    stats search using (is(1) && column("best_at_number") == 1 ? (names_values = names_values . " " . word(strcol("point"), 1) . " " . word(strcol("point"), 2), 0) : 0) nooutput
    searched = word(names_values, 1)
    if (!exists("searched_words") && !strstrt("0123456789.-", word(names_values, 2)[1:1])) {
        searched_words = ""
        do for [i=2:words(names_values):2] { searched_words = searched_words . " " . word(names_values, i) }
    }
}
best(dummy) = column("best_at_number") == 1 ? finite(column("best_val_loss_mean")) : NaN

set xrange [*:*]
stats search using (column("number")) name "NUMBER" nooutput
stats search using (best(0)) name "LOSS" nooutput
if (NUMBER_min > 0 && (searched eq "lr" || NUMBER_max / NUMBER_min > 10)) {
    set logscale x
    set xrange [NUMBER_min / 1.1 : NUMBER_max * 1.1]
    set xtics ()
    far = NUMBER_max / NUMBER_min        # as many labels as there is room for
    do for [power=-12:6:far > 1e9 ? 3 : 1] {
        do for [digit in far > 1e4 ? "1" : far > 30 ? "1 3" : "1 2 3 5"] { set xtics add (sprintf("%g", digit * 10.0**power) digit * 10.0**power) }
    }
} else {
    width = NUMBER_max - NUMBER_min
    set xrange [NUMBER_min - 0.03 * width : NUMBER_max + 0.03 * width]
    set xtics autofreq
}
longest = 1e4
top = LOSS_max > longest * LOSS_min ? longest * LOSS_min : LOSS_max       # what diverges leaves the picture
band_at(name) = best(0) <= top && strlen(strcol("best_val_loss_" . name)) ? finite(column("best_val_loss_" . name)) : NaN
stats search using (band_at("low")) name "LOW" nooutput
stats search using (band_at("high")) name "HIGH" nooutput
low = exists("LOW_min") && LOW_min < LOSS_min ? LOW_min : LOSS_min
high = exists("HIGH_max") && HIGH_max > top ? HIGH_max : top
# A band may be far wider than what separates the means: then it is cut at as much again.
span = top > LOSS_min ? top - LOSS_min : LOSS_min
if (low < LOSS_min - span) { low = LOSS_min - span }
if (low <= 0 && LOSS_min > 0) { low = LOSS_min / 2 }
if (high > top + span) { high = top + span }
long = 4
load folder . "loss_axis.gp"
edge(name) = within(band_at(name))
at(i) = is(i) && column("best_at_number") == 1 ? column("number") : NaN

array least[count]
array where[count]
do for [i=1:count] {
    least[i] = 1e300
    where[i] = NaN
    stats search using (is(i) && best(0) < least[i] ? (least[i] = best(0), where[i] = column("number"), 0) : 0) nooutput
}
# Words that are searched, such as norms, have their places in the list as numbers, and are written below the axis.
if (!exists("searched_words")) { searched_words = "" }
if (strlen(searched_words)) {
    set xrange [-0.3 : words(searched_words) - 0.7]
    set xtics ()
    do for [i=1:words(searched_words)] { set xtics add (word(searched_words, i) i - 1) }
}
name(i) = word(names, i) . "  " . (strlen(searched_words) && where[i] == where[i] ? word(searched_words, int(where[i]) + 1) : sprintf("%g", where[i]))
set key title "lowest at " . searched
set xlabel searched
if (exists("searched_rates")) {
    set bmargin 5                                                         # the labels have two lines
    set xlabel searched . ", each with its learning rate (lr)" offset 0, -1
    set xtics ()
    do for [i=1:words(searched_rates):2] {
        set xtics add (word(searched_rates, i) . "\nlr " . word(searched_rates, i + 1) real(word(searched_rates, i)))
    }
}
set ylabel is_regression ? "validation MSE, standardised targets, best epoch" : "validation loss, best epoch"
set label 2 over at graph 0, graph 1 left offset 0, 1.2 noenhanced textcolor rgb "#404040"

do for [format in formats] {
    eval value(format)
    set output out . "/search." . format
    plot for [i=1:count] search using (at(i)):(edge("low")):(edge("high")) \
             with filledcurves linetype shade(i) notitle, \
         for [i=1:count] search using (at(i)):(best(0)) with linespoints linetype solid(i) title name(i)
    set output
}
