# The error of a function over x, in units in the last place, against the exact GELU or SiLU: value and derivatives.
#
#     gnuplot -c plots/yours.gp results    # reads results/yours.csv, draws yours.png and .svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
data = dir . "/yours.csv"
set datafile separator comma

array title[3] = ["value", "first derivative", "second derivative"]
colours = "D55E00 0072B2 888888"
of(order) = (column(1) == order) ? (column(3) > 0.1 ? column(3) : 0.1) : NaN
array found[3]
do for [i=1:3] {
    stats data using (column(1) == i - 1 ? 1 : 0) name "ORDER" nooutput
    found[i] = ORDER_max
}

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key top right Right noreverse samplen 2 spacing 1.3 noenhanced
set xlabel "x"
set ylabel "largest error (units in the last place)"
set logscale y
set format y "10^{%T}"
set yrange [0.1:*]
set arrow 1 from graph 0, first 2 to graph 1, first 2 nohead linecolor rgb "#404040" dashtype (6, 6) back

png = 'set terminal pngcairo size 900, 520 font "DejaVu Sans,12" background rgb "white"'
svg = 'set terminal svg size 900, 520 font "DejaVu Sans,14" background rgb "white"'

do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/yours." . format
    plot for [i=1:3] data using (found[i] > 0 ? column(2) : NaN):(of(i - 1)) with lines linewidth 1.5 \
         linecolor rgb "#" . word(colours, i) title (found[i] > 0 ? title[i] : "")
    set output
}
