# Of two features: which class the first run of each activation gives to a place, the paler the less sure, and its test rows.
#
#     gnuplot -c plots/boundary.gp results      # reads results/surface.csv and points.csv, draws results/boundary.png and boundary.svg
#
# Further variables: title='...' for a heading, out='...' for another folder to draw into, class_1='...', class_2='...' and so on for the names of the
# classes, x_name='...' and y_name='...' for those of the features.

folder = ARG0[1:strlen(ARG0) - strlen("boundary.gp")]
if (!exists("dir") && exists("ARG1") && strlen(ARG1)) { dir = ARG1[1:1] eq "/" ? ARG1 : "./" . ARG1 }
load folder . "style.gp"
surface = dir . "/surface.csv"
points = dir . "/points.csv"
if (!exists("x_name")) x_name = "feature 1"
if (!exists("y_name")) y_name = "feature 2"
class_name(c) = exists(sprintf("class_%d", c + 1)) ? value(sprintf("class_%d", c + 1)) : sprintf("%d", c)

# ---- activations in the order of the file, each with the same number of rows
names = ""
count = 0
set xrange [*:*]                             # it would leave out of the records activations numbered beyond the epochs
stats surface using (register(strcol("activation")), column("class")) name "SURFACE" nooutput
each = SURFACE_records / count
stats surface using (column("x")) name "X" nooutput
stats surface using (column("y")) name "Y" nooutput
stats points using (column("class")) name "CLASS" nooutput
classes = int(CLASS_max > SURFACE_max ? CLASS_max : SURFACE_max) + 1

# ---- paler where the net is less sure: from white at chance to the class's colour
class_colours = "0072B2 D55E00 009E73 CC79A7 E69F00 56B4E9 882255 999933 44AA99 AA4499 888888 000000"
class_marks = "7 9 5 13 11 15 6 8 4 12 10 14"
part(c, k) = int(column(c)) < 0 ? 0 : int("0x" . word(class_colours, int(column(c)) % 12 + 1)[2 * k - 1 : 2 * k])
sure(dummy) = 0.15 + 0.6 * (column("probability") - 1.0 / classes) / (1 - 1.0 / classes)
shade_of(k) = 255 + sure(0) * (part("class", k) - 255)

longest = 1
do for [c=1:classes] { longest = strlen(class_name(c - 1)) > longest ? strlen(class_name(c - 1)) : longest }
legend = 50 + 9 * (longest < 20 ? longest : 20)
across = count < 2 ? 1 : count <= 4 ? 2 : count <= 9 ? 3 : 4
down = int(ceil(count / (1.0 * across)))
size_x = 80 + (across < 2 ? 460 : 340 * across) + legend
size_y = 130 + (across < 2 ? 460 : 360 * down)
png = sprintf('set terminal pngcairo size %d, %d font "DejaVu Sans,12" background rgb "white"', size_x, size_y)
pdf = sprintf('set terminal pdfcairo size %g, %g font "DejaVu Sans,9"', size_x / 130.0, size_y / 130.0)
svg = sprintf('set terminal svg standalone size %d, %d font "DejaVu Sans,14" background rgb "white" noenhanced', size_x, size_y)

unset label
unset grid
unset logscale
set border 15 linecolor rgb "#606060"
set tmargin
set xrange [X_min : X_max]
set yrange [Y_min : Y_max]
set xtics autofreq
set ytics autofreq
unset key
left = 86.0 / size_x
right = 1 - (legend + 0.0) / size_x
top = 1 - 84.0 / size_y
low = 84.0 / size_y

do for [format in formats] {
    eval value(format)
    set output out . "/boundary." . format
    set label 1 title at screen 10.0 / size_x, screen 1 - 18.0 / size_y left noenhanced font ",14"
    set label 2 "class, the paler the less sure, and test rows; first seed" at screen 10.0 / size_x, screen 1 - 42.0 / size_y left \
        noenhanced textcolor rgb "#404040"
    do for [c=1:classes < 12 ? classes : 12] {
        set label 10 + 2 * c "" at screen right + 14.0 / size_x, screen top - 22.0 * c / size_y point pointtype int(word(class_marks, c)) \
            pointsize 1.2 linecolor rgb "#" . word(class_colours, c)
        set label 11 + 2 * c class_name(c - 1)[1:20] at screen right + 28.0 / size_x, screen top - 22.0 * c / size_y left noenhanced
    }
    set multiplot layout down, across margins left, right, low, top spacing 62.0 / size_x, 76.0 / size_y
    do for [i=1:count] {
        if (i > 1) { unset label }
        set title full_name(i) noenhanced offset 0, -0.6
        set xlabel (i + across > count ? x_name[1:30] : "") noenhanced
        set ylabel ((i - 1) % across == 0 ? y_name[1:30] : "") noenhanced
        plot surface every ::(i - 1) * each::i * each - 1 using "x":"y":(shade_of(1)):(shade_of(2)):(shade_of(3)) with rgbimage notitle, \
             for [c=1:classes] points using (is(i) && column("class") == c - 1 ? column("x") : NaN):"y" with points \
                 pointtype int(word(class_marks, (c - 1) % 12 + 1)) pointsize 0.7 linecolor rgb "white" notitle, \
             for [c=1:classes] points using (is(i) && column("class") == c - 1 ? column("x") : NaN):"y" with points \
                 pointtype int(word(class_marks, (c - 1) % 12 + 1)) pointsize 0.5 linecolor rgb "#" . word(class_colours, (c - 1) % 12 + 1) notitle
    }
    unset multiplot
    set output
}
