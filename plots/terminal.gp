# The same curves in letters, for a terminal: validation loss and, where there is one, validation accuracy.
#
#     gnuplot -e "columns=100; rows=20; colour=1" -c plots/terminal.gp results

folder = ARG0[1:strlen(ARG0) - strlen("terminal.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"
if (!exists("columns")) columns = 79
if (!exists("rows")) rows = 18
if (!exists("colour")) colour = 0
longest = 0
do for [i=1:count] { longest = strlen(full_name(i)) > longest ? strlen(full_name(i)) : longest }
narrow = columns < 64 + longest              # the legend goes below, a line for each curve
rows = narrow ? rows + count : rows > count + 6 ? rows : count + 6
eval sprintf("set terminal dumb nofeed noenhanced %s size %d, %d", colour ? "ansi256" : "mono", columns, rows)

unset label
unset grid
unset xlabel
set border 3
set tmargin 2
set xrange [first_epoch - (epochs > 1 ? 0 : 1) : last_epoch + (epochs > 1 ? 0 : 1)]
set tics textcolor default
room = columns - (narrow ? 12 : 24 + longest)  # of the horizontal axis
most = room / (strlen(sprintf("%d", last_epoch)) + 3)
eval "set xtics " . tics_at(most > 1 ? most : 1)
set key outside right center vertical maxrows 14 Left reverse noenhanced notitle samplen 1 spacing 1
if (narrow) { set key outside below horizontal maxrows auto }
marks_every = int(ceil(epochs / 12.0))

do for [curve in "val_loss val_accuracy"] {
    times = curve eq "val_loss" ? 1 : 100
    set autoscale y
    stats bands using (strlen(strcol(curve))) name "WRITTEN" nooutput
    if (WRITTEN_max > 0) {
        stats bands using (finite(times * column(curve))) name "ALL" nooutput
        unset logscale
        set ytics autofreq
        if (curve eq "val_loss") {
            low = ALL_min
            high = ALL_max > 50 && ALL_max > 10 * ALL_min ? (ALL_min > 5 ? 10 * ALL_min : 50) : ALL_max # what diverges leaves the picture
            long = 6
            load folder . "loss_axis.gp"
        }
        set title (curve eq "val_loss" ? (is_regression ? "validation loss (MSE of standardised targets)" : "validation loss") : "validation accuracy (%)") . " over epochs, and of the best"
        plot for [i=1:count] bands using (epoch(i)):(times * of(i, curve)) with linespoints \
             linetype solid(i) pointtype i pointinterval marks_every \
             title sprintf(times == 1 ? "%s %#.3g" : "%s %.2f", full_name(i), times == 1 ? best_loss[i] : best_accuracy[i])
    }
}
