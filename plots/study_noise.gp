# Accuracy and log loss over the size of the noise: medians of the seeds and bands from least to greatest.
#
#     gnuplot -e "dir='results/studies/gelu-noise'" plots/study_noise.gp     # reads noise.csv, draws noise.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
data = dir . "/noise.csv"

names = ""
count = 0
register(name) = strstrt(" " . names . " ", " " . name . " ") ? 1 : (names = names . " " . name, count = count + 1)
stats data using (register(strcol("curve"))) nooutput
measures = "accuracy (%)|log loss"
measure(m) = m == 1 ? measures[1:12] : measures[14:*]

colours = "D55E00 009E73 0072B2 000000 CC79A7 56B4E9"
do for [i=1:6] {
    set linetype i linecolor rgb "#" . word(colours, i) linewidth 2
    set linetype i + 6 linecolor rgb "#d0" . word(colours, i)
}
set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set xlabel "noise from -a to a" offset 0, 0.4
at(m, i) = strcol("measure") eq measure(m) && strcol("curve") eq word(names, i) ? column("noise") : NaN

png = 'set terminal pngcairo size 1020, 380 font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size 1020, 380 font "DejaVu Sans,13" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/noise." . format
    set multiplot layout 1, 2 margins 0.07, 0.87, 0.15, 0.95 spacing 0.09
    do for [m=1:2] {
        set ylabel measure(m) offset 1, 0 noenhanced
        if (m == 1) { set key at screen 0.885, 0.6 left center vertical Left reverse noenhanced samplen 2 spacing 1.3 } else { unset key }
        plot for [i=1:count] data using (at(m, i)):(column("low")):(column("high")) with filledcurves linetype i + 6 notitle, \
             for [i=1:count] data using (at(m, i)):(column("median")) with lines linetype i title word(names, i)
    }
    unset multiplot
    set output
}
