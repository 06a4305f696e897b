# A critical-difference diagram (Demsar, 2006): mean ranks on an axis, best at the left, and bars over those that the test does not tell apart.
#
#     gnuplot -e "dir='results/studies/glu-tabular'" plots/study_ranks.gp     # reads ranks.csv, draws ranks.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
data = dir . "/ranks.csv"

methods = 0
groups = 0
critical = 0
array name[64]
array rank[64]
array left_end[64]
array right_end[64]
take(kind) = kind eq "method" ? (methods = methods + 1, name[methods] = strcol("name"), rank[methods] = column("from"), 1) : \
             kind eq "group" ? (groups = groups + 1, left_end[groups] = column("from"), right_end[groups] = column("to"), 1) : \
             (critical = column("to"), 1)
stats data using (take(strcol("kind"))) nooutput

half = int(ceil(methods / 2.0))
row = 0.5                                    # height of a label's line, of the axis that ends at 0
top = -0.35 - 0.3 * groups
unset border
unset ytics
unset key

set xrange [-0.5 : methods + 1.3]
set yrange [top - row * (half + 0.5) : 1.5]
unset xtics
set label 1 "mean rank (1 is best)" at (methods + 1) / 2.0, 1.25 center textcolor rgb "#404040" noenhanced
set arrow 1 from 1, 0 to methods, 0 nohead linewidth 1.5 linecolor rgb "#606060"
do for [i=1:methods] {
    set arrow 10 + i from i, 0 to i, 0.12 nohead linecolor rgb "#606060"
    set label 10 + i sprintf("%d", i) at i, 0.32 center textcolor rgb "#404040"
    low = top - row * (i <= half ? i : methods + 1 - i)
    edge = i <= half ? 0.95 : methods + 0.05
    side = i <= half ? -1 : 1
    set arrow 100 + 2 * i from rank[i], 0 to rank[i], low nohead linewidth 1.2 linecolor rgb "#0072B2"
    set arrow 101 + 2 * i from rank[i], low to edge, low nohead linewidth 1.2 linecolor rgb "#0072B2"
    set label 100 + i sprintf("%s %.2f", name[i], rank[i]) at edge + 0.06 * side, low noenhanced
    if (side < 0) { set label 100 + i right } else { set label 100 + i left }
}
do for [g=1:groups] {
    set arrow 300 + g from left_end[g] - 0.05, -0.3 * g to right_end[g] + 0.05, -0.3 * g nohead linewidth 5 linecolor rgb "#D55E00"
}
set arrow 400 from 1, 0.75 to critical, 0.75 heads size 0.05, 90 linewidth 1.5 linecolor rgb "#D55E00"
set label 400 sprintf("critical difference %.2f", critical - 1) at critical + 0.1, 0.75 left textcolor rgb "#404040" noenhanced

png = 'set terminal pngcairo size 860, 360 font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size 860, 360 font "DejaVu Sans,13" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/ranks." . format
    plot NaN notitle
    set output
}
