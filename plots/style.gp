# What the pictures of a comparison share: the data, the names of the curves, colours, axes, terminals.
# Loaded by loss.gp and accuracy.gp, which say how to call them.

if (!exists("dir")) { dir = "results" }
if (!exists("out")) { out = dir }
if (!exists("title")) { title = "" }
bands = dir . "/bands.csv"
set datafile separator comma
set datafile columnheaders

# ---- the curves: activations in the order of the file
names = ""
count = 0
register(name) = strstrt(" " . names . " ", " " . name . " ") ? count : (names = names . " " . name, count = count + 1)
stats bands using (register(strcol("activation")), column("epoch")) name "EPOCH" nooutput
stats bands using (column("runs")) name "RUNS" nooutput
averaged = exists("averaged") ? averaged : "seeds" # what the means are of
stats bands using (strlen(strcol("val_accuracy"))) name "ACCURACY" nooutput
is_regression = ACCURACY_max == 0
stats bands using (strlen(strcol("val_loss"))) name "VALIDATED" nooutput
validated = VALIDATED_max > 0                # else there are only training losses
finite(x) = (abs(x) < 1e30) ? x : NaN        # where a run diverged the curve ends; the range does not follow it
is(i) = (strcol("activation") eq word(names, i))
epoch(i) = is(i) ? column("epoch") : NaN
of(i, name) = is(i) ? finite(column(name)) : NaN

too_many = 9                                 # activations whose curves hide each other

# ---- the legend: measures of the best epochs' nets, as in the table
summary = dir . "/summary.csv"
array best_loss[count]
array best_accuracy[count]
number(name) = strlen(strcol(name)) ? column(name) : NaN
do for [i=1:count] {
    best_loss[i] = NaN
    best_accuracy[i] = NaN
    stats summary using (is(i) ? (best_loss[i] = number("best_val_loss_mean"), 0) : 0) nooutput
    if (!is_regression) { stats summary using (is(i) ? (best_accuracy[i] = 100 * number("best_val_accuracy_mean"), 0) : 0) nooutput }
}

# ---- in a search the curves are those of each activation's best point, which its name in the legend includes
array point[count]
do for [i=1:count] {
    point[i] = ""
    lowest = 1e300
    if (exists("searched")) {
        stats dir . "/search.csv" using (is(i) && column("best_val_loss_mean") < lowest ? \
            (lowest = column("best_val_loss_mean"), point[i] = ", " . strcol("point"), 0) : 0) nooutput
    }
}
full_name(i) = word(names, i) . point[i]
loss_name(i) = !validated ? full_name(i) : best_loss[i] == best_loss[i] ? sprintf("%s  %#.3g", full_name(i), best_loss[i]) : full_name(i) . "  diverged"
loss_title = validated ? "validation loss\nof the best epoch" : "training loss"
loss_label = !validated ? "mean loss per example" : is_regression ? "mean squared error, standardised targets" : "mean loss per example (cross-entropy)"

# ---- colours that colour-blind readers can tell apart (Okabe and Ito; Tol), and marks for print
colours = "000000 0072B2 D55E00 009E73 CC79A7 56B4E9 E69F00 882255 999933 44AA99 AA4499 888888"
marks = "7 5 9 11 13 15 6 4 8 10 12 14"
variants = words(colours)
do for [i=1:variants] {
    set linetype i linecolor rgb "#" . word(colours, i) linewidth 2 pointtype int(word(marks, i)) pointsize 0.8
    set linetype i + variants linecolor rgb "#60" . word(colours, i) linewidth 1.2 dashtype (12, 8)
    set linetype i + 2 * variants linecolor rgb "#d8" . word(colours, i)
    set linetype i + 3 * variants linecolor rgb "#80" . word(colours, i) linewidth 0.8
}
set linetype cycle 4 * variants
solid(i) = (i - 1) % variants + 1
dashed(i) = solid(i) + variants
shade(i) = solid(i) + 2 * variants
thin(i) = solid(i) + 3 * variants

# ---- the horizontal axis, by whole epochs
first_epoch = int(EPOCH_min)
last_epoch = int(EPOCH_max)
epochs = last_epoch - first_epoch + 1
marks_every = int(ceil(epochs / 8.0))
set xlabel "epoch"
tic_sizes = "1 2 5 10 20 50 100 200 500 1000 2000 5000 10000 20000 50000"
tic_from(most, i) = i < words(tic_sizes) && epochs > most * int(word(tic_sizes, i)) ? tic_from(most, i + 1) : int(word(tic_sizes, i))
tics_at(most) = sprintf("%d, %d", tic_from(most, 1) > 1 ? 0 : first_epoch, tic_from(most, 1)) # of at most so many labels
eval "set xtics " . tics_at(14)
margin = epochs > 1 ? 0.01 * epochs : 1
set xrange [first_epoch - margin : last_epoch + margin]

# ---- frame, grid, legend and heading
set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key outside right center vertical maxrows 14 Left reverse samplen 2.5 spacing 1.3 noenhanced title left
set tmargin 4.5
over = RUNS_max < 2 ? "one seed" : sprintf("mean of %d %s, band: %s", RUNS_max, averaged, \
       RUNS_max > 3 ? "95 % interval of the mean" : "least to greatest")
set label 1 title at graph 0, graph 1 left offset 0, 2.6 noenhanced font ",14"

# A logarithmic axis labelled 1, 2, 5, 10, ... or by powers of ten when it is long.
tics_of(low, high) = high / low > 2000 ? "1" : high / low > 50 ? "1 2 5" : high / low > 4 ? "1 1.5 2 3 5 7" : high / low > 1.5 ? "1 1.2 1.5 2 2.5 3 4 5 6 7 8 9" : \
    "1 1.05 1.1 1.15 1.2 1.25 1.3 1.35 1.4 1.5 1.6 1.7 1.8 1.9 2 2.1 2.2 2.3 2.4 2.5 2.7 3 3.2 3.5 3.7 4 4.2 4.5 4.7 5 5.5 6 6.5 7 7.5 8 8.5 9 9.5"

if (!exists("formats")) { formats = "png svg" }
pdf = 'set terminal pdfcairo size 5.6, 3.5 font "DejaVu Sans,9"' # for a paper; its fonts are embedded
png = 'set terminal pngcairo size 900, 560 font "DejaVu Sans,12" background rgb "white"'
# For the report, which a telephone shows too: less wide, the heading from the left edge and the legend below.
svg = 'set terminal svg size 640, 620 font "DejaVu Sans,14" background rgb "white" noenhanced; ' . \
      'set label 1 at screen 0.02, graph 1; set label 2 at screen 0.02, graph 1; set key outside bottom center horizontal maxrows 6'
