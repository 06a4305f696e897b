# The errors of several programs' GELU and SiLU over x, values above and first derivatives below.
#
#     gnuplot -e "dir='results'" plots/atlas.gp    # reads results/atlas.csv, draws atlas.png and .svg

if (!exists("dir")) dir = "results"
if (!exists("out")) out = dir
data = dir . "/atlas.csv"
set datafile separator comma
set datafile columnheaders

functions = "gelu_exact gelu_tanh silu"
array heading[3] = ["x Φ(x)", "its tanh form", "SiLU"]
programs = "torch jax scipy onnxruntime tapegrad"
array title[5] = ["PyTorch", "JAX", "formula in NumPy, SciPy", "ONNX Runtime", "tapegrad"]
colours = "E69F00 0072B2 888888 009E73 D55E00"
of(p) = strcol("program") eq word(programs, p)
is(f, order, p) = strcol("function") eq word(functions, f) && column("order") == order && of(p)
shown(f, order, p) = is(f, order, p) ? (column("ulp") > 0.1 ? column("ulp") : 0.1) : NaN

set border 3 linecolor rgb "#606060"
set tics nomirror out textcolor rgb "#404040"
set grid linecolor rgb "#e0e0e0" linetype 1 linewidth 1
set logscale y
set format y "10^{%T}"
set xrange [-14:6]
set yrange [0.1:1e8]
set arrow 1 from -14, 2 to 6, 2 nohead linecolor rgb "#404040" dashtype (6, 6) back

png = 'set terminal pngcairo size 1200, 720 font "DejaVu Sans,12" background rgb "white"'
svg = 'set terminal svg size 1200, 720 font "DejaVu Sans,14" background rgb "white"'

do for [format in "png svg"] {
    eval format eq "png" ? png : svg
    set output out . "/atlas." . format
    set multiplot layout 2, 3 margins 0.065, 0.985, 0.09, 0.945 spacing 0.05, 0.12
    do for [order=0:1] {
        do for [f=1:3] {
            set title (order == 0 ? heading[f] : heading[f] . ", first derivative") noenhanced
            unset ylabel
            if (f == 1) { set ylabel "largest error (ulp)" }
            unset xlabel
            if (order == 1) { set xlabel "x" }
            unset key
            if (order == 1 && f == 3) { set key inside top center Left reverse samplen 2 spacing 1.3 noenhanced }
            plot for [p=1:5] data using (column("x")):(shown(f, order, p)) with lines linewidth (p == 5 ? 3 : 1.5) \
                 linecolor rgb "#" . word(colours, p) title title[p]
        }
    }
    unset multiplot
    set output
}
