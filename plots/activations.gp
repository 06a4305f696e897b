# Values and first derivatives of the activations, of a formula too, and how far GELU's approximations are off.
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
own_colour = "#E0B000"
colour(i) = "#" . word(colours, i)
width(i) = i == 1 ? 6 : 2                    # the exact one shines through beneath the others
of(name, column_number) = (strcol(1) eq name) ? column(column_number) : NaN


# The curve of a formula, if there is one, lies over the others; far away from them it is cut off.
own = ""
stats data using (own = strcol(1)[1:8] eq "formula " ? strcol(1) : own, 0) nooutput
drawn = own eq "" ? "" : own[9:*]
others(n) = strstrt(" " . smooth . " ", " " . strcol(1) . " ") ? column(n) : NaN
do for [n=3:4] {
    stats data using (others(n)) name sprintf("C%d", n) nooutput
    low = value(sprintf("C%d_min", n))
    high = value(sprintf("C%d_max", n))
    reach = 2 * (high - low)
    inside(y) = y < low - reach ? low - reach : y > high + reach ? high + reach : y
    undefine F_*
    if (own ne "") { stats data using (inside(of(own, n))) name "F" nooutput }
    if (exists("F_min")) {                   # not if it has no number here
        low = F_min < low ? F_min : low
        high = F_max > high ? F_max : high
    }
    eval sprintf("low%d = %.17g; high%d = %.17g", n, low - 0.05 * (high - low), n, high + 0.05 * (high - low))
}

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
    set yrange [low3:high3]
    plot for [i=1:words(smooth)] data using 2:(of(word(smooth, i), 3)) with lines linewidth width(i) \
         linecolor rgb colour(i) title word(smooth, i), \
         for [k=1:own ne ""] data using 2:(of(own, 3)) with lines linewidth 3 linecolor rgb own_colour title drawn
    set title "first derivatives"
    set yrange [low4:high4]
    plot for [i=1:words(smooth)] data using 2:(of(word(smooth, i), 4)) with lines linewidth width(i) \
         linecolor rgb colour(i) notitle, \
         for [k=1:own ne ""] data using 2:(of(own, 4)) with lines linewidth 3 linecolor rgb own_colour notitle
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
