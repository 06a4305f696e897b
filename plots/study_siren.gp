# PSNR over the steps, and an image, its gradient and its Laplacian beside what nets of each activation make of them.
#
#     gnuplot -e "dir='results/studies/siren'" plots/study_siren.gp     # reads curves.csv and images.csv, draws siren.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
set datafile separator comma
set datafile columnheaders
curves = dir . "/curves.csv"
images = dir . "/images.csv"

names = ""
nets = ""
count = 0
has(list, word_) = strstrt(" " . list . " ", " " . word_ . " ") > 0
register(name) = has(names, name) ? 1 : (names = names . " " . name, count = count + 1)
keep(name) = has(nets, name) ? 1 : (nets = nets . " " . name, 1)
stats curves using (register(strcol("curve"))) nooutput
stats images using (keep(strcol("net"))):(column("x")) nooutput

# One scale of grey for each row of pictures, that of the true one. A picture is 64 * 64 lines, one after the other.
measures = "image gradient laplacian"
array low[3]
array high[3]
do for [m=1:3] {
    stats images using (strcol("net") eq "true" ? column(word(measures, m)) : NaN) name "TRUE" nooutput
    low[m] = TRUE_min
    high[m] = TRUE_max
}

colours = "D55E00 009E73 0072B2 000000 CC79A7 56B4E9"
do for [i=1:6] {
    set linetype i linecolor rgb "#" . word(colours, i) linewidth 2
    set linetype i + 6 linecolor rgb "#d0" . word(colours, i)
}
of(i, value) = strcol("curve") eq word(names, i) ? value : NaN

png = 'set terminal pngcairo size 1180, 460 font "DejaVu Sans,11" background rgb "white"'
svg = 'set terminal svg size 1180, 460 font "DejaVu Sans,13" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/siren." . format
    set multiplot
    unset title; set autoscale; set lmargin at screen 0.05; set rmargin at screen 0.36; set bmargin at screen 0.13; set tmargin at screen 0.95
    set border 3 linecolor rgb "#606060"
    set tics nomirror out textcolor rgb "#404040"
    set grid ytics linecolor rgb "#e0e0e0" linetype 1 linewidth 1
    set logscale x; set xrange [1:*] noextend
    set xlabel "step" offset 0, 0.4
    set ylabel "PSNR of the image (dB)" offset 1, 0
    set key top left Left reverse noenhanced samplen 2 spacing 1.3
    plot for [i=1:count] curves using (of(i, column("step"))):(column("low")):(column("high")) with filledcurves linetype i + 6 notitle, \
         for [i=1:count] curves using (of(i, column("step"))):(column("mean")) with lines linetype i title word(names, i)
    unset logscale x
    unset key; unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset colorbox
    set palette gray
    do for [m=1:3] {
        set cbrange [low[m] : high[m]]
        do for [n=1:words(nets)] {
            set lmargin at screen 0.40 + 0.12 * (n - 1); set rmargin at screen 0.40 + 0.12 * (n - 1) + 0.115
            set tmargin at screen 0.95 - 0.305 * (m - 1); set bmargin at screen 0.95 - 0.305 * (m - 1) - 0.295
            if (m == 1) { set title word(nets, n) offset 0, -0.8 noenhanced } else { unset title }
            set xrange [-0.5:63.5]; set yrange [63.5:-0.5]
            plot images every ::(4096 * (n - 1))::(4096 * n - 1) using (column("x")):(column("y")):(column(word(measures, m))) with image notitle
        }
    }
    unset multiplot
    set output
}
