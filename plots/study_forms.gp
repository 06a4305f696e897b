# What each form came to: mean and 95 % interval, the seeds as points, and what others published.
#
#     gnuplot -c plots/study_forms.gp results/studies/shakespeare     # reads forms.csv, draws forms.png and .svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
data = dir . "/forms.csv"

names = ""
count = 0
register(name) = strstrt("|" . names . "|", "|" . name . "|") ? count : (names = names . (count ? "|" : "") . name, count = count + 1)
stats data using (register(strcol("form"))) nooutput
item(list, i) = i == 1 ? list[1:(strstrt(list . "|", "|") - 1)] : item(list[(strstrt(list, "|") + 1):*], i - 1)
array name[count]
do for [i=1:count] { name[i] = item(names, i) }
row(form) = sum [i=1:count] (name[i] eq form ? i : 0)
of(kind, value) = strcol("kind") eq kind ? value : NaN

set border 3 linecolor rgb "#606060"
set xtics nomirror out textcolor rgb "#404040"
set grid xtics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set xlabel "validation loss"
set yrange [count + 0.6 : 0.4]
set ytics nomirror out textcolor rgb "#404040" noenhanced
do for [i=1:count] { set ytics add (name[i] i) }
set offsets graph 0.03, graph 0.03, 0, 0
set key outside right top Left reverse samplen 1 spacing 1.3 noenhanced
size = sprintf("860, %d", 120 + 28 * count)
png = 'set terminal pngcairo size ' . size . ' font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size ' . size . ' font "DejaVu Sans,13" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/forms." . format
    plot data using (of("mean", column("mean"))):(row(strcol("form"))):(column("low")):(column("high")) with xerrorbars pointtype 7 pointsize 1 linewidth 2 linecolor rgb "#0072B2" title "mean, 95 % interval", \
         data using (of("seed", column("loss"))):(row(strcol("form"))) with points pointtype 6 pointsize 0.8 linewidth 1.3 linecolor rgb "#009E73" title "a seed", \
         data using (of("course report", column("loss"))):(row(strcol("form"))) with points pointtype 4 pointsize 1.2 linewidth 2 linecolor rgb "#D55E00" title "course report, one run", \
         data using (of("nanoGPT's discussion 675", column("loss"))):(row(strcol("form"))) with points pointtype 8 pointsize 1.4 linewidth 2 linecolor rgb "#D55E00" title "discussion 675, one run"
    set output
}
