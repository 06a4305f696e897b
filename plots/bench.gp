# Training steps against the same steps written by hand: the tape recorded and replayed, and PyTorch and JAX where they were timed.
#
#     build/bin/bench --csv --peers > build/bench/steps.csv
#     gnuplot -c plots/bench.gp build/bench     # reads build/bench/steps.csv, draws build/bench/steps.png and steps.svg
#
# Further variable: threads=2 for another number of threads than 1.

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "build/bench"
if (!exists("threads")) threads = 1
steps = dir . "/steps.csv"
set datafile separator comma
set datafile columnheaders

# ---- one place on the axis for each net and activation, in the order of the file
cases = ""
count = 0
register(name) = strstrt(" " . cases . " ", " " . name . " ") ? count : (cases = cases . " " . name, count = count + 1)
case_of(dummy) = strcol("net") . "/" . strcol("activation")
stats steps using (column("threads") == threads ? register(case_of(0)) : NaN) nooutput
place(name) = sum [i=1:count] (word(cases, i) eq name ? i : 0)
at(mode) = column("threads") == threads && strcol("mode") eq mode ? place(case_of(0)) : NaN
peers = "torch torch_compiled jax"
titles = "'PyTorch' 'PyTorch, compiled' 'JAX, compiled'"
colours = "D55E00 CC79A7 56B4E9"
marks = "9 8 13"
peer(name) = strlen(strcol(name)) ? column(name) / column("floor_us_median") : NaN
present = ""
do for [name in peers] {
    stats steps using (at("recorded") > 0 ? strlen(strcol(name . "_us_median")) : 0) name "TIMED" nooutput
    if (TIMED_max > 0) { present = present . " " . name }
}
number_of(name) = sum [i=1:words(peers)] (word(peers, i) eq name ? i : 0)

set title sprintf("One training step, %d thread%s: time over that of the same step written by hand in C", threads, \
          threads == 1 ? "" : "s") font ",14"
set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key outside bottom center horizontal noenhanced
set logscale y
set yrange [0.5 : *]
set ytics (0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
set xrange [0.4 : count + 0.6]
set xtics () rotate by -35 noenhanced
set rmargin 6
do for [i=1:count] { set xtics add (word(cases, i) i) }

png = 'set terminal pngcairo size 900, 560 font "DejaVu Sans,12" background rgb "white"'
svg = 'set terminal svg size 900, 560 font "DejaVu Sans,14" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output dir . "/steps." . format
    plot 1 linecolor rgb "#808080" linewidth 1 title "by hand", \
         steps using (at("recorded") - 0.15):(column("ratio")) with points pointtype 7 pointsize 1.1 linecolor rgb "#0072B2" \
             title "tapegrad, recorded", \
         steps using (at("replayed") + 0.15):(column("ratio")) with points pointtype 5 pointsize 0.9 linecolor rgb "#009E73" \
             title "tapegrad, replayed", \
         for [name in present] steps using (at("recorded")):(peer(name . "_us_median")) with points pointsize 1.1 \
             pointtype int(word(marks, number_of(name))) linecolor rgb "#" . word(colours, number_of(name)) title word(titles, number_of(name))
    set output
}
