# The same curves in letters, for a terminal: validation loss and, where there is one, validation accuracy.
#
#     gnuplot -e "dir='results'; columns=100; rows=20; colour=1" plots/terminal.gp

load ARG0[1:strlen(ARG0) - strlen("terminal.gp")] . "style.gp"
if (!exists("columns")) columns = 79
if (!exists("rows")) rows = 18
if (!exists("colour")) colour = 0
narrow = columns < 60                        # the legend goes below, a line for each curve
rows = narrow ? rows + count : rows > count + 6 ? rows : count + 6
eval sprintf("set terminal dumb nofeed noenhanced %s size %d, %d", colour ? "ansi256" : "mono", columns, rows)

unset label
unset grid
unset xlabel
set border 3
set tmargin 2
set xrange [first_epoch - (epochs > 1 ? 0 : 1) : last_epoch + (epochs > 1 ? 0 : 1)]
set tics textcolor default
set key outside right center vertical maxrows 14 Left reverse noenhanced notitle samplen 1 spacing 1
if (narrow) { set key outside below horizontal maxrows auto }
marks_every = int(ceil(epochs / 12.0))

do for [curve in "val_loss val_accuracy"] {
    scale = curve eq "val_loss" ? 1 : 100
    set autoscale y
    stats bands using (strlen(strcol(curve))) name "WRITTEN" nooutput
    if (WRITTEN_max > 0) {
        stats bands using (finite(scale * column(curve))) name "ALL" nooutput
        do for [i=1:count] {
            stats bands using (is(i) ? (last[i] = scale * column(curve), 0) : 0) nooutput
        }
        unset logscale
        set ytics autofreq
        if (curve eq "val_loss" && ALL_min > 0 && ALL_max / ALL_min > 6) {
            set logscale y
            set yrange [ALL_min / 1.05 : ALL_max * 1.05]
            set ytics ()
            do for [power=-15:15] {
                do for [digit in tics_of(ALL_min, ALL_max)] {
                    set ytics add (sprintf("%g", digit * 10.0**power) digit * 10.0**power)
                }
            }
        }
        set title (curve eq "val_loss" ? (is_regression ? "validation loss (MSE of standardised targets)" : "validation loss") : "validation accuracy (%)") . " over epochs"
        plot for [i=1:count] bands using (epoch(i)):(scale * of(i, curve)) with linespoints \
             linetype solid(i) pointtype i pointinterval marks_every \
             title sprintf(scale == 1 ? "%s %#.3g" : "%s %.2f", word(names, i), last[i])
    }
}
