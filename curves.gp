# Loss over epochs; made by tg_fit_write_curves. Run it where it lies, or from elsewhere: it finds the table beside it.
folder = strstrt(ARG0, '/') ? system("dirname '" . ARG0 . "'") . '/' : ''
set datafile separator ','
set key autotitle columnhead noenhanced
set border 3 linecolor rgb '#606060'
set tics nomirror out textcolor rgb '#404040'
set grid ytics linecolor rgb '#e0e0e0' linetype 1 linewidth 1
set key outside right center vertical Left reverse samplen 2.5 spacing 1.3
set xlabel 'epoch'
set ylabel 'mean loss'
set terminal pngcairo size 900, 560 font 'DejaVu Sans,12' background rgb 'white'
set border 11
set y2label 'score'
set y2tics
set output folder . 'curves.png'
plot folder . 'curves.csv' using 1:4 with lines linewidth 1.2 dashtype (12, 8) linecolor rgb '#0072B2', '' using 1:5 with linespoints linewidth 2 pointtype 7 pointsize 0.8 linecolor rgb '#0072B2', '' using 1:6 axes x1y2 with linespoints linewidth 2 pointtype 5 pointsize 0.8 linecolor rgb '#D55E00'
set output
