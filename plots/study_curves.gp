# A loss over epochs in panels, one for each setting: the median of the seeds and its band, and what was published as marks.
#
#     gnuplot -e "dir='results/studies/gelu-mnist'" plots/study_curves.gp     # reads curves.csv and published.csv, draws curves.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
curves = dir . "/curves.csv"
published = dir . "/published.csv"

panels = ""
names = ""
panel_count = 0
measure = ""
trained = 0 # whether anything published is of training
marks = 0   # whether anything is published at all
count = 0
has(list, word_) = strstrt("|" . list . "|", "|" . word_ . "|") > 0
register(panel, name) = (has(panels, panel) ? 0 : (panels = panels . (panel_count ? "|" : "") . panel, panel_count = panel_count + 1), \
                         has(names, name) ? 0 : (names = names . (count ? "|" : "") . name, count = count + 1), 1)
stats curves using (measure = strcol("measure"), register(strcol("panel"), strcol("curve"))):(column("epoch")) name "EPOCH" nooutput
stats published using (marks = 1, trained = trained || strcol("kind") eq "train", column("epoch")) nooutput
array panel_name[panel_count]
array curve_name[count]
item(list, i) = i == 1 ? list[1:(strstrt(list . "|", "|") - 1)] : item(list[(strstrt(list, "|") + 1):*], i - 1)
do for [i=1:panel_count] { panel_name[i] = item(panels, i) }
do for [i=1:count] { curve_name[i] = item(names, i) }

colours = "D55E00 009E73 0072B2 000000 CC79A7 56B4E9"
do for [i=1:6] {
    set linetype i linecolor rgb "#" . word(colours, i) linewidth 2 pointsize 1.1
    set linetype i + 6 linecolor rgb "#d0" . word(colours, i)
    set linetype i + 12 linecolor rgb "#60" . word(colours, i) linewidth 1.3 dashtype (10, 6) pointsize 0.5
}
set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set logscale y
set autoscale yfix
set ytics ("0.00001" 0.00001, "0.0001" 0.0001, "0.001" 0.001, "0.002" 0.002, "0.005" 0.005, "0.01" 0.01, "0.02" 0.02, "0.05" 0.05, "0.1" 0.1, "0.2" 0.2, "0.5" 0.5, "1" 1, "2" 2)
set xlabel "epoch" offset 0, 0.4
set xrange [0 : EPOCH_max_y * 1.02]
is(p, i) = strcol("panel") eq panel_name[p] && strcol("curve") eq curve_name[i]
at(p, i) = is(p, i) ? column("epoch") : NaN
of(p, i, kind) = is(p, i) && strcol("kind") eq kind ? column("loss") : NaN

height = 400
right = 1 - 225.0 / (430 * panel_count + 240)
png = sprintf('set terminal pngcairo size %d, %d font "DejaVu Sans,11" background rgb "white"', 430 * panel_count + 240, height)
svg = sprintf('set terminal svg size %d, %d font "DejaVu Sans,13" background rgb "white" noenhanced', 430 * panel_count + 240, height)
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/curves." . format
    set multiplot layout 1, panel_count margins 80.0 / (430 * panel_count + 240), right, 0.14, 0.9 spacing 0.05
    do for [p=1:panel_count] {
        set title panel_name[p] noenhanced
        if (p == 1) { set ylabel measure offset 1, 0 } else { unset ylabel }
        set key at screen right + 0.02, 0.5 left center vertical Left reverse noenhanced samplen 2 spacing 1.3
        if (p > 1) { unset key }
        plot for [i=1:count] curves using (at(p, i)):(column("low")):(column("high")) with filledcurves linetype i + 6 notitle, \
             for [i=1:count] curves using (strlen(strcol("train")) ? at(p, i) : NaN):(column("train")) with lines linetype i + 12 notitle, \
             for [i=1:count] curves using (at(p, i)):(column("median")) with lines linetype i title curve_name[i], \
             for [i=1:count] published using (column("epoch")):(of(p, i, "validation")) with points linetype i pointtype 7 notitle, \
             for [i=1:count] published using (column("epoch")):(of(p, i, "train")) with points linetype i pointtype 6 notitle, \
             NaN with points pointtype 7 linecolor rgb "#606060" title (trained ? "published, validation" : marks ? "published" : ""), \
             NaN with points pointtype 6 linecolor rgb "#606060" title (trained ? "published, training" : ""), \
             NaN with lines linecolor rgb "#606060" linewidth 1.3 dashtype (10, 6) title "training"
    }
    unset multiplot
    set output
}
