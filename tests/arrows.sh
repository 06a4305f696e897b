#!/bin/sh
# Checks the dependencies between files. A file may include, and in the core call, only files below it in the order. The script fails on
# an upward include or call, on an include cycle, and on a folder that includes another folder's private headers.
#   tests/arrows.sh [FOLDER]     from the top of the tree; FOLDER holds what make has built, for the calls

# The order, lowest first. A file may use files on earlier lines, and files of its own folder. Entries on the same line may not use each
# other. A name without an ending means the header and its source. A name with an ending means that file alone: some public headers
# stand lower than their sources.
order='
    autograd/api autograd/base/names
    autograd/rng.h autograd/shape.h autograd/threads.h autograd/base/numbers
    autograd/tensor.h autograd/base/arena autograd/memory/plan autograd/base/shape_internal autograd/error.h
    autograd/tape.h autograd/elementwise.def autograd/gated.def
    autograd/base/api.c autograd/base/rng.c autograd/base/error.c
    autograd/kernels/
    autograd/base/shape.c autograd/base/threads.c
    autograd/leaf.h autograd/listing.h autograd/checkpoint.h autograd/op.h autograd/tape/strided
    autograd/grad.h autograd/parameters.h autograd/apply.h autograd/registry.h
    autograd/ops autograd/gradcheck.h autograd/export.h
    autograd/parameters/parameters.c autograd/tape/value
    autograd/tape/op.c
    autograd/update.h autograd/tape/program
    autograd/parameters/update.c
    autograd/parameters/muon autograd/memory/lifetimes
    autograd/base/text
    autograd/inspect/anomaly autograd/tape/elementwise
    autograd/tape/run
    autograd/tape/tape_internal
    autograd/tape/leaf.c
    autograd/tape/tape.c
    autograd/tape/tensor.c autograd/inspect/listing.c autograd/memory/checkpoint_internal autograd/reverse/backward.h
    autograd/tape/apply.c autograd/memory/checkpoint.c
    autograd/inspect/registry.c
    autograd/reverse/backward.c
    autograd/reverse/grad.c
    autograd/ops/ autograd/gradcheck/
    autograd/export/calls.def autograd/export/pieces autograd/export/protobuf
    autograd/export/writer
    autograd/export/loops autograd/export/onnx.h
    autograd/export/places
    autograd/export/request
    autograd/export/functions autograd/export/onnx_nodes
    autograd/export/
    nn/ optim/
    nn/layers/ nn/files/
    nn/models/
    nn/fit/
    examples/programs/data/dataset.h
    examples/programs/data/
    examples/programs/report/memory
    examples/programs/report/files
    examples/programs/report/html examples/programs/report/statistics
    examples/programs/report/terminal
    examples/programs/report/chart
    examples/programs/report/table.h examples/programs/report/verdict
    examples/programs/report/table_internal.h
    examples/programs/report/table.c examples/programs/report/table_terminal.c
    examples/programs/report/comparison.h
    examples/programs/report/comparison.c examples/programs/report/comparison_table.c
    examples/programs/report/
    examples/programs/run/signals
    plots/
    examples/programs/run/
    examples/programs/gradcheck/ examples/programs/playground/ examples/programs/study/
    examples/programs/train/
    examples/
'

set -eu
calls=$(mktemp)
trap 'rm "$calls"' EXIT

