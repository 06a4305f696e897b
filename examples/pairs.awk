# Writes pairs for `train --data pairs:FILE`: a source, a tab and a target. No pair occurs twice.
#
#     awk -v task=reverse -f examples/pairs.awk > reverse.tsv
#
# task: reverse (8 letters in reverse order), sort (8 letters), add (123+456: 579) or date (3 May 1987: 1987-05-03). Without -v rows=N
# and -v seed=N there are 20,000, of seed 1.
function letters(count, text) {
    for (text = ""; count > 0; count--)
        text = text substr("abcdefghijklmnopqrstuvwxyz", int(26 * rand()) + 1, 1)
    return text
}
function reversed(text, to, i) {
    for (i = length(text); i > 0; i--)
        to = to substr(text, i, 1)
    return to
}
function sorted(text, to, i) {
    for (i = 1; i <= 26; i++)
        while (sub(sprintf("%c", 96 + i), "", text))
            to = to sprintf("%c", 96 + i)
    return to
}
BEGIN {
    srand(seed ? seed : 1)
    rows = rows ? rows : 20000
    split("January February March April May June July August September October November December", month, " ")
    for (n = 0; n < rows;) {
        if (task == "add") {
            a = int(1000 * rand()); b = int(1000 * rand())
            source = a "+" b; target = a + b
        } else if (task == "date") {
            y = 1900 + int(200 * rand()); m = int(12 * rand()) + 1; d = int(28 * rand()) + 1
            source = d " " month[m] " " y; target = sprintf("%d-%02d-%02d", y, m, d)
        } else {
            source = letters(8); target = task == "sort" ? sorted(source) : reversed(source)
        }
        if (!(source in seen)) {
            print source "\t" target
            n++
        }
        seen[source]
    }
}
