# What each form came to at each deviation of the initial weights, in each data set, and what the spread is due to.
#
#     gnuplot -c plots/study_levels.gp results/studies/deviation
#                                        # reads forms.csv and shares.csv, draws deviation.png and .svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
set datafile missing NaN # lines go on over rows of other forms
data = dir . "/forms.csv"
shares = dir . "/shares.csv"

forms = "relu relu_squared gelu_tanh gelu_exact silu swiglu geglu reglu"
colours = "000000 E69F00 56B4E9 0072B2 CC79A7 D55E00 009E73 882255"
sources = "deviation rate activation interactions seed"
of_source = "0072B2 56B4E9 D55E00 BBBBBB E6E6E6"
array names[9]
array shown[27]
stats data using (names[int(column("number"))] = strcol("panel"), \
                  shown[int(3 * column("number") + column("level") - 3)] = strcol("deviation"), 1) nooutput
stats shares using (column("number")) nooutput
panels = int(STATS_max)

at(form) = column("level") + 0.025 * (form - 4.5)
of(panel, form, value) = column("number") == panel && strcol("form") eq word(forms, form) ? value : NaN
first(panel, form, value) = column("seed") == 1 ? of(panel, form, value) : NaN
two_lines(name) = (cut = strstrt(name, ": ")) > 0 ? name[1:cut] . "\n" . name[cut + 2:*] : name . "\n "
before(last) = sum [i=1:last] column(word(sources, i))

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
height = panels > 1 ? 700 : 420
top = panels > 1 ? 0.6 : 1
png = sprintf('set terminal pngcairo size 980, %d font "DejaVu Sans,11" background rgb "white"', height)
svg = sprintf('set terminal svg size 980, %d font "DejaVu Sans,13" background rgb "white" noenhanced', height)
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/deviation." . format
    set multiplot
    set lmargin -1
    set rmargin -1
    set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
    set xrange [0.7 : 3.3]
    set yrange [* : *]
    set ytics auto
    set ylabel "test loss"
    set xlabel "deviation of the initial weights"
    do for [panel=1:panels] {
        set origin panel == 1 ? 0 : (panel - 2.0) / (panels - 1), panel == 1 ? 1 - top : 0
        set size panel == 1 ? 0.58 : 1.0 / (panels - 1), panel == 1 ? top : 1 - top
        set lmargin panel == 1 ? -1 : panel == 2 ? 10 : 8
        set rmargin panel == 1 ? -1 : 1
        if (panel > 1) { set xtics font ",9"; set ytics font ",9" }
        set title panel == 1 ? names[panel] : two_lines(names[panel]) noenhanced
        set xtics (shown[3 * panel - 2] 1, shown[3 * panel - 1] 2, shown[3 * panel] 3)
        if (panel == 1) { set key inside top right Left reverse samplen 1.5 spacing 1.2 noenhanced } else { unset key }
        if (panel == 2) { set ylabel "test loss"; unset xlabel }
        plot for [i=1:8] data using (at(i)):(of(panel, i, column("loss"))) with points pointtype 6 pointsize 0.5 linecolor rgb "#80" . word(colours, i) notitle, \
             for [i=1:8] data using (at(i)):(first(panel, i, column("mean"))) with linespoints pointtype 7 pointsize 0.8 linewidth 2 linecolor rgb "#" . word(colours, i) title word(forms, i)
        if (panel == 2) { unset ylabel }
    }
    set origin 0.58, 1 - top
    set size 0.42, top
    set key tmargin center horizontal samplen 1 maxrows 2
    set lmargin 6
    set rmargin 4
    unset ytics
    unset grid
    unset title
    unset ylabel
    set xlabel "share of the spread, %"
    set xrange [0 : 100]
    set yrange [panels + 0.5 : 0.4]
    set xtics 0, 50 font ""
    set style fill solid 1 noborder
    plot for [i=1:5] shares using (before(i)):(column("number")):(before(i - 1)):(before(i)):(column("number") - 0.2):(column("number") + 0.3) with boxxyerror linecolor rgb "#" . word(of_source, i) title word(sources, i), \
         shares using (0):(column("number") - 0.34):(stringcolumn("panel")) with labels left notitle
    unset multiplot
    set output
}
