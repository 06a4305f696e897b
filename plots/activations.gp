# Values and first derivatives of the activations, and how far GELU's approximations are off.
#
#     gnuplot -c plots/activations.gp results    # reads results/activations.csv, draws activations.png and .svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
data = dir . "/activations.csv"
set datafile separator comma

smooth = "gelu_exact gelu_tanh gelu_quick silu relu elu"
approximations = "gelu_tanh gelu_quick"
colours = "D55E00 000000 009E73 0072B2 888888 CC79A7"
colour(i) = "#" . word(colours, i)
width(i) = i == 1 ? 6 : 2                    # the exact one shines through beneath the others
of(name, column_number) = (strcol(1) eq name) ? column(column_number) : NaN

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key top left Left reverse samplen 2 spacing 1.2 noenhanced
set xlabel "x" offset 0, 0.5

png = 'set terminal pngcairo size 1000, 760 font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size 1000, 760 font "DejaVu Sans,13" background rgb "white" noenhanced'

do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/activations." . format
    set multiplot layout 2, 2 margins 0.08, 0.98, 0.08, 0.94 spacing 0.11, 0.14
    set title "values" noenhanced
    unset ylabel
    plot for [i=1:words(smooth)] data using 2:(of(word(smooth, i), 3)) with lines linewidth width(i) \
         linecolor rgb colour(i) title word(smooth, i)
    set title "first derivatives"
    plot for [i=1:words(smooth)] data using 2:(of(word(smooth, i), 4)) with lines linewidth width(i) \
         linecolor rgb colour(i) notitle
    set title "values: distance from gelu_exact"
    set logscale y
    set format y "%g"
    set yrange [1e-7:0.1]
    set key bottom right
    plot for [i=1:2] data using 2:(abs(of("difference_" . word(approximations, i), 3))) with lines linewidth 2 \
         linecolor rgb colour(i + 1) title word(approximations, i)
    set title "derivatives: distance from that of gelu_exact"
    plot for [i=1:2] data using 2:(abs(of("difference_" . word(approximations, i), 4))) with lines linewidth 2 \
         linecolor rgb colour(i + 1) notitle
    unset logscale y
    set yrange [*:*]
    set key top left
    unset multiplot
    set output
}
