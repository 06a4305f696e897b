#!/bin/sh
# Prints how many lines of each file the tests ran, from the counters of a build with --coverage.
#   tests/coverage.sh BUILD      from the top of the tree. The lines that were not run: BUILD/coverage-rest.txt
# Kernels are compiled once for each instruction set: a line counts as run if one of the objects ran it. Lines that no test can reach are
# listed in tests/coverage.reasons and not counted; each entry there must match a line that was not run. The script fails below 99 % of
# the library's lines or 92 % of the programs'.
set -eu
build=$1
rest=$build/coverage-rest.txt
find "$build/obj" -name '*.gcno' ! -path '*/obj/tests/*' | while read -r notes; do
    gcov -t -o "$notes" "${notes%.gcno}.o" 2> /dev/null || : # nothing of it was run
done | awk -F: -v reasons=tests/coverage.reasons -v rest="$rest" '
    BEGIN {
        while ((getline line < reasons) > 0)
            if (line !~ /^#/ && split(line, piece, " :: ") == 3) { file_of[++known] = piece[1]; text_of[known] = piece[2] }
    }
    { count = $1; gsub(/ /, "", count); number = $2 + 0 }
    $2 ~ /^ *0$/ { if ($3 == "Source") { source = $4; sub(/^\.\//, "", source); mine = source ~ /^(autograd|nn|optim|examples|plots)\// }; next }
    !mine || count == "-" { next }
    {
        key = source ":" number
        if (!(key in lines)) { lines[key] = 1; order[++total] = key; text = $0; sub(/^[^:]*:[^:]*:/, "", text); code[key] = text; of[key] = source }
        if (count !~ /^[#=]/) run[key] = 1
    }
    END {
        for (i = 1; i <= total; i++) {
            key = order[i]; file = of[key]
            part = file ~ /^(autograd|nn|optim)\// ? "library" : "programs"
            excused = 0
            if (!(key in run))
                for (k = 1; k <= known; k++)
                    if (index(file, file_of[k]) == 1 && index(code[key], text_of[k])) { used[k] = 1; excused = 1 }
            if (excused) { left[part]++; continue }
            all[file]++; sum[part]++
            if (key in run) { ran[file]++; good[part]++ } else print key ":" code[key] > rest
        }
        for (file in all) printf "%-44s %5d of %5d  %6.2f %%\n", file, ran[file], all[file], 100 * ran[file] / all[file] | "sort -k5,5n -k1,1"
        close("sort -k5,5n -k1,1")
        for (part in sum) printf "%s: %d of %d lines, %.2f %%, without %d with a reason\n", part, good[part], sum[part], 100 * good[part] / sum[part], left[part]
        low = 100 * good["library"] < 99 * sum["library"] || 100 * good["programs"] < 92 * sum["programs"]
        for (k = 1; k <= known; k++) if (!used[k]) printf "tests/coverage.reasons: %s :: %s matches nothing\n", file_of[k], text_of[k]
        exit low
    }'
