# The error of a finite difference over its step: truncation falls with the step, rounding rises.
#
#     gnuplot -c plots/gradcheck.gp gradcheck     # reads gradcheck/steps.csv, draws gradcheck/steps.png and steps.svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "gradcheck"
if (!exists("out")) out = dir
steps = dir . "/steps.csv"
set datafile separator comma
set datafile columnheaders

name = ""
where = ""
highest = 1e-16
stats steps using (name = strcol("operation"), where = strcol("where"), column("step")) name "STEP" nooutput
stats steps using (highest = column("central") > highest ? column("central") : highest) nooutput

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid xtics ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.4 noenhanced
set tmargin 5
set label 1 "Derivative of " . name . " by central differences" at graph 0, graph 1 left offset 0, 2.8 noenhanced font ",14"
set label 2 where at graph 0, graph 1 left offset 0, 1.3 noenhanced textcolor rgb "#404040"
set xlabel "step, relative to the input"
set ylabel "relative error"
set logscale xy
set format xy "10^{%T}"
set xrange [STEP_min / 2 : 1]
set yrange [1e-17 : highest > 1 ? 10 * highest : 10]
shown(x) = x > 3e-17 ? x : 3e-17             # exact to the last bit: drawn at the lower edge
rounding(h) = 2**-53 / h                     # of a function of its own size, over the step

do for [format in "png svg"] {
    if (format eq "png") {
        set terminal pngcairo size 900, 560 font "DejaVu Sans,12" background rgb "white"
    } else {
        set terminal svg size 900, 560 font "DejaVu Sans,14" background rgb "white"
    }
    set output out . "/steps." . format
    plot rounding(x) with lines linewidth 1.5 dashtype (6, 5) linecolor rgb "#909090" title "2^-53 / step", \
         steps using (column("step")):(shown(column("central"))) with linespoints linewidth 2 pointtype 7 pointsize 0.5 \
             linecolor rgb "#000000" title "plain", \
         steps using (column("step")):(shown(column("once"))) with linespoints linewidth 2 pointtype 5 pointsize 0.5 \
             linecolor rgb "#0072B2" title "extrapolated once", \
         steps using (column("step")):(shown(column("twice"))) with linespoints linewidth 2 pointtype 9 pointsize 0.6 \
             linecolor rgb "#D55E00" title "extrapolated twice"
    set output
}
