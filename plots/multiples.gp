# Many activations: a small picture for each, with its band, and the others' means in grey behind it, all on the same axes. Loaded by loss.gp and
# accuracy.gp, which set picture (the file's name), curve (the column), drawn(i, name) (the column on the axis) and name(i) (the title); and by
# steps.gp, whose curves have no bands.

png = 'set terminal pngcairo size %d, %d font "DejaVu Sans,10" background rgb "white"'
svg = 'set terminal svg size %d, %d font "DejaVu Sans,12" background rgb "white" noenhanced'
unset key
unset label
unset ylabel
set tmargin
if (!exists("across_label")) { across_label = "epoch" }
every = int(ceil(epochs / 4.0))
if (epochs > 1 && across_label eq "epoch") { set xtics 0, every > tic ? every : tic }
if (across_label eq "step") { set xtics autofreq 0, round_step(STEP_max / 3.0) }
do for [format in "png svg"] {
    across = format eq "svg" ? 3 : count <= 12 ? 4 : 5
    down = int(ceil(count / (1.0 * across)))
    size_x = 20 + 260 * across
    size_y = 110 + 200 * down
    eval sprintf(format eq "png" ? png : svg, size_x, size_y)
    set output out . "/" . picture . "." . format
    set multiplot layout down, across margins 55.0 / size_x, 1 - 15.0 / size_x, 50.0 / size_y, 1 - 90.0 / size_y spacing 55.0 / size_x, 58.0 / size_y
    set label 1 title at screen 10.0 / size_x, screen 1 - 20.0 / size_y left noenhanced font ",14"
    set label 2 heading . "; grey: the others" at screen 10.0 / size_x, screen 1 - 45.0 / size_y left noenhanced textcolor rgb "#404040"
    do for [i=1:count] {
        if (i > 1) { unset label }
        set title name(i) noenhanced offset 0, -0.7
        set xlabel (i + across > count ? across_label : "") offset 0, 0.6
        if (across_label eq "epoch") {
            plot for [k=1:count] bands using (epoch(k)):(drawn(k, curve)) with lines linecolor rgb "#d0d0d0" linewidth 1 notitle, \
                 bands using (epoch(i)):(drawn(i, curve . "_low")):(drawn(i, curve . "_high")) with filledcurves linetype shade(1 + 1) notitle, \
                 bands using (epoch(i)):(curve eq "val_loss" ? drawn(i, "train_loss") : NaN) with lines linetype dashed(1 + 1) notitle, \
                 bands using (epoch(i)):(drawn(i, curve)) with linespoints linetype solid(1 + 1) pointtype 7 pointsize 0.5 pointinterval marks_every notitle
        } else {
            plot for [k=1:count] steps using (column("step")):(of_step(k, "val_loss")) with lines linecolor rgb "#d0d0d0" linewidth 1 notitle, \
                 steps using (column("step")):(edge(i, "train_loss")) with lines linetype thin(1 + 1) notitle, \
                 steps using (written("val_loss") == written("val_loss") ? column("step") : NaN):(of_step(i, "val_loss")) \
                 with linespoints linetype solid(1 + 1) pointtype 7 pointsize 0.5 pointinterval marks_every notitle
        }
    }
    unset multiplot
    set output
}
