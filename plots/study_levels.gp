# What each form came to at each deviation of the initial weights, and what the spread of all runs is due to.
#
#     gnuplot -e "dir='results/studies/deviation'" plots/study_levels.gp
#                                        # reads forms.csv and shares.csv, draws deviation.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
set datafile missing NaN # lines go on over rows of other forms
data = dir . "/forms.csv"
shares = dir . "/shares.csv"

forms = "relu relu_squared gelu_tanh gelu_exact silu swiglu geglu reglu"
deviations = "0.02 0.079 0.125"
colours = "000000 E69F00 56B4E9 0072B2 CC79A7 D55E00 009E73 882255"
place(name, list) = sum [i=1:words(list)] (word(list, i) eq name ? i : 0)
at(form) = place(strcol("deviation"), deviations) + 0.025 * (form - 4.5)
of(form, value) = strcol("form") eq word(forms, form) ? value : NaN
first(form, value) = column("seed") == 1 ? of(form, value) : NaN

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
png = 'set terminal pngcairo size 980, 420 font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size 980, 420 font "DejaVu Sans,13" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/deviation." . format
    set multiplot
    set origin 0, 0
    set size 0.6, 1
    set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
    set xlabel "deviation of the initial weights"
    set ylabel "test loss, nats a character"
    set xrange [0.7 : 3.3]
    set yrange [* : *]
    set xtics ("0.02 (GPT-2)" 1, "0.079 (default)" 2, "0.125" 3)
    set ytics auto
    set key inside top right Left reverse samplen 1.5 spacing 1.2 noenhanced
    plot for [i=1:8] data using (at(i)):(of(i, column("loss"))) with points pointtype 6 pointsize 0.5 linecolor rgb "#80" . word(colours, i) notitle, \
         for [i=1:8] data using (at(i)):(first(i, column("mean"))) with linespoints pointtype 7 pointsize 0.8 linewidth 2 linecolor rgb "#" . word(colours, i) title word(forms, i)
    set origin 0.6, 0
    set size 0.4, 1
    unset key
    unset grid
    unset ylabel
    set grid xtics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
    set xlabel "share of the spread, %"
    set xrange [0 : 100]
    set yrange [5.5 : 0.5]
    set xtics 20
    set ytics auto
    set boxwidth 0.6
    set style fill solid 0.8 border
    plot shares using (column("share")):($0 + 1):(0):(column("share")):($0 + 0.75):($0 + 1.25):yticlabels(stringcolumn("source")) with boxxyerror linecolor rgb "#0072B2"
    unset multiplot
    set output
}
