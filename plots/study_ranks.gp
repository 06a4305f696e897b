# A critical-difference diagram (Demsar, 2006): mean ranks on an axis, best at the left, and bars over those that the test does not tell apart.
#
#     gnuplot -e "dir='results/studies/glu-tabular'" plots/study_ranks.gp     # reads ranks.csv, draws ranks.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
data = dir . "/ranks.csv"

first = ""
second = ""
register(setting) = (first eq "" ? (first = setting) : setting ne first ? (second = setting) : "", 1)
stats data using (register(strcol("setting"))) nooutput
panels = second eq "" ? 1 : 2

# ---- of each panel: methods in the order of their ranks, groups of those that do not differ, the critical difference
most = 16
array methods[2]
array groups[2]
array critical[2]
array name[2 * most]
array rank[2 * most]
array left_end[2 * most]
array right_end[2 * most]
do for [p=1:2] { methods[p] = 0; groups[p] = 0; critical[p] = 0 }
of(p, i) = (p - 1) * most + i
panel(setting) = setting eq first ? 1 : 2
take(p, kind) = kind eq "method" ? (methods[p] = methods[p] + 1, name[of(p, methods[p])] = strcol("name"), rank[of(p, methods[p])] = column("from"), 1) : \
                kind eq "group" ? (groups[p] = groups[p] + 1, left_end[of(p, groups[p])] = column("from"), \
                                   right_end[of(p, groups[p])] = column("to"), 1) : (critical[p] = column("to"), 1)
stats data using (take(panel(strcol("setting")), strcol("kind"))) nooutput

unset border
unset ytics
unset xtics
unset key
row = 0.5                                    # height of a label's line, below the axis, which ends at 0
size = sprintf("860, %d", 390 * panels)
png = 'set terminal pngcairo size ' . size . ' font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size ' . size . ' font "DejaVu Sans,13" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/ranks." . format
    set multiplot layout panels, 1
    do for [p=1:panels] {
        unset label
        unset arrow
        n = methods[p]
        half = int(ceil(n / 2.0))
        top = -0.35 - 0.3 * groups[p]
        set xrange [-0.7 : n + 1.7]
        set yrange [top - row * (half + 0.5) : 1.5]
        set title (p == 1 ? first : second) noenhanced
        set label 1 "mean rank (1 is best)" at (n + 1) / 2.0, 1.25 center textcolor rgb "#404040" noenhanced
        set arrow 1 from 1, 0 to n, 0 nohead linewidth 1.5 linecolor rgb "#606060"
        do for [i=1:n] {
            at = rank[of(p, i)]
            low = top - row * (i <= half ? i : n + 1 - i)
            edge = i <= half ? 0.95 : n + 0.05
            side = i <= half ? -1 : 1
            set arrow 10 + i from i, 0 to i, 0.12 nohead linecolor rgb "#606060"
            set label 10 + i sprintf("%d", i) at i, 0.32 center textcolor rgb "#404040"
            set arrow 100 + 2 * i from at, 0 to at, low nohead linewidth 1.2 linecolor rgb "#0072B2"
            set arrow 101 + 2 * i from at, low to edge, low nohead linewidth 1.2 linecolor rgb "#0072B2"
            set label 100 + i sprintf("%s %.2f", name[of(p, i)], at) at edge + 0.06 * side, low noenhanced
            if (side < 0) { set label 100 + i right } else { set label 100 + i left }
        }
        do for [g=1:groups[p]] {
            set arrow 300 + g from left_end[of(p, g)] - 0.05, -0.3 * g to right_end[of(p, g)] + 0.05, -0.3 * g nohead linewidth 5 linecolor rgb "#D55E00"
        }
        set arrow 400 from 1, 0.75 to critical[p], 0.75 heads size 0.05, 90 linewidth 1.5 linecolor rgb "#D55E00"
        set label 400 sprintf("critical difference %.2f", critical[p] - 1) at critical[p] + 0.1, 0.75 left textcolor rgb "#404040" noenhanced
        plot NaN notitle
    }
    unset multiplot
    set output
}
