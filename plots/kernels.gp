# Time per element of each activation, forward, relative to ReLU: in cache and from memory.
#
#     build/bin/bench --kernels --csv > build/bench/kernels.csv
#     gnuplot -c plots/kernels.gp build/bench     # reads build/bench/kernels.csv, draws build/bench/kernels.png and kernels.svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "build/bench"
kernels = dir . "/kernels.csv"
set datafile separator comma
set datafile columnheaders

# ---- one place on the axis for each activation that the file has
shown = "relu leaky_relu gelu_exact gelu_tanh gelu_quick silu softplus mish elu selu tanh sigmoid geglu swiglu"
cases = ""
count = 0
is_shown(name) = strstrt(" " . shown . " ", " " . name . " ") > 0
known(name) = strstrt(" " . cases . " ", " " . name . " ") > 0
register(name) = known(name) || !is_shown(name) ? count : (cases = cases . " " . name, count = count + 1)
stats kernels using (register(strcol("kernel"))) nooutput
place(name) = sum [i=1:count] (word(cases, i) eq name ? i : 0)
at(memory) = strcol("direction") eq "forward" && known(strcol("kernel")) && (column("elements") > 1e6) == memory \
             ? place(strcol("kernel")) : NaN

set title "Time per element, forward, one thread: times that of ReLU" font ",14"
set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key outside bottom center horizontal noenhanced samplen 2
set style fill solid 1 noborder
set boxwidth 0.36
set yrange [0 : *]
set xrange [0.4 : count + 0.6]
set xtics () rotate by -35 noenhanced
set rmargin 6
set bmargin 7.5
do for [i=1:count] { set xtics add (word(cases, i) i) }
labelled(memory) = sprintf("%.1f", column("time_over_relu"))

png = 'set terminal pngcairo size 900, 560 font "DejaVu Sans,12" background rgb "white"'
svg = 'set terminal svg size 900, 560 font "DejaVu Sans,14" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output dir . "/kernels." . format
    plot kernels using (at(0) - 0.19):(column("time_over_relu")) with boxes linecolor rgb "#0072B2" \
             title "in cache (16,384 elements)", \
         kernels using (at(1) + 0.19):(column("time_over_relu")) with boxes linecolor rgb "#E69F00" \
             title "from memory (16,777,216 elements)", \
         kernels using (at(0) - 0.19):(column("time_over_relu")):(labelled(0)) with labels offset 0, 0.6 font ",9" \
             textcolor rgb "#404040" notitle, \
         kernels using (at(1) + 0.19):(column("time_over_relu")):(labelled(1)) with labels offset 0, 0.6 font ",9" \
             textcolor rgb "#404040" notitle
    set output
}
