# Sets shown_most: three times what the highest point of a typical curve is (the lower median of the curves' own), so that one curve that diverges
# leaves the picture and does not press the others together. Loaded by the scripts that draw losses, which set table (the file) and measure (the column).

array greatest[count]
typical = NaN
do for [i=1:count] {
    greatest[i] = NaN
    stats table using (is(i) && strlen(strcol(measure)) ? (greatest[i] = greatest[i] >= finite(column(measure)) ? greatest[i] : finite(column(measure)), 0) : 0) nooutput
}
known = 0
do for [i=1:count] { known = known + (greatest[i] == greatest[i]) }
do for [i=1:count] {
    below = 0
    do for [k=1:count] { below = below + (greatest[k] < greatest[i] || (greatest[k] == greatest[i] && k < i)) }
    if (greatest[i] == greatest[i] && below == (known - 1) / 2) { typical = greatest[i] }
}
shown_most = 3 * typical
