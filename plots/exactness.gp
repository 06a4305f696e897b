# The error of exact GELU in single precision over x, in units in the last place, of several ways to compute it.
#
#     gnuplot -c plots/exactness.gp results    # reads results/exactness.csv, draws exactness.png and .svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
data = dir . "/exactness.csv"
set datafile separator comma

forms = "naive erfc pytorch tapegrad"
array title[4] = ["0.5 x (1 + erff(x/√2))", "0.5 x erfcf(-x/√2), C library", "PyTorch", "tapegrad"]
colours = "888888 0072B2 E69F00 D55E00"
of(name) = (strcol(1) eq name) ? (column(3) > 0.1 ? column(3) : 0.1) : NaN
rows(name) = (strcol(1) eq name)
array found[4]
do for [i=1:4] {
    stats data using (rows(word(forms, i))) name "FORM" nooutput
    found[i] = FORM_max
}

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key top right Right noreverse samplen 2 spacing 1.3 noenhanced
set xlabel "x"
set ylabel "largest error (units in the last place)"
set title "GELU in single precision" noenhanced
set logscale y
set format y "10^{%T}"
set xrange [-14:6]
set yrange [0.1:1e8]
set arrow 1 from -14, 2 to 6, 2 nohead linecolor rgb "#404040" dashtype (6, 6) back
set label 1 "2 ulp" at 5.9, 3.2 right textcolor rgb "#404040"

png = 'set terminal pngcairo size 900, 520 font "DejaVu Sans,12" background rgb "white"'
svg = 'set terminal svg size 900, 520 font "DejaVu Sans,14" background rgb "white"'

do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/exactness." . format
    plot for [i=1:4] data using (found[i] > 0 ? column(2) : NaN):(of(word(forms, i))) with lines \
         linewidth (i == 1 ? 5 : i == 4 ? 2.5 : 1.5) linecolor rgb "#" . word(colours, i) title (found[i] > 0 ? title[i] : "")
    set output
}