# Lists the functions and constants that each object uses of another: "autograd/reverse/grad.c -> autograd/tape/tape.c tg_tape_scratch".
[ $# = 0 ] || (cd "$1/obj" && find autograd -name "*.o" ! -path "autograd/ops/*" ! -path "autograd/kernels/*" ! -path "autograd/gradcheck/*" -exec nm -A {} +) | awk '
    { object = $1; sub(/\.o:.*/, ".c", object) }
    $(NF - 1) ~ /^[BDRT]$/ { home[$NF] = object }
    $(NF - 1) == "U" { uses[object " " $NF] }
    END {
        for (pair in uses) {
            split(pair, word, " ")
            if (word[2] in home)
                print word[1] " -> " home[word[2]] " " word[2]
        }
    }' > "$calls"

find autograd nn optim plots examples -name '*.[ch]' -o -name '*.inc' -o -name '*.def' |
    xargs awk -v order="$order" '
    function problem(text) { print "arrows: " text > "/dev/stderr"; failed = 1 }

    # The entry of the order that a file belongs to: itself, its name without ending, or the longest folder.
    function entry(file,    name) {
        if (file in line)
            return file
        name = file
        sub(/\.[a-z]*$/, "", name)
        while (!(name in line)) {
            if (!sub(/[^\/]+\/?$/, "", name))
                return ""
        }
        return name
    }

    # The node of the cycle search: inside a folder of the order, a header and its source are one node.
    function unit(file,    name) {
        name = entry(file)
        if (name !~ /\/$/)
            return name
        sub(/(_internal)?\.[ch]$/, "", file)
        return file
    }

    BEGIN {
        count = split(order, lines, "\n")
        for (i = 1; i <= count; i++) {
            words = split(lines[i], word, " ")
            for (w = 1; w <= words; w++)
                line[word[w]] = i
        }
    }

    FILENAME == ARGV[1] {
        calls[++called] = $0
        next
    }
    FNR == 1 { files[FILENAME] = 1 }
    /^TG_API_BEGIN/ || FILENAME ~ /\.def$/ || FILENAME ~ /^autograd\/base\/(names|numbers)\.h$/ { is_public[FILENAME] = 1 }
    /^#include [<"]/ {
        split($2, quoted, /[<">]/)
        if ($2 ~ /^</ && quoted[2] !~ /^(tapegrad|cblas)\.h$/)
            next
        includes[++included] = FILENAME " -> " quoted[2]
    }

    END {
        for (file in files) {
            filled[entry(file)] = 1
            if (entry(file) == "")
                problem(file ": has no place yet in the order, tests/arrows.sh")
        }
        for (name in line)
            if (!(name in filled))
                problem(name ": is in the order, tests/arrows.sh, and is no file")

        for (i = 1; i <= called; i++) {
            split(calls[i], word, " ")
            if (word[1] in files && word[3] in files && line[entry(word[1])] <= line[entry(word[3])])
                problem(word[1] ": calls " word[4] " of " word[3] ", which does not lie below it")
        }

        for (i = 1; i <= included; i++) {
            split(includes[i], ends, " -> ")
            from = ends[1]
            to = ends[2]
            if (to == "tapegrad.h" || to == "cblas.h") {
                if (to == "cblas.h" || from ~ /^(autograd|nn|optim)\//)
                    problem(from ": includes <" to ">")
                continue
            }
            if (!(to in files)) {
                problem(from ": includes \"" to "\", which is no file; names begin at the top of the tree")
                continue
            }
            if (from !~ /^autograd\// && to ~ /^(autograd|nn|optim)\// && !(to in is_public) && entry(from) != entry(to) &&
                !(from ~ /^nn\// && to ~ /^nn\//))
                problem(from ": includes " to ", which is not public")
            if (entry(from) != entry(to) && line[entry(from)] <= line[entry(to)])
                problem(from ": includes " to ", which does not lie below it")
            if (unit(from) != unit(to))
                arrow[unit(from), unit(to)] = 1
        }

        # An arrow whose target has no outgoing arrow, or whose source has no incoming one, is in no cycle. Remove such arrows
        # until none is left.
        do {
            split("", begins)
            split("", comes_back)
            for (pair in arrow) {
                split(pair, ends, SUBSEP)
                begins[ends[1]] = comes_back[ends[2]] = 1
            }
            gone = 0
            for (pair in arrow) {
                split(pair, ends, SUBSEP)
                if (!(ends[2] in begins) || !(ends[1] in comes_back)) {
                    delete arrow[pair]
                    gone++
                }
            }
        } while (gone)
        for (pair in arrow) {
            split(pair, ends, SUBSEP)
            problem("circle: " ends[1] " includes " ends[2])
        }
        exit failed
    }' "$calls"
