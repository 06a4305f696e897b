# The means of a measure with their 95 % intervals, as points and bars; the first is the reference.
#
#     gnuplot -c plots/intervals.gp results    # reads results/summary.csv, draws results/intervals.png and intervals.svg
#
# Further variables: measure='test_loss' for another than the first one; formats='pdf'; out='...' for another folder to draw into.

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
if (!exists("formats")) { formats = "png svg" }
data = dir . "/summary.csv"
set datafile separator comma

# The header: the first measure.
if (!exists("measure")) {
    measure = ""
    do for [i=12:2:-1] { stats data every ::0::0 using (strlen(strcol(i)) > 5 && strcol(i)[strlen(strcol(i)) - 4:*] eq "_mean" ? (measure = strcol(i)[1:strlen(strcol(i)) - 5], 0) : 0) nooutput }
}
set datafile columnheaders
count = 0
longest = 4
stats data using (count = count + 1, longest = strlen(strcol(1)) > longest ? strlen(strcol(1)) : longest, 0) nooutput
place = 0
next(dummy) = (place = place + 1, count + 1 - place)
bound(name) = strlen(strcol(measure . "_" . name)) ? column(measure . "_" . name) : column(measure . "_mean")
array name[count]
stats data using (name[count + 1 - next(0)] = strcol(1), 0) nooutput

set border 1 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid xtics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
unset key
set yrange [0.4 : count + 0.6]
unset ytics
do for [i=1:count] { set label i name[i] at graph 0, first count + 1 - i right offset -1, 0 noenhanced }
set lmargin longest + 3
known = 0
stats data using (known = known + strlen(strcol(measure . "_low")), 0) nooutput
set xlabel measure . (known ? ", mean and 95 % interval" : "") noenhanced
size_of(unit) = sprintf("%g, %g", 8 * unit, (1.1 + 0.3 * count) * unit)
do for [format in formats] {
    if (format eq "png") { eval 'set terminal pngcairo size ' . size_of(100) . ' font "DejaVu Sans,12" background rgb "white"' }
    if (format eq "svg") { eval 'set terminal svg size ' . size_of(100) . ' font "DejaVu Sans,14" background rgb "white" noenhanced' }
    if (format eq "pdf") { eval 'set terminal pdfcairo size ' . size_of(0.7) . ' font "DejaVu Sans,9"' }
    set output out . "/intervals." . format
    place = 0
    plot data using (column(measure . "_mean")):(next(0)):(bound("low")):(bound("high")) with xerrorbars linewidth 2 linecolor rgb "#0072B2" pointtype 7 pointsize 0.8
    set output
}
