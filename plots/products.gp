# Matrix products: speed over arithmetic intensity (a roofline), our own and OpenBLAS's, by each core that was timed.
#
#     build/bin/bench --products --threads 1 --csv > build/bench/products.csv     # or with --cores LIST
#     gnuplot -c plots/products.gp build/bench     # reads build/bench/products.csv, draws build/bench/products.png and products.svg
#
# The roof: what a loop of multiply-adds in registers reaches, and what memory gives to a product that reads and writes each element once.
# Small products lie in the caches, so they may be above the slope.

if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
if (!exists("dir")) dir = "build/bench"
products = dir . "/products.csv"
set datafile separator comma
set datafile columnheaders

# ---- the cores, in the order of the file, and what all lines share
cores = ""
count = 0
type = ""
isa = ""
element = 4
register(core) = strstrt(" " . cores . " ", " " . core . " ") ? count : (cores = cores . " " . core, count = count + 1)
note(dummy) = (type = strcol("dtype"), isa = strcol("isa"), element = type eq "f64" ? 8 : 4, register(strcol("core")))
stats products using (note(0)) nooutput
stats products using "peak_gflops":"read_gbytes" name "ROOF" nooutput
stats products using "threads" name "THREADS" nooutput
peak = ROOF_max_x
bandwidth = ROOF_max_y
traffic(dummy) = element * (column("m") * column("k") + column("k") * column("n") + column("m") * column("n"))
intensity(dummy) = 2 * column("m") * column("n") * column("k") / traffic(0)
of(core, name) = strcol("core") eq core ? column(name) : NaN
stats products using (intensity(0)) name "X" nooutput
stats products using "own_gflops" name "OWN" nooutput
stats products using "openblas_gflops" name "OTHER" nooutput
low = OWN_min < OTHER_min ? OWN_min : OTHER_min

set title sprintf("Matrix products of training steps, %s, %s, %d thread%s", type, isa, THREADS_max, THREADS_max == 1 ? "" : "s") font ",14"
set xlabel "floating-point operations for each byte of the operands and the result"
set ylabel "billions of operations a second"
set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set key inside bottom right noenhanced
set logscale xy
set xrange [0.8 * X_min : 1.3 * X_max]
set yrange [0.7 * low : 1.3 * peak]
set xtics (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256)
set ytics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
set samples 500
roof(x) = x * bandwidth < peak ? x * bandwidth : peak
colours = "D55E00 E69F00 CC79A7 009E73 56B4E9 999933 882255"
colour(i) = "#" . word(colours, (i - 1) % words(colours) + 1)

png = 'set terminal pngcairo size 900, 560 font "DejaVu Sans,12" background rgb "white"'
svg = 'set terminal svg size 900, 560 font "DejaVu Sans,14" background rgb "white" noenhanced'
do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output dir . "/products." . format
    plot roof(x) linecolor rgb "#808080" linewidth 2 title sprintf("multiply-adds in registers %.0f GF/s, memory %.1f GB/s", peak, bandwidth), \
         for [i=1:count] products using (1.03 * intensity(0)):(of(word(cores, i), "openblas_gflops")) with points pointtype 8 pointsize 0.9 \
             linewidth 1.2 linecolor rgb colour(i) title sprintf("OpenBLAS, %s", word(cores, i)), \
         products using (intensity(0)):"own_gflops" with points pointtype 7 pointsize 0.7 linecolor rgb "#0072B2" title "tapegrad"
    set output
}
