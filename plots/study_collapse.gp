# Steps until a loss is reached, for each form and scale s of the initial weights: above against the deviation of the output before
# training, below against s, and with SGD against the way of the weights from s to 1, divided by their speed.
#
#     gnuplot -c plots/study_collapse.gp results/studies/gated-start    # reads forms.csv, draws gated-start.png and .svg

folder = ARG0[1:strlen(ARG0) - strlen("study_collapse.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
set datafile missing NaN # lines go on over rows of other forms
data = dir . "/forms.csv"

load folder . "study_law.gp"

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set fit quiet logfile "/dev/null"
png = 'set terminal pngcairo size 980, 640 font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size 980, 640 font "DejaVu Sans,12" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/gated-start." . format
    set multiplot layout 2, 3 margins 0.075, 0.98, 0.17, 0.94 spacing 0.065, 0.18
    do for [row=1:2] {
        do for [panel=1:3] {
            unset logscale
            set xrange [*:*]
            set yrange [*:*]
            undefine STATS_*
            stats $ways using ($1 == panel ? $5 : NaN) nooutput
            if (!exists("STATS_records")) { set multiplot next; continue } # this table is not complete
            unset label
            unset key
            set ylabel panel == 1 ? "steps until the loss is reached" : ""
            set yrange [0 : STATS_max * 1.08]
            if (panel == 3) { set yrange [*:*]; set logscale y } # factors of forty
            set title panels[panel] . (row == 1 ? " against the output" : way[panel] ? " against the way" : " against s") noenhanced
            if (row == 1) {
                set logscale x
                set xlabel "deviation of the output at the start" noenhanced
                set xrange [1e-5 : 3]
                set xtics auto
                set format x "10^{%L}"
                if (format eq "svg") { set format x "1e%L" }
                plot for [k=1:7] $ways using (of(panel, k, $3)):6 with points pointtype shapes[k] pointsize 0.4 linecolor rgb "#80" . word(colours, k) notitle, \
                     for [k=1:7] $ways using (first(panel, k, $3)):5 with linespoints pointtype shapes[k] linewidth 1.5 linecolor rgb "#" . word(colours, k) notitle
            } else {
                t0 = 100.0
                c = 100.0
                if (way[panel]) { fit t0 + c * x $ways using ($1 == panel && $7 == 1 ? $4 : NaN):5:5 zerror via t0, c }
                if (way[panel]) { set label sprintf("line: %.0f + %.0f x", t0, c) at graph 0.06, 0.92 textcolor rgb "#606060" noenhanced }
                set format x "%g"
                set xtics auto
                if (!way[panel]) { set xtics ("1/16" 1.0 / 16, "1/8" 1.0 / 8, "1/4" 0.25, "1/2" 0.5, "1" 1) }
                set xlabel way[panel] ? "integral of ds / a(s) from s to 1" : "scale s of the initial weights" noenhanced
                set logscale x
                set xrange [way[panel] ? 0.3 : 0.05 : way[panel] ? 50 : 1.2]
                plot for [i=1:way[panel]] t0 + c * x with lines linecolor rgb "#909090" dashtype 2 notitle, \
                     for [k=1:7] $ways using (first(panel, k, $4)):5 with linespoints pointtype shapes[k] linewidth 1.5 linecolor rgb "#" . word(colours, k) notitle
            }
        }
    }
    unset border
    unset tics
    unset title
    unset label
    unset logscale
    unset xlabel
    unset ylabel
    set lmargin at screen 0.01
    set rmargin at screen 0.99
    set bmargin at screen 0.01
    set tmargin at screen 0.06
    set xrange [0 : 1]
    set yrange [0 : 1]
    set key at screen 0.5, 0.035 center center horizontal Left reverse width 1 samplen 1.5 noenhanced
    plot 0 with lines linecolor rgb "white" notitle, for [k=1:7] keyentry with linespoints pointtype shapes[k] linewidth 1.5 linecolor rgb "#" . word(colours, k) title word(forms, k)
    unset multiplot
    set border 3 linecolor rgb "#606060"
    set tics nomirror out textcolor rgb "#404040"
    set output
}
