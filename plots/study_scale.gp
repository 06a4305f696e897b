# What each form comes to at each scale s of the initial weights, on three tables.
#
#     gnuplot -c plots/study_scale.gp results/studies/initial-scale # reads forms.csv, draws initial-scale.png and .svg
#
# With the folder of the study gated-start behind it, also the steps of MLPs with SGD against s, and against the way of the weights, on
# which the forms come together.

folder = ARG0[1:strlen(ARG0) - strlen("study_scale.gp")]
path(text) = text[1:1] eq "/" ? text : "./" . text
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = path(ARG1) }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
set datafile missing NaN # lines go on over rows of other forms
losses = dir . "/forms.csv"
law = exists("ARG2") && strlen(ARG2)
data = law ? path(ARG2) . "/forms.csv" : losses
load folder . "study_law.gp"
sgd = 3 # among the law's panels

tables = ""
at(name) = strstrt(" " . tables . " ", " " . name . " ") ? 0 : (tables = tables . " " . name, 1)
set datafile columnheaders
stats losses using (at(strcol("panel"))) nooutput
array lowest[words(tables)]
array highest[words(tables)]
array without[words(tables)]
do for [i=1:words(tables)] {
    lowest[i] = 1e30
    highest[i] = 0
    without[i] = 0
    stats losses using (strcol("panel") ne word(tables, i) ? 0 : strcol("form") eq "identity" ? (without[i] = column("mean")) : \
        (highest[i] = column("loss") > highest[i] ? column("loss") : highest[i], \
         lowest[i] = column("loss") < lowest[i] ? column("loss") : lowest[i])) nooutput
}
mean(table, form) = strcol("panel") eq word(tables, table) && strcol("form") eq word(forms, form) && column("seed") == 1 ? column("mean") : NaN
one(table, form) = strcol("panel") eq word(tables, table) && strcol("form") eq word(forms, form) ? column("loss") : NaN
steps(form) = $1 == sgd && $2 == form && $7 == 1 ? $5 : NaN

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set logscale xy
unset key
height = law ? 700 : 400
png = sprintf('set terminal pngcairo size 980, %d font "DejaVu Sans,11" background rgb "white"', height)
svg = sprintf('set terminal svg size 980, %d font "DejaVu Sans,13" background rgb "white" noenhanced', height)
bottom = 130.0 / height # of the lower row
top = law ? 0.45 : 0.9
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/initial-scale." . format
    set multiplot
    set datafile nocolumnheaders
    do for [i=1:law * 2] {
        set lmargin at screen i == 1 ? 0.075 : 0.58
        set rmargin at screen i == 1 ? 0.475 : 0.98
        set bmargin at screen 0.64
        set tmargin at screen 0.95
        set title i == 1 ? "MLP on digits with SGD: steps until a loss is reached" : "the same, against the way of the weights to s = 1" noenhanced
        set xlabel i == 1 ? "scale s of the initial weights" : "integral of ds / a(s) from s to 1" noenhanced
        set ylabel i == 1 ? "steps" : ""
        set yrange [30 : 3000]
        set xrange [i == 1 ? 0.05 : 0.5 : i == 1 ? 1.2 : 40]
        if (i == 1) { set xtics ("1/16" 1.0 / 16, "1/8" 1.0 / 8, "1/4" 0.25, "1/2" 0.5, "1" 1) } else { set xtics auto }
        plot for [k=1:7] $ways using (i == 1 ? $8 : $4):(steps(k)) with linespoints pointtype shapes[k] linewidth 1.5 linecolor rgb "#" . word(colours, k) notitle
    }
    set datafile columnheaders
    set xtics ("1/8" 0.125, "1/4" 0.25, "1/2" 0.5, "1" 1, "2" 2)
    set xlabel "scale s of the initial weights"
    set xrange [0.11 : 2.3]
    set for [power=-4:1] for [digit in "1 2 5"] ytics add (sprintf("%g", digit * 10 ** power) digit * 10 ** power)
    do for [i=1:words(tables)] {
        set yrange [lowest[i] * 0.9 : highest[i] * 1.6]
        if (without[i] > 0) { set label 1 sprintf("without an activation: %.2g", without[i]) at graph 0.03, 0.94 textcolor rgb "#808080" font ",9" noenhanced }
        set lmargin at screen 0.075 + (i - 1) * 0.325
        set rmargin at screen 0.325 + (i - 1) * 0.325
        set bmargin at screen bottom
        set tmargin at screen top
        set title word(tables, i) . ": test loss" noenhanced
        set ylabel i == 1 ? "test loss" : ""
        plot for [k=2:7] losses using (column("s")):(one(i, k)) with points pointtype shapes[k] pointsize 0.4 linecolor rgb "#80" . word(colours, k) notitle, \
             for [k=2:7] losses using (column("s")):(mean(i, k)) with linespoints pointtype shapes[k] linewidth 1.5 linecolor rgb "#" . word(colours, k) notitle
    }
    unset label 1
    unset border
    unset tics
    unset title
    unset logscale
    unset xlabel
    unset ylabel
    set lmargin at screen 0.01
    set rmargin at screen 0.99
    set bmargin at screen 0.01
    set tmargin at screen 0.06
    set xrange [0 : 1]
    set yrange [0 : 1]
    set key at screen 0.5, 25.0 / height center center horizontal Left reverse width 1 samplen 1.5 noenhanced
    plot 0 with lines linecolor rgb "white" notitle, for [k=1:7] keyentry with linespoints pointtype shapes[k] linewidth 1.5 linecolor rgb "#" . word(colours, k) title word(forms, k)
    unset multiplot
    unset key
    set border 3 linecolor rgb "#606060"
    set tics nomirror out textcolor rgb "#404040"
    set logscale xy
    set output
}
