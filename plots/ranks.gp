# Mean ranks over several data sets, and what cannot be told apart: the diagram of critical differences (Demsar, JMLR 7, 2006), as autorank draws it.
# A bar joins activations no two of which differ by the tests of pairs (report/ranks.h), rather than by a distance between mean ranks.
#
#     gnuplot -c plots/ranks.gp results    # reads results/ranks.csv, draws ranks.png and ranks.svg

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
data = dir . "/ranks.csv"
set datafile separator comma
set datafile columnheaders

stats data using "mean_rank" name "RANK" nooutput
count = RANK_records
array name[count]
array rank[count]
array joined[count]
place = 0
longest = 4
stats data using (longest = strlen(strcol(1)) > longest ? strlen(strcol(1)) : longest, 0) nooutput
stats data using (place = place + 1, name[place] = strcol(1), rank[place] = column("mean_rank"), joined[place] = column("joined_to"), 0) nooutput

# Bars below each other, those alone that no other contains.
bars = 0
array from[count]
array to[count]
do for [i=1:count] {
    if (joined[i] > rank[i] && (bars == 0 || joined[i] > to[bars])) { bars = bars + 1; from[bars] = rank[i]; to[bars] = joined[i] }
}
left = (count + 1) / 2                       # names on this side
rows = left > count - left ? left : count - left
first_row = 0.5 + 0.5 * bars + 0.5
height = first_row + rows
level(i) = -(i <= left ? first_row + i - 1 : first_row + count - i)
inset = 0.02 * (count - 1)

unset border
unset key
unset ytics
set xrange [1 - 0.02 * (count - 1) : count + 0.02 * (count - 1)]
set yrange [-height : 0]
set lmargin 8 + longest
set rmargin 8 + longest
set tmargin 3.5
set bmargin 0.5
unset xtics
set x2range [1 - 0.02 * (count - 1) : count + 0.02 * (count - 1)]
set x2tics 1, count > 20 ? 5 : 1 scale 0.8
set x2label "mean rank, 1 is best" offset 0, -0.5
set arrow from first 1, 0 to first count, 0 nohead linewidth 1.5
do for [i=1:count] {
    side = i <= left ? 1 - inset : count + inset
    set arrow from first rank[i], 0 to first rank[i], level(i) nohead linewidth 1.2 linecolor rgb "#404040"
    set arrow from first rank[i], level(i) to first side, level(i) nohead linewidth 1.2 linecolor rgb "#404040"
    if (i <= left) { set label sprintf("%s  %.2f", name[i], rank[i]) at first side, level(i) right noenhanced offset -0.6, 0 }
    if (i > left) { set label sprintf("%.2f  %s", rank[i], name[i]) at first side, level(i) left noenhanced offset 0.6, 0 }
}
do for [b=1:bars] {
    set arrow from first from[b] - 0.008 * (count - 1), -0.25 - 0.5 * b to first to[b] + 0.008 * (count - 1), -0.25 - 0.5 * b nohead linewidth 5 linecolor rgb "#0072B2" front
}

size_of(unit) = sprintf("%g, %g", (6.2 + 0.2 * longest) * unit, (1.2 + 0.26 * height) * unit)
if (!exists("formats")) { formats = "png svg" }
do for [format in formats] {
    if (format eq "png") { eval 'set terminal pngcairo size ' . size_of(100) . ' font "DejaVu Sans,12" background rgb "white"' }
    if (format eq "svg") { eval 'set terminal svg size ' . size_of(100) . ' font "DejaVu Sans,14" background rgb "white" noenhanced' }
    if (format eq "pdf") { eval 'set terminal pdfcairo size ' . size_of(0.75) . ' font "DejaVu Sans,9"' }
    set output out . "/ranks." . format
    plot NaN axes x2y1 notitle
    set output
}
